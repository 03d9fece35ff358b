package identity

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// DisableUser keeps a user out until EnableUser: sessions end, tokens and the
// password are refused. Grants and tokens stay. Conflict: it is the last enabled
// local user with SYS_ADMIN, or the one who asks.
func (s *Service) DisableUser(ctx context.Context, name string) error {
	return s.changeUser(ctx, name, func(tx *db.Tx, u User) error {
		if u.Disabled() {
			return nil
		}
		if p := From(ctx); p != nil && p.UserID == u.ID {
			return fault.New(fault.Conflict, "You cannot disable your own account. Ask another administrator.")
		}
		if err := keepOneSysAdmin(ctx, tx, `user_id <> $1`, u.ID); err != nil {
			return err
		}
		if err := s.storeDisabled(ctx, tx, u.ID, db.Micros(s.now())); err != nil {
			return err
		}
		if err := s.endSignIns(ctx, tx, u.ID, 0); err != nil {
			return err
		}
		return record(ctx, tx, "disable", "user", u.Ref(), nil, nil)
	})
}

// EnableUser lets a disabled user in again, with the password and grants that they
// had. Their tokens end, but for those of the ids in keep: others may have them.
// Invalid: one of the ids is of no token of the user. It needs more than a token:
// see RequireConfirmed.
func (s *Service) EnableUser(ctx context.Context, name string, keep []int64) (ended int, err error) {
	if err := s.RequireConfirmed(ctx); err != nil {
		return 0, err
	}
	err = s.changeUser(ctx, name, func(tx *db.Tx, u User) (err error) {
		if ended = 0; !u.Disabled() {
			return nil
		}
		if ended, err = s.endTokens(ctx, tx, u, keep); err != nil {
			return err
		}
		if err := s.storeDisabled(ctx, tx, u.ID, 0); err != nil {
			return err
		}
		return record(ctx, tx, "enable", "user", u.Ref(), nil, nil)
	})
	return ended, err
}

func (s *Service) storeDisabled(ctx context.Context, tx *db.Tx, user, at int64) error {
	if err := tx.Do(ctx, "storing whether a user is disabled",
		`UPDATE identity_users SET disabled_at = $1 WHERE id = $2`, at, user); err != nil {
		return err
	}
	s.changed(tx)
	return nil
}
