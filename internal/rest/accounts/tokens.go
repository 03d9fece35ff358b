package accounts

import (
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

type token struct {
	ID        int64          `json:"id"`
	User      string         `json:"user"`
	Name      string         `json:"name"`
	Scope     identity.Scope `json:"scope"`
	CreatedAt time.Time      `json:"createdAt"`
	ExpiresAt time.Time      `json:"expiresAt,omitzero"`
	UsedAt    time.Time      `json:"lastUsedAt,omitzero"`
	Rests     time.Time      `json:"restsSince,omitzero"`
	Paused    time.Time      `json:"pausedSince,omitzero"`
}

func tokenOf(t identity.Token) token {
	return token{t.ID, t.User, t.Name, t.Scope, t.CreatedAt, t.ExpiresAt, t.UsedAt, t.RestsSince, t.PausedSince}
}

func (e endpoints) listTokens(w http.ResponseWriter, r *http.Request) error {
	name, err := owner(r.Context(), r.URL.Query().Get("user"))
	if err != nil {
		return err
	}
	page, after, err := pageByID(r)
	if err != nil {
		return err
	}
	tokens, err := e.identity.Tokens(r.Context(), name, after, page.Limit+1)
	if err != nil {
		return err
	}
	key := func(t identity.Token) string { return strconv.FormatInt(t.ID, 10) }
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, tokens, key, tokenOf))
}

func (e endpoints) createToken(w http.ResponseWriter, r *http.Request) error {
	var in token
	var wrong fault.Fields
	if err := wrong.Join(rest.ReadJSON(r, &in)); err != nil {
		return err
	}
	in.Scope = rest.Spelled(in.Scope, identity.Scopes()...)
	name, err := owner(r.Context(), in.User)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fault.Every(wrong.Err(), identity.JudgeToken(identity.Token{Name: in.Name, Scope: in.Scope, ExpiresAt: in.ExpiresAt}))
	}
	plain, t, err := e.identity.CreateToken(r.Context(), name, in.Name, in.Scope, in.ExpiresAt)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusCreated, struct {
		token
		Plain string `json:"token"` // the only time that it is shown
	}{tokenOf(t), plain.Reveal()})
}

func (e endpoints) revokeToken(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, ok := pathID(r)
	t, err := e.identity.TokenByID(ctx, id)
	if !ok || fault.Is(err, fault.NotFound) {
		return identity.Missing(ctx, "There is no token %q.", r.PathValue("id"))
	}
	if err == nil {
		err = selfOr(ctx, t.User)
	}
	if err != nil {
		return err
	}
	return noContent(w, e.identity.RevokeToken(ctx, id))
}
