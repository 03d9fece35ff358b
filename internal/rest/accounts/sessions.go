package accounts

import (
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

type session struct {
	ID        int64     `json:"id"`
	User      string    `json:"user"`
	Address   string    `json:"address"`
	Browser   string    `json:"browser,omitempty"`
	Current   bool      `json:"current"` // the one that asks
	CreatedAt time.Time `json:"createdAt"`
	UsedAt    time.Time `json:"lastUsedAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func (e endpoints) listSessions(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	name, err := owner(ctx, r.URL.Query().Get("user"))
	if err != nil {
		return err
	}
	page, after, err := pageByID(r)
	if err != nil {
		return err
	}
	sessions, err := e.identity.Sessions(ctx, name, after, page.Limit+1)
	if err != nil {
		return err
	}
	key := func(s identity.Session) string { return strconv.FormatInt(s.ID, 10) }
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, sessions, key, func(s identity.Session) session {
		return session{s.ID, s.User, s.Address, s.Browser, s.ID == identity.From(ctx).Session, s.CreatedAt, s.UsedAt, s.ExpiresAt}
	}))
}

// endSessions ends the others of who asks, or all of a user that is named.
func (e endpoints) endSessions(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	name, err := owner(ctx, r.URL.Query().Get("user"))
	if err != nil {
		return err
	}
	_, err = e.identity.EndSessions(ctx, name, identity.From(ctx).Session)
	return noContent(w, err)
}

func (e endpoints) endSession(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, ok := pathID(r)
	s, err := e.identity.SessionByID(ctx, id)
	if !ok || fault.Is(err, fault.NotFound) {
		return identity.Missing(ctx, "There is no session %q.", r.PathValue("id"))
	}
	if err == nil {
		err = selfOr(ctx, s.User)
	}
	if err != nil {
		return err
	}
	return noContent(w, e.identity.EndSession(ctx, id))
}
