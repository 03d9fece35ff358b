package identity

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// confirmCodeLife is how long a code waits that lets a user set up the first factor:
// enough to start the server again and to pass the code on.
const confirmCodeLife = 10 * time.Minute

// MakeConfirmCode makes a code with which a user who has no password here sets up the
// first second factor, once, in place of showing who is there; one from before is no
// longer right. Conflict: the user can confirm by other means, or is disabled.
func (s *Service) MakeConfirmCode(ctx context.Context, name string) (code secret.Value, expires time.Time, err error) {
	err = s.changeUser(ctx, name, func(tx *db.Tx, u User) error {
		switch {
		case u.Source == Local:
			return fault.New(fault.Conflict, "%s has a password here and confirms with it. Codes are for users of an identity provider or a "+
				"platform, such as oidc:ann.", u.Ref())
		case u.Disabled():
			return fault.New(fault.Conflict, "%s is disabled. Enable the user first.", u.Ref())
		case u.Factors.On():
			return fault.New(fault.Conflict, "%s has a second factor and confirms with it. If it is lost, remove it first: "+
				"outrigger users second-factor remove %s", u.Ref(), u.Ref())
		}
		plain := newTypedCode()
		now := s.now()
		expires = now.Add(confirmCodeLife)
		if err := tx.Do(ctx, "deleting codes", `DELETE FROM identity_confirm_codes WHERE expires_at <= $1`, db.Micros(now)); err != nil {
			return err
		}
		if err := tx.Do(ctx, "storing a code", `INSERT INTO identity_confirm_codes (user_id, hash, expires_at) VALUES ($1, $2, $3)
			ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at`,
			u.ID, secret.Fingerprint(plain), db.Micros(expires)); err != nil {
			return err
		}
		code = typed(plain)
		return record(ctx, tx, "make confirmation code", "user", u.Ref(), nil, map[string]string{"expires": expires.UTC().Format(time.RFC3339)})
	})
	return code, expires, err
}

// UseConfirmCode lets the session of who asks set up the first second factor, and
// nothing else, with a code of MakeConfirmCode. It counts as a sign-in. Unauthenticated:
// the code is wrong, was used or is over. Conflict: there is a second factor already.
func (s *Service) UseConfirmCode(ctx context.Context, code secret.Value, addr string) error {
	p := From(ctx)
	if p == nil || p.Session == 0 {
		return ErrUnauthenticated()
	}
	d := attemptOf(nameKey(p.Name), addr)
	if err := s.mayTry(ctx, d); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		factors, err := factorsOf(ctx, tx, p.UserID)
		if err != nil {
			return err
		}
		if factors.On() {
			return fault.New(fault.Conflict, "You have a second factor: confirm with that. A code of an administrator is for the first one.")
		}
		if err := tx.ChangeOne(ctx, "using a code", errWrongFactor,
			`DELETE FROM identity_confirm_codes WHERE user_id = $1 AND hash = $2 AND expires_at > $3`,
			p.UserID, secret.Fingerprint(plainCode(code)), db.Micros(s.now())); err != nil {
			return err
		}
		if err := tx.Do(ctx, "letting a session set up a second factor",
			`UPDATE identity_sessions SET enrols_until = $1 WHERE id = $2`, db.Micros(s.now().Add(confirmedFor)),
			p.Session); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "use confirmation code", "user", p.Ref(), nil, nil)
	})
	if errors.Is(err, errWrongFactor) {
		err = s.wrongFactor(ctx, d)
	}
	if fault.Is(err, fault.Unauthenticated) {
		err = fault.Wrap(err, fault.Unauthenticated, "The code is wrong, was used already, or is older than 10 minutes. Ask for another one.")
	}
	return err
}

// enroller is who sets up a second factor.
type enroller struct {
	*Principal
	first bool // only the first one: a code of an administrator allows no more
}

// enrolling returns who asks to set up a second factor; errors as of own.
func (s *Service) enrolling(ctx context.Context) (enroller, error) {
	p, err := s.own(ctx)
	if errors.Is(err, ErrUnconfirmed) && s.now().Before(p.EnrolsUntil) {
		return enroller{p, true}, nil
	}
	return enroller{p, false}, err
}

// user returns who the enroller is now. Forbidden, as of RequireConfirmed: there is a
// second factor already, and only the first may be set up.
func (e enroller) user(ctx context.Context, tx *db.Tx, s *Service) (User, error) {
	u, err := userByName(ctx, tx, e.Ref())
	if err == nil && e.first && u.Factors.On() {
		err = s.RequireConfirmed(ctx)
	}
	return u, err
}

// firstEnrolled ends what let sessions of a user set up the first factor.
func firstEnrolled(ctx context.Context, tx *db.Tx, user int64) error {
	if err := tx.Do(ctx, "ending the setting up of a second factor",
		`UPDATE identity_sessions SET enrols_until = 0 WHERE user_id = $1 AND enrols_until <> 0`, user); err != nil {
		return err
	}
	return endConfirmCodes(ctx, tx, user)
}

// endConfirmCodes has a user's code be over.
func endConfirmCodes(ctx context.Context, tx *db.Tx, user int64) error {
	return tx.Do(ctx, "deleting codes", `DELETE FROM identity_confirm_codes WHERE user_id = $1`, user)
}
