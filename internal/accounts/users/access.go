package users

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/phrase"
)

type accessView struct {
	Sessions       []sessionRow
	Tokens         []tokenRow
	SessionsSaid   string
	TokensSaid     string
	EndAll         string
	SessionsHidden int // of the counted ones, those that the page does not list
	TokensHidden   int
}

type sessionRow struct {
	identity.Session
	End string
}

type tokenRow struct {
	identity.Token
	Revoke string
}

// access lists where a user is signed in, and the user's tokens.
func (u *users) access(r *http.Request, user identity.User) (console.Response, error) {
	sessions, err := u.Service.Sessions(r.Context(), user.Ref(), 0, counted)
	if err != nil {
		return nil, err
	}
	tokens, err := u.Service.Tokens(r.Context(), user.Ref(), 0, counted)
	if err != nil {
		return nil, err
	}
	view := accessView{
		SessionsSaid: phrase.Count(len(sessions), "session"), TokensSaid: phrase.Count(len(tokens), "token"),
		SessionsHidden: max(0, len(sessions)-listed), TokensHidden: max(0, len(tokens)-listed),
	}
	if len(sessions) > 0 {
		view.EndAll = pageOf(user.Ref(), "/access/end")
	}
	for _, s := range sessions[:min(len(sessions), listed)] {
		view.Sessions = append(view.Sessions, sessionRow{s, pageOf(user.Ref(), console.Path("/sessions/%d/end", s.ID))})
	}
	for _, t := range tokens[:min(len(tokens), listed)] {
		view.Tokens = append(view.Tokens, tokenRow{t, pageOf(user.Ref(), console.Path("/tokens/%d/revoke", t.ID))})
	}
	return console.Page{Template: "user-access", Title: "Sessions and tokens of " + user.Name, Up: upTo(user.Ref()), Data: view}, nil
}

func (u *users) askEndAll(r *http.Request, user identity.User) (console.Response, error) {
	text := user.Ref() + " is signed out everywhere within a second, and can sign in again. Tokens stay valid."
	if own(r, user) {
		text = "You are signed out within a second everywhere but in this browser. Tokens stay valid."
	}
	return console.Confirm{
		Up:    upTo(user.Ref()),
		Title: "End the sessions of " + user.Ref() + "?", Text: text, Losses: []string{"unsaved input in those browsers"},
		Verb: "End the sessions", Keep: "Keep the sessions", Back: pageOf(user.Ref(), "/access"),
	}, nil
}

// endAll ends all sessions of the user but the one that asks.
func (u *users) endAll(r *http.Request, user identity.User) (console.Response, error) {
	ended, err := u.Service.EndSessions(r.Context(), user.Ref(), identity.From(r.Context()).Session)
	if err != nil {
		return nil, err
	}
	said := phrase.Count(ended, "session") + " of " + user.Ref() + " ended."
	return console.Redirect{To: pageOf(user.Ref(), "/access"), Flash: said}, nil
}

func (u *users) endOne(r *http.Request, user identity.User) (console.Response, error) {
	id, err := console.PathID(r)
	if err != nil {
		return nil, err
	}
	s, err := u.Service.SessionByID(r.Context(), id)
	if err == nil && s.UserID != user.ID {
		err = fault.New(fault.NotFound, "There is no such session.")
	}
	if err != nil {
		return nil, err
	}
	err = u.Service.EndSession(r.Context(), id)
	return console.Redirect{To: pageOf(user.Ref(), "/access"), Flash: "The session from " + s.Address + " was ended."}, err
}

// tokenOf is the token of the path, which is the user's.
func (u *users) tokenOf(r *http.Request, user identity.User) (identity.Token, error) {
	id, err := console.PathID(r)
	if err != nil {
		return identity.Token{}, err
	}
	t, err := u.Service.TokenByID(r.Context(), id)
	if err == nil && t.UserID != user.ID {
		err = fault.New(fault.NotFound, "There is no such token.")
	}
	return t, err
}

func (u *users) askRevokeToken(r *http.Request, user identity.User) (console.Response, error) {
	t, err := u.tokenOf(r, user)
	if err != nil {
		return nil, err
	}
	return console.Confirm{
		Up:    upTo(user.Ref()),
		Title: "Revoke the token “" + t.Name + "” of " + user.Ref() + "?", Text: "Clients that use it are refused within a second. " +
			"You cannot undo this.",
		Verb: "Revoke the token", Keep: "Keep the token", Back: pageOf(user.Ref(), "/access"),
	}, nil
}

func (u *users) revokeToken(r *http.Request, user identity.User) (console.Response, error) {
	t, err := u.tokenOf(r, user)
	if err != nil {
		return nil, err
	}
	err = u.Service.RevokeToken(r.Context(), t.ID)
	return console.Redirect{To: pageOf(user.Ref(), "/access"), Flash: "The token “" + t.Name + "” was revoked."}, err
}
