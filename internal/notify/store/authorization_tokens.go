package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// DueAuthorizations lists the accounts whose tokens are to be refreshed, the
// longest due first.
func (s *Store) DueAuthorizations(ctx context.Context, now time.Time, limit int) ([]notify.Authorization, error) {
	return s.readAuthorizations(ctx, `WHERE due_at > 0 AND due_at <= $1 ORDER BY due_at, id LIMIT $2`, db.Micros(now), limit)
}

// AccountTokens returns an account with its tokens, which are zero where they are
// damaged. fault.NotFound: there is none with the id. fault.Unavailable: this node
// does not have the key that they were sealed with.
func (s *Store) AccountTokens(ctx context.Context, id int64) (a notify.Authorization, t notify.AccountTokens, err error) {
	var sealed sealedTokens
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, sealed, err = scanAuthorization(tx.QueryRow(ctx, selectAuthorizations+`WHERE id = $1`, id))
		return err
	})
	if err != nil {
		return a, t, err
	}
	t, err = s.openTokens(&a, sealed)
	return a, t, err
}

// The four below change what the pair of that count is; of a later pair they
// change nothing, and say so.

// BeginRefresh notes that the platform is about to be asked for new tokens.
func (s *Store) BeginRefresh(ctx context.Context, id, count int64, now time.Time) (ok bool, err error) {
	return s.changeTokens(ctx, `asked_at = $3 WHERE id = $1 AND tokens = $2 AND state = 'active'`, id, count, db.Micros(now))
}

// KeepTokens keeps the tokens that came of a refresh, also where the account
// was withdrawn meanwhile: the platform has given them, so it takes them.
func (s *Store) KeepTokens(ctx context.Context, a notify.Authorization, t notify.AccountTokens, now time.Time) (ok bool, err error) {
	row := authorizationRow(&a)
	return s.changeTokens(ctx, `tokens = tokens + 1, access_token = $3, refresh_token = $4,
		expires_at = $5, refreshed_at = $6, due_at = $7, asked_at = 0, reason = '',
		state_at = CASE WHEN state = 'active' THEN state_at ELSE $6 END, state = 'active'
		WHERE id = $1 AND tokens = $2 AND state <> 'revoked'`,
		a.ID, t.Count, s.box.Seal(t.Access.Reveal(), "notify_authorizations", "access_token", row),
		s.box.Seal(t.Refresh.Reveal(), "notify_authorizations", "refresh_token", row), db.Micros(t.Expires), db.Micros(now),
		db.Micros(t.RefreshDue(now)))
}

// PostponeRefresh has tokens refreshed later: the platform gave none. a.AskedAt
// says when it was asked without an answer; zero: never.
func (s *Store) PostponeRefresh(ctx context.Context, a notify.Authorization, due time.Time, reason string) (ok bool, err error) {
	return s.changeTokens(ctx, `due_at = $3, reason = $4, asked_at = $5 WHERE id = $1 AND tokens = $2 AND state = 'active'`,
		a.ID, a.Tokens, db.Micros(due), clean(reason), db.Micros(a.AskedAt))
}

// WithdrawAuthorization notes that the platform takes the tokens no more.
func (s *Store) WithdrawAuthorization(ctx context.Context, id, count int64, reason string, now time.Time) (ok bool, err error) {
	return s.changeTokens(ctx, `state = 'withdrawn', state_at = $3, reason = $4, access_token = NULL, refresh_token = NULL,
		due_at = 0, asked_at = 0
		WHERE id = $1 AND tokens = $2 AND state = 'active'`, id, count, db.Micros(now), clean(reason))
}

func (s *Store) changeTokens(ctx context.Context, set string, args ...any) (ok bool, err error) {
	n, err := db.Write(ctx, s.db, func(tx *db.Tx) (int64, error) {
		return tx.Changed(ctx, "changing an authorisation", `UPDATE notify_authorizations SET `+set, args...)
	})
	return n > 0, err
}
