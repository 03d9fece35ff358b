package store

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// repositoriesOfRules are the repositories that rules of the cloud edition belong
// to, each with an active account of such a rule or 0, and what is known of its
// webhook.
const repositoriesOfRules = `SELECT x.connection, x.project_key, x.repository_key, x.authorization_id, COALESCE(w.state, 'unchecked'), COALESCE(w.hook, ''),
		COALESCE(w.remote_id, ''), COALESCE(w.reason, ''), COALESCE(w.set_at, 0), COALESCE(w.secret_mark, ''), COALESCE(w.checked_at, 0)
	FROM (SELECT r.connection, r.project_fold, r.repository_fold, MAX(r.project_key) AS project_key, MAX(r.repository_key) AS repository_key,
			COALESCE(MAX(a.id), 0) AS authorization_id
		FROM notify_rules r LEFT JOIN notify_authorizations a ON a.id = r.authorization_id AND a.state = 'active'
		WHERE r.authorization_id <> 0 GROUP BY r.connection, r.project_fold, r.repository_fold) x
	LEFT JOIN notify_repository_webhooks w ON w.connection = x.connection AND w.project_fold = x.project_fold AND w.repository_fold = x.repository_fold `

// DueRepositories gives repositories to be looked at with an account of a rule:
// those that were not since a time, and those that do not send since another.
func (s *Store) DueRepositories(ctx context.Context, since, troubledSince time.Time, limit int) ([]notify.RepositoryWebhook, error) {
	return s.readRepositoryWebhooks(ctx, `WHERE x.authorization_id <> 0 AND (COALESCE(w.checked_at, 0) <= $1 OR w.checked_at <= $2 AND w.state <> 'sends')
		ORDER BY COALESCE(w.checked_at, 0), x.connection, x.project_fold, x.repository_fold LIMIT $3`, db.Micros(since), db.Micros(troubledSince), limit)
}

// RepositoryWebhook gives that of a repository of a cloud platform; unchecked
// where nothing is known.
func (s *Store) RepositoryWebhook(ctx context.Context, connection string, at notify.RepositoryRef) (notify.RepositoryWebhook, error) {
	list, err := s.readRepositoryWebhooks(ctx, `WHERE x.connection = $1 AND x.project_fold = $2 AND x.repository_fold = $3`,
		connection, notify.Fold(clean(at.ProjectKey)), notify.Fold(clean(at.RepositoryKey)))
	if err != nil || len(list) == 0 {
		return notify.RepositoryWebhook{Connection: connection, At: at, State: notify.WebhookUnchecked}, err
	}
	return list[0], nil
}

func (s *Store) readRepositoryWebhooks(ctx context.Context, where string, args ...any) (list []notify.RepositoryWebhook, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list = nil
		rows, err := tx.Query(ctx, repositoriesOfRules+where, args...)
		if err != nil {
			return fmt.Errorf("reading webhooks of repositories: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var w notify.RepositoryWebhook
			var set, checked int64
			if err := rows.Scan(&w.Connection, &w.At.ProjectKey, &w.At.RepositoryKey, &w.AuthorizationID, &w.State, &w.Hook,
				&w.RemoteID, &w.Reason, &set, &w.SecretMark, &checked); err != nil {
				return fmt.Errorf("reading webhooks of repositories: %w", err)
			}
			w.SetAt, w.CheckedAt = db.Time(set), db.Time(checked)
			list = append(list, w)
		}
		return rows.Err()
	})
	return list, err
}

// SaveRepositoryWebhook keeps what was found out about a repository's webhook. by
// is who wrote to the platform, nil where nothing was written.
func (s *Store) SaveRepositoryWebhook(ctx context.Context, w notify.RepositoryWebhook, by *notify.Actor) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO notify_repository_webhooks (connection, project_fold, repository_fold, state, hook, remote_id, reason, set_at, secret_mark, checked_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (connection, project_fold, repository_fold) DO UPDATE SET state = excluded.state, hook = excluded.hook,
				remote_id = excluded.remote_id, reason = excluded.reason, set_at = excluded.set_at, secret_mark = excluded.secret_mark, checked_at = excluded.checked_at`,
			w.Connection, notify.Fold(clean(w.At.ProjectKey)), notify.Fold(clean(w.At.RepositoryKey)), string(w.State), w.Hook, clean(w.RemoteID), clean(w.Reason),
			db.Micros(w.SetAt), w.SecretMark, db.Micros(w.CheckedAt)); err != nil {
			return fmt.Errorf("keeping a repository's webhook: %w", err)
		}
		if by == nil {
			return nil
		}
		entry := by.AuditEntry("set", "webhook", w.Connection+"/"+w.At.ProjectKey+"/"+w.At.RepositoryKey, nil, map[string]string{"hook": w.Hook, "platformId": w.RemoteID})
		entry.Connection, entry.Project, entry.Repository = w.Connection, w.At.ProjectKey, w.At.RepositoryKey
		return audit.Record(ctx, tx, entry)
	})
}

// moveRepositoryWebhooks has what is known of webhooks go by the new keys of their
// repositories; what was known of others with those keys is forgotten.
func moveRepositoryWebhooks(ctx context.Context, tx *db.Tx, by notify.KeyChange) error {
	from, to := by.From.Folded(), by.To.Folded()
	if _, err := tx.Exec(ctx, `DELETE FROM notify_repository_webhooks WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`,
		by.Connection, to.ProjectKey, to.RepositoryKey); err != nil {
		return fmt.Errorf("moving webhooks of repositories: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE notify_repository_webhooks SET project_fold = $4, repository_fold = CASE WHEN $5 = '' THEN repository_fold ELSE $5 END
		WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`,
		by.Connection, from.ProjectKey, from.RepositoryKey, to.ProjectKey, to.RepositoryKey); err != nil {
		return fmt.Errorf("moving webhooks of repositories: %w", err)
	}
	return nil
}
