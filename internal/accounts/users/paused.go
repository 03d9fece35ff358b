package users

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/identity"
)

// pauses are what the list says of users who do not sign in.
type pauses struct {
	Soon         []soonRow
	Tokens       []pausedToken
	TokensHidden int
}

// soonRow is a user who will be paused.
type soonRow struct {
	identity.User
	Page string
}

// pausedToken is a token that works on while its owner is paused.
type pausedToken struct {
	identity.Token
	Owner, Revoke string
}

func (u *users) pauses(r *http.Request) (p pauses, err error) {
	soon, err := u.Service.PausingUsers(r.Context(), listed)
	if err != nil {
		return p, err
	}
	for _, user := range soon {
		p.Soon = append(p.Soon, soonRow{user, pageOf(user.Ref(), "")})
	}
	tokens, err := u.Service.PausedTokens(r.Context())
	p.TokensHidden = max(0, len(tokens)-counted)
	for _, t := range tokens[:min(len(tokens), counted)] {
		p.Tokens = append(p.Tokens, pausedToken{t, pageOf(t.User, ""), pageOf(t.User, console.Path("/tokens/%d/revoke", t.ID))})
	}
	return p, err
}
