package account

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

type sessionsView struct {
	Sessions []sessionRow
	Pager    console.Pager
}

type sessionRow struct {
	identity.Session
	This bool // the one that the page is read with
}

func (a *account) listSessions(r *http.Request) (console.Response, error) {
	after, err := cursor(r)
	if err != nil {
		return nil, err
	}
	who := identity.From(r.Context())
	sessions, err := a.service.Sessions(r.Context(), who.Ref(), after, listed+1)
	if err != nil {
		return nil, err
	}
	var view sessionsView
	if len(sessions) > listed {
		sessions = sessions[:listed]
		view.Pager.Next = console.Path(sessionsPath+"?after=%d", sessions[listed-1].ID)
	}
	if after > 0 {
		view.Pager.First = sessionsPath
	}
	for _, s := range sessions {
		view.Sessions = append(view.Sessions, sessionRow{s, s.ID == who.Session})
	}
	return console.Page{Template: "account-sessions", Title: "Sessions", Section: section, Tabs: tabs(sessionsPath), Data: view}, nil
}

// own answers the reader's own session of the path; anybody else's is not
// there.
func (a *account) own(r *http.Request) (identity.Session, error) {
	id, err := pathID(r)
	if err != nil {
		return identity.Session{}, err
	}
	s, err := a.service.SessionByID(r.Context(), id)
	if err == nil && s.UserID != identity.From(r.Context()).UserID {
		err = fault.New(fault.NotFound, "There is no such session.")
	}
	return s, err
}

func (a *account) confirmEnd(r *http.Request) (console.Response, error) {
	s, err := a.own(r)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Title: "End the session from " + s.Address + "?", Text: "That browser is signed out within a second. Unsaved input there is lost.",
		Verb: "End session", Back: sessionsPath,
	}, nil
}

func (a *account) endSession(r *http.Request) (console.Response, error) {
	s, err := a.own(r)
	if err != nil {
		return nil, err
	}
	if err := a.service.EndSession(r.Context(), s.ID); err != nil {
		return nil, err
	}
	return console.Redirect{To: sessionsPath, Flash: "The session from " + s.Address + " was ended."}, nil
}
