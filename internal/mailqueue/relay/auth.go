package relay

import (
	"context"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// maxFailures is how often one connection may fail to sign in. Identity slows
// down whoever comes back.
const maxFailures = 3

var (
	errUnknown   = refusal(535, 5, 7, 8, "The name or the token is wrong, or the token has not the scope mail.")
	errSlowDown  = refusal(454, 4, 7, 0, "There were too many attempts to sign in; try again later.")
	errNoAnswer  = refusal(454, 4, 7, 0, "It cannot be found out now who that is; try again later.")
	errGoodbye   = refusal(421, 4, 7, 0, "There were too many attempts to sign in.")
	errUnordered = refusal(501, 5, 5, 2, "The answer is not one of this mechanism.")
)

// Auth begins one exchange of AUTH.
func (s *session) Auth(mechanism string) (sasl.Server, error) {
	switch {
	case !s.wire.needsAuth:
		return nil, smtp.ErrAuthUnsupported
	case mechanism == sasl.Plain:
		return sasl.NewPlainServer(func(identity, user, token string) error {
			if identity != "" && identity != user {
				return s.failed(errUnknown)
			}
			return s.signIn(user, token)
		}), nil
	case mechanism == sasl.Login:
		return &login{signIn: s.signIn}, nil
	}
	return nil, smtp.ErrAuthUnknownMechanism
}

// signIn is for tokens of scope mail, and of scope all. A password is none.
func (s *session) signIn(user, token string) error {
	if s.server.o.Identity == nil || user == "" || token == "" {
		return s.failed(errUnknown)
	}
	p, err := s.server.o.Identity.Basic(context.Background(), user, token, s.from)
	switch {
	case fault.Is(err, fault.RateLimited):
		return s.failed(errSlowDown)
	case fault.Is(err, fault.Unauthenticated), fault.Is(err, fault.Forbidden):
		return s.failed(errUnknown)
	case err != nil:
		return errNoAnswer
	case p.Token == 0 || p.Scope != identity.Mail && p.Scope != identity.All:
		return s.failed(errUnknown)
	}
	s.user = p.Name
	return nil
}

// failed counts a failure, and ends the connection with the last one.
func (s *session) failed(why *smtp.SMTPError) error {
	if s.failures++; s.failures >= maxFailures {
		return errGoodbye
	}
	return why
}

// login is the server's side of LOGIN, which many mail clients try first: two
// questions, after draft-murchison-sasl-login.
type login struct {
	signIn func(user, password string) error
	user   *string
	done   bool
}

func (l *login) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case l.done:
		return nil, false, errUnordered
	case response == nil:
		return []byte("Username:"), false, nil
	case l.user == nil:
		user := string(response)
		l.user = &user
		return []byte("Password:"), false, nil
	}
	l.done = true
	return nil, true, l.signIn(*l.user, string(response))
}
