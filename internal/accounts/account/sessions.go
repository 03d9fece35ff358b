package account

import (
	"fmt"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

type sessionsView struct {
	Sessions  []identity.Session
	Pager     console.Pager
	EndOthers string // the question whether to end the others; "": there are none
}

func (a *account) listSessions(r *http.Request) (console.Response, error) {
	after, err := cursor(r)
	if err != nil {
		return nil, err
	}
	sessions, err := a.service.Sessions(r.Context(), identity.From(r.Context()).Ref(), after, listed+1)
	if err != nil {
		return nil, err
	}
	var view sessionsView
	view.Sessions, view.Pager = console.Paged(sessions, listed, sessionsPath, after == 0, func(s identity.Session) int64 { return s.ID })
	if len(view.Sessions) > 1 || after > 0 {
		view.EndOthers = endOthersPath
	}
	return console.Page{Template: "account-sessions", Title: "Sessions", Section: section, Tabs: tabs(sessionsPath), Data: view}, nil
}

// own answers the reader's own session of the path; that of another user is not
// there.
func (a *account) own(r *http.Request) (identity.Session, error) {
	id, err := console.PathID(r)
	if err != nil {
		return identity.Session{}, err
	}
	s, err := a.service.SessionByID(r.Context(), id)
	if err == nil && s.UserID != identity.From(r.Context()).UserID {
		err = fault.New(fault.NotFound, "There is no such session.")
	}
	return s, err
}

func (a *account) confirmEnd(_ *http.Request, s identity.Session) (console.Response, error) {
	return console.Confirm{
		Section: section,
		Title:   "End the session " + place(s) + "?", Text: "That browser is signed out within a second. Unsaved input there is lost.",
		Verb: "End the session", Keep: "Keep the session", Back: sessionsPath,
	}, nil
}

func (a *account) endSession(r *http.Request, s identity.Session) (console.Response, error) {
	err := a.service.EndSession(r.Context(), s.ID)
	return console.Redirect{To: sessionsPath, Flash: "The session " + place(s) + " was ended."}, err
}

// place is where a session began, as in “of Firefox on Linux from 192.0.2.1”.
func place(s identity.Session) string {
	if s.Browser == "" {
		return "from " + s.Address
	}
	return "of " + s.Browser + " from " + s.Address
}

func (a *account) confirmEndOthers(*http.Request) (console.Response, error) {
	return console.Confirm{
		Section: section,
		Title:   "End all other sessions?", Text: "You are signed out within a second everywhere but in this browser. " +
			"Unsaved input there is lost. Tokens stay valid.",
		Verb: "End the sessions", Keep: "Keep the sessions", Back: sessionsPath,
	}, nil
}

func (a *account) endOthers(r *http.Request) (console.Response, error) {
	who := identity.From(r.Context())
	ended, err := a.service.EndSessions(r.Context(), who.Ref(), who.Session)
	return console.Redirect{To: sessionsPath, Flash: endedText(ended)}, err
}

func endedText(n int) string {
	switch n {
	case 0:
		return "You were signed in nowhere else."
	case 1:
		return "1 other session was ended."
	}
	return fmt.Sprintf("%d other sessions were ended.", n)
}
