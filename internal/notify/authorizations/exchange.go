package authorizations

import (
	"cmp"
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/secret"
)

// maxID is several times the longest id of an account: a UUID, or a UUID with a
// number before it.
const maxID = 200

// Location is the platform's page on which a user authorises Outrigger.
func (s *Service) Location(c *notify.Connection, state, challenge, callback string) string {
	return s.Platform.AuthorizeURL(c, state, challenge, callback)
}

// Exchange has the platform give the account that a code stands for, and its
// tokens. Errors: fault.Conflict where the platform refuses the code, else
// fault.Unavailable, both in its words.
func (s *Service) Exchange(
	ctx context.Context, c *notify.Connection, code, verifier secret.Value, callback string,
) (notify.GrantedAccount, error) {
	t, err := s.Platform.Exchange(ctx, c, code.Reveal(), verifier.Reveal(), callback)
	if client.CodeRefused(err) {
		return notify.GrantedAccount{}, fault.Wrap(err, fault.Conflict, "%s Nothing has changed. Start again.", fault.As(err).Message)
	}
	if err != nil {
		return notify.GrantedAccount{}, err
	}
	a, err := s.Platform.User(ctx, c, t.Access)
	if err != nil {
		return notify.GrantedAccount{}, err
	}
	id := cmp.Or(a.UUID, a.ID)
	if id == "" || len(id) > maxID {
		return notify.GrantedAccount{}, fault.New(fault.Unavailable, "The platform of %s does not say which account authorised Outrigger.",
			c.Name)
	}
	return notify.GrantedAccount{
		ID: id, Name: notify.Ellipsis(cmp.Or(a.DisplayName, a.Nickname, id), notify.MaxName),
		Tokens: t,
	}, nil
}
