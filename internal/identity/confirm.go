package identity

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// confirmedFor is how long a session may do, after the password or a second
// factor, what could hand the account to another: long enough for one piece of
// work, and over before a browser that was left is found.
const confirmedFor = 10 * time.Minute

// ErrUnconfirmed is the cause of the refusal of a session that may do this once
// the user has shown the password or a second factor again; see Confirm.
var ErrUnconfirmed = errors.New("the session is not confirmed")

// Proof is what a user shows besides the password, or in place of it.
type Proof struct {
	Password secret.Value
	Code     secret.Value // of an authenticator app, or a recovery code
	Passkey  []byte       // as JSON, what the browser answered to a Ceremony
	Ceremony string       // the Ceremony's name, where it is not that of the sign-in
}

// RequireConfirmed is nil where who asks has shown the password or a second
// factor with the request, or a short while ago. Forbidden: a token asks, or, with
// ErrUnconfirmed as the cause, a session that has to be confirmed first.
func (s *Service) RequireConfirmed(ctx context.Context) error {
	p := From(ctx)
	switch {
	case p == nil || p.Session == 0 && p.Token == 0:
		return nil
	case s.now().Sub(p.ConfirmedAt) < confirmedFor:
		return nil
	case p.Token != 0:
		return fault.New(fault.Forbidden, "A token alone is not enough for this. Send the user name and password instead, or, where the user "+
			"has a second factor, a code of it in the header Outrigger-Code as well (--code on the command line).")
	}
	if p.ConfirmedAt.IsZero() && p.Source != Local {
		return fault.Wrap(ErrUnconfirmed, fault.Forbidden, "Confirm that it is you first, in the console: it is not known when you "+
			"signed in (your provider sent no claim auth_time). If it cannot send it, ask an administrator for a one-time code with which "+
			"you set up a second factor.")
	}
	return fault.Wrap(ErrUnconfirmed, fault.Forbidden, "Confirm that it is you first: enter your password or a second factor again, in the "+
		"console.")
}

// own returns who changes something of their own that could hand their account to
// another.
func (s *Service) own(ctx context.Context) (*Principal, error) {
	p := From(ctx)
	if p == nil {
		return nil, ErrUnauthenticated()
	}
	return p, s.RequireConfirmed(ctx)
}

// Confirm confirms the session of who asks: with the password, here or at the
// platform, with a code, or with a passkey. It counts as a sign-in. Unauthenticated:
// what was shown is wrong.
func (s *Service) Confirm(ctx context.Context, proof Proof, addr string) error {
	p := From(ctx)
	if p == nil || p.Session == 0 {
		return ErrUnauthenticated()
	}
	accepted := func(context.Context, *db.Tx) error { return nil }
	d := attemptOf(nameKey(p.Name), addr)
	var err error
	if proof.Password.IsZero() {
		accepted, err = s.checkOwnFactor(ctx, p, d, proof)
	} else {
		err = s.checkOwnPassword(ctx, p, proof.Password.Reveal(), addr)
	}
	if err == nil {
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			if err := accepted(ctx, tx); err != nil {
				return err
			}
			if err := tx.Do(ctx, "confirming a session",
				`UPDATE identity_sessions SET confirmed_at = $1 WHERE id = $2`, db.Micros(s.now()), p.Session); err != nil {
				return err
			}
			s.changed(tx)
			return nil
		})
	}
	if errors.Is(err, errWrongFactor) {
		return s.wrongFactor(ctx, d)
	}
	return err
}

type codeKey struct{}

// WithCode notes a code of a second factor that came with a request, for Basic,
// Bearer and Session.
func WithCode(ctx context.Context, code secret.Value) context.Context {
	return context.WithValue(ctx, codeKey{}, code)
}

// withCode returns p as confirmed where a code of a second factor came with the
// request. It counts as a sign-in. Forbidden: the code is wrong.
func (s *Service) withCode(ctx context.Context, p *Principal) (*Principal, error) {
	code, ok := ctx.Value(codeKey{}).(secret.Value)
	if !ok {
		return p, nil
	}
	d := attemptOf(nameKey(p.Name), OriginOf(ctx).Address)
	accepted, err := s.checkOwnFactor(ctx, p, d, Proof{Code: code})
	if err == nil {
		err = s.db.Write(ctx, func(tx *db.Tx) error { return accepted(ctx, tx) })
	}
	if errors.Is(err, errWrongFactor) {
		if err = s.wrongFactor(ctx, d); fault.Is(err, fault.Unauthenticated) {
			err = fault.Wrap(err, fault.Forbidden, "The code in Outrigger-Code is not right, or was used already. Try the next one.")
		}
	}
	if err != nil {
		return nil, err
	}
	confirmed := *p
	confirmed.ConfirmedAt = s.now()
	return &confirmed, nil
}

func (s *Service) checkOwnPassword(ctx context.Context, p *Principal, password, addr string) error {
	u, err := s.checkPassword(ctx, p.Name, password, addr)
	if err == nil && u.ID != p.UserID { // a local user has the name of this one of a platform
		err = ErrUnauthenticated()
	}
	return err
}

func (s *Service) checkOwnFactor(ctx context.Context, p *Principal, d attempt, proof Proof) (accept, error) {
	if err := s.mayTry(ctx, d); err != nil {
		return nil, err
	}
	u, err := s.User(ctx, p.Ref())
	if err != nil {
		return nil, err
	}
	var st step
	if len(proof.Passkey) > 0 {
		if st, err = s.tryStep(ctx, proof.Ceremony, forConfirm); err != nil {
			return nil, err
		}
		if st.user != p.UserID || st.session != p.Session {
			return nil, errStepOver()
		}
	}
	accepted, err := s.checkFactor(ctx, u, d, st, proof)
	if err != nil || st.hash == nil {
		return accepted, err
	}
	// A passkey that does not count would else sign the same challenge again.
	return func(ctx context.Context, tx *db.Tx) error {
		if err := accepted(ctx, tx); err != nil {
			return err
		}
		return endStep(ctx, tx, st)
	}, nil
}
