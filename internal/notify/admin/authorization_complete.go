package admin

import (
	"context"
	"net/url"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

func (s *Authorizations) callback(c *notify.Connection) string {
	return strings.TrimRight(s.BaseURL, "/") + notify.CallbackPath(c.Name)
}

// Callback is what a platform sends a user back with.
type Callback struct {
	State, Code secret.Value
	Error       string // such as access_denied
	Description string // in words, perhaps
}

// maxWords is as much of a platform's words as users read.
const maxWords = 300

// Complete keeps the account that the user authorised, and returns the page that
// the user came from as soon as that is known. Errors: fault.Invalid for a state
// that the user did not ask with, that was used or is over; fault.Conflict where
// the user or the platform refused; fault.Unavailable where the platform does not
// answer. After each of them nothing is kept.
func (s *Authorizations) Complete(ctx context.Context, connection string, back Callback) (page string, a notify.Authorization, err error) {
	who := identity.From(ctx)
	if who == nil {
		return "", a, identity.ErrUnauthenticated()
	}
	r, err := s.Store.TakeRequest(ctx, connection, back.State, who.UserID, who.Session, s.Clock())
	if err != nil {
		return "", a, err
	}
	c, err := s.cloud(ctx, connection)
	switch {
	case err != nil:
		return r.Back, a, err
	case back.Error == "access_denied":
		return r.Back, a, fault.New(fault.Conflict, "You did not authorise Outrigger on %s. Nothing has changed.", c.BaseURL)
	case back.Error != "":
		return r.Back, a, fault.New(fault.Conflict, "The platform of %s refuses: %s", c.Name,
			shorten(strings.TrimSpace(back.Error+" "+back.Description), maxWords))
	case back.Code.IsZero():
		return r.Back, a, fault.New(fault.Conflict, "The platform of %s sent no code. Start again.", c.Name)
	}
	got, err := s.Exchange(ctx, c, back.Code, r.Verifier, s.callback(c))
	if err != nil {
		return r.Back, a, err
	}
	a, err = s.Store.SaveAuthorization(ctx, actor(ctx), notify.Authorization{
		Connection: c.Name, AccountID: got.ID, AccountName: got.Name, BaseURL: c.BaseURL, UserID: who.UserID,
		RefreshedAt: s.Clock(), DueAt: got.Tokens.RefreshDue(s.Clock()),
	}, got.Tokens)
	return r.Back, a, err
}

func shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// ReadCallback reads what the query of a callback says (RFC 6749, 4.1.2).
func ReadCallback(query url.Values) Callback {
	return Callback{
		State: secret.New(query.Get("state")), Code: secret.New(query.Get("code")),
		Error: query.Get("error"), Description: query.Get("error_description"),
	}
}
