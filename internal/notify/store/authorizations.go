package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

const selectAuthorizations = `SELECT id, connection, account_id, account_name, base_url, user_id, authorized_by, authorized_at,
	state, state_at, reason, tokens, expires_at, refreshed_at, due_at, asked_at, access_token, refresh_token,
	(SELECT count(*) FROM notify_rules r WHERE r.authorization_id = notify_authorizations.id) FROM notify_authorizations `

// sealedTokens are tokens as they are stored.
type sealedTokens struct{ access, refresh []byte }

func scanAuthorization(row db.Row) (a notify.Authorization, t sealedTokens, err error) {
	err = row.Scan(&a.ID, &a.Connection, &a.AccountID, &a.AccountName, &a.BaseURL, &a.UserID, &a.AuthorizedBy, db.At(&a.AuthorizedAt),
		&a.State, db.At(&a.StateAt), &a.Reason, &a.Tokens, db.At(&a.Expires), db.At(&a.RefreshedAt), db.At(&a.DueAt), db.At(&a.AskedAt),
		&t.access, &t.refresh, &a.Rules)
	if errors.Is(err, sql.ErrNoRows) {
		return a, t, fault.New(fault.NotFound, "There is no such authorisation.")
	}
	if err != nil {
		return a, t, fmt.Errorf("reading an authorisation: %w", err)
	}
	return a, t, nil
}

func (s *Store) readAuthorizations(ctx context.Context, where string, args ...any) ([]notify.Authorization, error) {
	return db.ReadList(ctx, s.db, "reading authorisations", func(row db.Row) (notify.Authorization, error) {
		a, _, err := scanAuthorization(row)
		return a, err
	}, selectAuthorizations+where, args...)
}

// ListAuthorizations lists those of a user, 0: of all, in the order of their
// ids, after one.
func (s *Store) ListAuthorizations(ctx context.Context, userID, after int64, limit int) ([]notify.Authorization, error) {
	return s.readAuthorizations(ctx, `WHERE (user_id = $1 OR $1 = 0) AND id > $2 ORDER BY id LIMIT $3`, userID, after, limit)
}

// AuthorizationRules returns the first rules that belong to an account, with their
// names and places alone.
func (s *Store) AuthorizationRules(ctx context.Context, id int64, limit int) ([]notify.Rule, error) {
	return db.ReadList(ctx, s.db, "reading the rules of an account", func(row db.Row) (r notify.Rule, err error) {
		err = row.Scan(&r.ID, &r.Name, &r.Connection, &r.ProjectKey, &r.RepositoryKey)
		return r, err
	}, `SELECT id, name, connection, project_key, repository_key FROM notify_rules
		WHERE authorization_id = $1 AND authorization_id <> 0 ORDER BY id LIMIT $2`, id, limit)
}

// AuthorizationUsers returns the users of the active ones.
func (s *Store) AuthorizationUsers(ctx context.Context) ([]int64, error) {
	return db.ReadList(ctx, s.db, "reading users of authorisations", db.Value[int64],
		`SELECT DISTINCT user_id FROM notify_authorizations WHERE state = 'active'`)
}

// Authorization returns one: fault.NotFound where there is none with the id.
func (s *Store) Authorization(ctx context.Context, id int64) (a notify.Authorization, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, _, err = scanAuthorization(tx.QueryRow(ctx, selectAuthorizations+`WHERE id = $1`, id))
		return err
	})
	return a, err
}

// UsableAuthorizations lists the active ones of a connection that a user gave,
// the latest first.
func (s *Store) UsableAuthorizations(ctx context.Context, connection string, userID int64) ([]notify.Authorization, error) {
	return s.readAuthorizations(ctx, `WHERE connection = $1 AND user_id = $2 AND state = 'active' ORDER BY authorized_at DESC, id`,
		connection, userID)
}

// ReadingAuthorizations lists active ones that may be able to read a repository:
// those of a user first, then those that rules there belong to.
func (s *Store) ReadingAuthorizations(
	ctx context.Context, connection string, at notify.RepositoryRef, userID int64, limit int,
) ([]notify.Authorization, error) {
	return s.readAuthorizations(ctx, `WHERE connection = $1 AND state = 'active' AND (user_id = $2
		OR id IN (SELECT r.authorization_id FROM notify_rules r
			WHERE r.project_fold = $3 AND r.repository_fold = $4 AND r.connection = $1))
		ORDER BY CASE WHEN user_id = $2 THEN 0 ELSE 1 END, authorized_at DESC, id LIMIT $5`,
		connection, userID, notify.Fold(clean(at.ProjectKey)), notify.Fold(clean(at.RepositoryKey)), limit)
}

// CountAuthorizations counts the accounts in each state.
func (s *Store) CountAuthorizations(ctx context.Context) (map[notify.AuthorizationState]int, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (map[notify.AuthorizationState]int, error) {
		return db.Map[notify.AuthorizationState, int](ctx, tx, "counting authorisations",
			`SELECT state, count(*) FROM notify_authorizations GROUP BY state`)
	})
}

// SaveAuthorization keeps an account with its tokens, as a new one or in place
// of what was known of it.
func (s *Store) SaveAuthorization(
	ctx context.Context, who notify.Actor, of notify.Authorization, t notify.AccountTokens,
) (notify.Authorization, error) {
	of.AccountID, of.AccountName = clean(of.AccountID), clean(of.AccountName)
	row := authorizationRow(&of)
	var after notify.Authorization
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockGeneration(ctx, tx); err != nil { // see pauseRules
			return err
		}
		before, _, err := scanAuthorization(tx.QueryRow(ctx, selectAuthorizations+`WHERE connection = $1 AND account_id = $2`,
			of.Connection, of.AccountID))
		known := err == nil
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err := tx.Get(ctx, "keeping an authorisation", []any{&of.ID}, `INSERT INTO notify_authorizations (connection, account_id,
				account_name, base_url, user_id, authorized_by, authorized_at, state, state_at, reason, tokens, access_token,
				refresh_token, expires_at, refreshed_at, due_at, asked_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 'active', $7, '', 1, $8, $9, $10, $11, $12, 0)
			ON CONFLICT (connection, account_id) DO UPDATE SET account_name = excluded.account_name, base_url = excluded.base_url,
				user_id = excluded.user_id, authorized_by = excluded.authorized_by, authorized_at = excluded.authorized_at,
				state = 'active',
				state_at = CASE WHEN notify_authorizations.state = 'active' THEN notify_authorizations.state_at ELSE excluded.state_at END,
				reason = '', tokens = notify_authorizations.tokens + 1, access_token = excluded.access_token,
				refresh_token = excluded.refresh_token, expires_at = excluded.expires_at, refreshed_at = excluded.refreshed_at,
				due_at = excluded.due_at, asked_at = 0
			RETURNING id`,
			of.Connection, of.AccountID, of.AccountName, of.BaseURL, of.UserID, who.Name, db.Micros(tx.Now()),
			s.box.Seal(t.Access.Reveal(), "notify_authorizations", "access_token", row),
			s.box.Seal(t.Refresh.Reveal(), "notify_authorizations", "refresh_token", row),
			db.Micros(t.Expires), db.Micros(of.RefreshedAt), db.Micros(of.DueAt)); err != nil {
			return err
		}
		if err := s.pauseRules(ctx, tx, who, of.ID, false); err != nil {
			return err
		}
		if after, _, err = scanAuthorization(tx.QueryRow(ctx, selectAuthorizations+`WHERE id = $1`, of.ID)); err != nil {
			return err
		}
		if !known {
			return recordAuthorization(ctx, tx, who, "authorize", nil, &after)
		}
		return recordAuthorization(ctx, tx, who, "authorize", &before, &after)
	})
	return after, err
}

// RevokeAuthorization drops the tokens of an account. Of one that was revoked
// before nothing changes.
func (s *Store) RevokeAuthorization(ctx context.Context, who notify.Actor, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockGeneration(ctx, tx); err != nil { // see pauseRules
			return err
		}
		before, _, err := scanAuthorization(tx.QueryRow(ctx, selectAuthorizations+`WHERE id = $1`, id))
		if err != nil || before.State == notify.AuthorizationRevoked {
			return err
		}
		if err := tx.Do(ctx, "revoking an authorisation",
			`UPDATE notify_authorizations SET state = 'revoked', state_at = $1, reason = '', access_token = NULL, refresh_token = NULL,
			due_at = 0, asked_at = 0 WHERE id = $2`, db.Micros(tx.Now()), id); err != nil {
			return err
		}
		if err := s.pauseRules(ctx, tx, who, id, true); err != nil {
			return err
		}
		after := before
		after.State = notify.AuthorizationRevoked
		return recordAuthorization(ctx, tx, who, "revoke", &before, &after)
	})
}

// authorizationRow is what tokens are sealed for: they are sealed before there
// is an id.
func authorizationRow(a *notify.Authorization) string {
	return a.Connection + "/" + a.AccountID + " " + a.BaseURL
}

func recordAuthorization(ctx context.Context, tx *db.Tx, who notify.Actor, action string, before, after *notify.Authorization) error {
	e := who.AuditEntry(action, "authorisation", strconv.FormatInt(after.ID, 10), before.Audited(), after.Audited())
	e.Connection = after.Connection
	return audit.Record(ctx, tx, e)
}

// openTokens opens the tokens of an account; those that are damaged are zero.
func (s *Store) openTokens(a *notify.Authorization, sealed sealedTokens) (t notify.AccountTokens, err error) {
	row := authorizationRow(a)
	access, err1 := s.open(sealed.access, "notify_authorizations", "access_token", row)
	refresh, err2 := s.open(sealed.refresh, "notify_authorizations", "refresh_token", row)
	err = errors.Join(err1, err2)
	if errors.Is(err, secret.ErrOtherKey) {
		return t, fault.Wrap(err, fault.Unavailable, "The tokens of the account %s were encrypted with a key that this node does not "+
			"have. Give every node the same secret_key and secret_key_previous.", a.AccountName)
	}
	if err != nil {
		s.log.Warn("the tokens of an account cannot be read", "of", row, "error", err)
	}
	return notify.AccountTokens{Access: access, Refresh: refresh, Expires: a.Expires, Count: a.Tokens}, nil
}
