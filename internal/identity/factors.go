package identity

import (
	"context"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// Factors are what a user has beside the password, here or at a platform or provider.
// On the pages of those, signing in does not ask for them.
type Factors struct {
	App      bool `json:"authenticatorApp" doc:"Whether an authenticator app is set up."`
	Passkeys int  `json:"passkeys" min:"0" doc:"How many."`
	Recovery int  `json:"recoveryCodes" min:"0" doc:"How many are unused."` // none without a factor
}

// On reports whether the password alone is not enough.
func (f Factors) On() bool { return f.App || f.Passkeys > 0 }

// selectFactors are the columns of a user's factors, within a query over
// identity_users.
const selectFactors = `(SELECT COUNT(*) FROM identity_totp f WHERE f.user_id = identity_users.id AND f.confirmed_at > 0),
	(SELECT COUNT(*) FROM identity_passkeys f WHERE f.user_id = identity_users.id),
	(SELECT COUNT(*) FROM identity_recovery_codes f WHERE f.user_id = identity_users.id)`

func factorsOf(ctx context.Context, tx *db.Tx, user int64) (f Factors, err error) {
	err = tx.Get(ctx, "reading second factors", []any{&f.App, &f.Passkeys, &f.Recovery},
		`SELECT `+selectFactors+` FROM identity_users WHERE id = $1`, user)
	return f, err
}

// RemoveFactors removes everything that a user has beside the password, for one
// who lost it. The user's sessions end, but for the one that asks. Conflict: there
// is nothing to remove.
func (s *Service) RemoveFactors(ctx context.Context, name string) error {
	if err := s.RequireConfirmed(ctx); err != nil {
		return err
	}
	return s.changeUser(ctx, name, func(tx *db.Tx, u User) error {
		if !u.Factors.On() {
			return fault.New(fault.Conflict, "%s has no second factor.", u.Ref())
		}
		for _, table := range []string{"identity_totp", "identity_passkeys", "identity_recovery_codes"} {
			if err := tx.Do(ctx, "removing second factors", `DELETE FROM `+table+` WHERE user_id = $1`, u.ID); err != nil {
				return err
			}
		}
		if err := s.endSignIns(ctx, tx, u.ID, mySession(ctx)); err != nil {
			return err
		}
		return record(ctx, tx, "remove second factor", "user", u.Ref(), u.Factors.members(), nil)
	})
}

func (f Factors) members() map[string]string {
	app := "no"
	if f.App {
		app = "yes"
	}
	return map[string]string{"authenticatorApp": app, "passkeys": fmt.Sprint(f.Passkeys), "recoveryCodes": fmt.Sprint(f.Recovery)}
}

// factorLess forgets the recovery codes of a user whose last factor was removed.
func factorLess(ctx context.Context, tx *db.Tx, user int64) error {
	f, err := factorsOf(ctx, tx, user)
	if err != nil || f.On() {
		return err
	}
	return tx.Do(ctx, "deleting recovery codes", `DELETE FROM identity_recovery_codes WHERE user_id = $1`, user)
}

// endSignIns ends a user's sessions but one, and what waits for its second
// step.
func (s *Service) endSignIns(ctx context.Context, tx *db.Tx, user, but int64) error {
	if err := tx.Do(ctx, "ending sessions", `DELETE FROM identity_sessions WHERE user_id = $1 AND id <> $2`, user, but); err != nil {
		return err
	}
	if err := tx.Do(ctx, "ending sign-ins", `DELETE FROM identity_steps WHERE user_id = $1`, user); err != nil {
		return err
	}
	s.changed(tx)
	return endConfirmCodes(ctx, tx, user)
}

// mySession is the session that asks, 0 for none.
func mySession(ctx context.Context) int64 {
	if p := From(ctx); p != nil {
		return p.Session
	}
	return 0
}

// SealedPlaces is what the key encrypts of users. An app whose secret is lost
// still counts as a factor: recovery codes and passkeys work, and removing it does.
func SealedPlaces() []secret.Place {
	return []secret.Place{{Table: totpTable, Column: totpColumn, Row: "CAST(user_id AS TEXT)", Lost: `secret = SUBSTR(secret, 1, 0)`}}
}

// Factors are those of who asks.
func (s *Service) Factors(ctx context.Context) (f Factors, err error) {
	p := From(ctx)
	if p == nil {
		return f, ErrUnauthenticated()
	}
	return db.Read(ctx, s.db, func(tx *db.Tx) (Factors, error) { return factorsOf(ctx, tx, p.UserID) })
}
