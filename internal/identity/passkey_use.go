package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// BeginPasskey asks for a passkey as the second factor of a sign-in that waits.
func (s *Service) BeginPasskey(ctx context.Context, pending string) (c Ceremony, err error) {
	st, u, err := s.waiting(ctx, pending)
	if err != nil {
		return c, err
	}
	options, challenge, err := s.askFor(ctx, u)
	if err != nil {
		return c, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error { return challengeStep(ctx, tx, st, challenge) })
	return Ceremony{pending, options}, err
}

// BeginConfirm asks for a passkey with which the caller may Confirm.
func (s *Service) BeginConfirm(ctx context.Context) (c Ceremony, err error) {
	p := From(ctx)
	if p == nil {
		return c, ErrUnauthenticated()
	}
	u, err := s.User(ctx, p.Ref())
	if err != nil {
		return c, err
	}
	options, challenge, err := s.askFor(ctx, u)
	if err != nil {
		return c, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c.Name, err = s.beginStep(ctx, tx, step{purpose: forConfirm, user: u.ID, session: p.Session, challenge: challenge}, OriginOf(ctx).Address)
		return err
	})
	c.Options = options
	return c, err
}

// askFor asks for one of a user's passkeys.
func (s *Service) askFor(ctx context.Context, u User) (options, challenge []byte, err error) {
	if err := s.needPasskeys(); err != nil {
		return nil, nil, err
	}
	k, err := s.keeper(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	asked, session, err := s.passkeys.web.BeginLogin(k, webauthn.WithUserVerification(protocol.VerificationPreferred))
	if err != nil {
		return nil, nil, fmt.Errorf("asking for a passkey: %w", err)
	}
	return bothJSON(asked.Response, session)
}

// BeginPasskeySignIn asks for any passkey of this server; PasskeySignIn ends it.
func (s *Service) BeginPasskeySignIn(ctx context.Context, addr string) (c Ceremony, err error) {
	if err := s.needPasskeys(); err != nil {
		return c, err
	}
	// The passkey stands for the password too: the device has to know its owner.
	asked, session, err := s.passkeys.web.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return c, fmt.Errorf("asking for a passkey: %w", err)
	}
	return s.begin(ctx, step{purpose: forPasskey}, asked.Response, session, attemptOf("", addr).address)
}

// PasskeySignIn opens a session for a user who shows a passkey and nothing else.
// Unauthenticated: no user here has it, or it does not fit what was asked. Conflict: the
// user is one of a provider or a platform.
func (s *Service) PasskeySignIn(
	ctx context.Context, ceremony string, answer []byte, addr string,
) (session string, p *Principal, err error) {
	d := attemptOf("", addr)
	u, err := s.keeperOf(ctx, answer)
	if err == nil && u.ID != 0 {
		d = attemptOf(nameKey(u.Name), addr)
	}
	if err == nil {
		err = s.mayTry(ctx, d)
	}
	if err != nil {
		return "", nil, err
	}
	st, err := s.tryStep(ctx, ceremony, forPasskey)
	if err != nil {
		return "", nil, err
	}
	accepted, err := s.checkPasskey(ctx, u, st, answer)
	if err == nil && u.Source != Local {
		err = fault.New(fault.Conflict, "Your account is one of a provider or a platform, which knows whether you may still sign in. "+
			"Sign in there; this passkey then confirms that it is you.")
	}
	if err == nil {
		session, p, err = s.enter(ctx, u, st, accepted, addr)
	}
	if errors.Is(err, errWrongFactor) {
		err = s.wrongFactor(ctx, d)
	}
	if err != nil {
		return "", nil, err
	}
	return session, p, s.countSuccess(ctx, d, u)
}

// keeperOf finds whose passkey an answer is of: the zero User where no user here has it.
func (s *Service) keeperOf(ctx context.Context, answer []byte) (u User, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return u, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := passkeysWhere(ctx, tx, `credential_id = $1`, parsed.RawID)
		if err != nil || len(found) == 0 {
			return err
		}
		u, err = userByID(ctx, tx, found[0].UserID)
		return err
	})
	return u, err
}

// checkPasskey reports whether one of the user's passkeys signed what the step
// asks.
func (s *Service) checkPasskey(ctx context.Context, u User, st step, answer []byte) (accept, error) {
	if err := s.needPasskeys(); err != nil {
		return nil, err
	}
	k, err := s.keeper(ctx, u)
	if err != nil {
		return nil, err
	}
	used, err := s.verify(k, st, answer)
	if err != nil {
		s.log.InfoContext(ctx, "a passkey was refused", "user", u.Name, "error", err)
		return nil, errWrongFactor
	}
	return func(ctx context.Context, tx *db.Tx) error { return acceptPasskey(ctx, tx, used, s.now()) }, nil
}

func (s *Service) verify(k keeper, st step, answer []byte) (used Passkey, err error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(st.challenge, &session); err != nil {
		return used, fmt.Errorf("no passkey was asked for: %w", err)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return used, err
	}
	var c *webauthn.Credential
	if st.purpose == forPasskey {
		c, err = s.passkeys.web.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return k, nil }, session, parsed)
	} else {
		c, err = s.passkeys.web.ValidateLogin(k, session, parsed)
	}
	if err != nil {
		return used, err
	}
	if c.Authenticator.CloneWarning {
		return used, errors.New("its counter went back: there may be a copy of it")
	}
	for _, p := range k.passkeys {
		if string(p.credential.ID) == string(c.ID) {
			p.credential = *c
			return p, nil
		}
	}
	return used, errors.New("it is not this user's")
}
