package store

import (
	"context"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// repositoriesOfRules are the repositories that rules of the cloud edition belong
// to, each with an active account of such a rule or 0, and what is known of its
// webhook.
const repositoriesOfRules = `SELECT x.connection, x.project_key, x.repository_key, x.authorization_id,
		COALESCE(w.state, 'unchecked'), COALESCE(w.hook, ''), COALESCE(w.remote_id, ''), COALESCE(w.reason, ''),
		COALESCE(w.set_at, 0), COALESCE(w.secret_mark, ''), COALESCE(w.checked_at, 0), x.rules,
		(SELECT count(*) FROM notify_reports p
			WHERE p.connection = x.connection AND p.project_fold = x.project_fold AND p.repository_fold = x.repository_fold)
	FROM (SELECT r.connection, r.project_fold, r.repository_fold, MAX(r.project_key) AS project_key, MAX(r.repository_key) AS repository_key,
			COALESCE(MAX(a.id), 0) AS authorization_id, count(*) AS rules
		FROM notify_rules r LEFT JOIN notify_authorizations a ON a.id = r.authorization_id AND a.state = 'active'
		WHERE r.authorization_id <> 0 GROUP BY r.connection, r.project_fold, r.repository_fold) x
	LEFT JOIN notify_repository_webhooks w
		ON w.connection = x.connection AND w.project_fold = x.project_fold AND w.repository_fold = x.repository_fold `

// repositoriesWithoutRules are those of which a webhook is known and that have no
// rule any more, each with the account that its platform was last asked with.
const repositoriesWithoutRules = `SELECT w.connection, w.project_fold, w.repository_fold, COALESCE(a.id, 0), 'unneeded',
		w.hook, w.remote_id, CASE WHEN w.state = 'unneeded' THEN w.reason ELSE '' END, w.set_at, w.secret_mark, w.checked_at, 0, 0
	FROM notify_repository_webhooks w LEFT JOIN notify_authorizations a ON a.id = w.authorization_id AND a.state = 'active'
	WHERE NOT EXISTS (SELECT 1 FROM notify_rules r
		WHERE r.connection = w.connection AND r.project_fold = w.project_fold AND r.repository_fold = w.repository_fold)
	AND NOT EXISTS (SELECT 1 FROM notify_reports p
		WHERE p.connection = w.connection AND p.project_fold = w.project_fold AND p.repository_fold = w.repository_fold) `

// UnneededWebhooks returns webhooks that Outrigger created and that nothing needs
// any more: those whose deletion was not tried, or failed before a time.
func (s *Store) UnneededWebhooks(ctx context.Context, failedBefore time.Time, limit int) ([]notify.RepositoryWebhook, error) {
	return s.readRepositoryWebhooks(ctx, repositoriesWithoutRules+`AND w.set_at > 0 AND w.remote_id <> ''
		AND (w.state <> 'unneeded' OR w.checked_at <= $1)
		ORDER BY w.checked_at, w.connection, w.project_fold, w.repository_fold LIMIT $2`, db.Micros(failedBefore), limit)
}

// CreatedWebhooks lists the projects and repositories of a connection that have
// webhooks which Outrigger created, by key.
func (s *Store) CreatedWebhooks(ctx context.Context, connection string) ([]string, error) {
	return db.ReadList(ctx, s.db, "reading created webhooks", db.Value[string],
		`SELECT project_key FROM notify_webhooks WHERE connection = $1 AND set_at > 0 AND remote_id <> 0
		UNION ALL SELECT project_fold || '/' || repository_fold FROM notify_repository_webhooks
		WHERE connection = $1 AND set_at > 0 AND remote_id <> '' ORDER BY 1`, connection)
}

// DueRepositories returns repositories to be looked at with an account of a rule:
// those that were not since a time, and those that do not send since another.
func (s *Store) DueRepositories(ctx context.Context, since, troubledSince time.Time, limit int) ([]notify.RepositoryWebhook, error) {
	return s.readRepositoryWebhooks(ctx, repositoriesOfRules+`WHERE x.authorization_id <> 0
			AND (COALESCE(w.checked_at, 0) <= $1 OR w.checked_at <= $2 AND w.state <> 'sends' OR w.state = 'unneeded')
		ORDER BY COALESCE(w.checked_at, 0), x.connection, x.project_fold, x.repository_fold LIMIT $3`, db.Micros(since),
		db.Micros(troubledSince), limit)
}

// RepositoryWebhook returns that of a repository of a cloud platform; unchecked
// where nothing is known.
func (s *Store) RepositoryWebhook(ctx context.Context, connection string, at notify.RepositoryRef) (notify.RepositoryWebhook, error) {
	args := []any{connection, notify.Fold(clean(at.ProjectKey)), notify.Fold(clean(at.RepositoryKey))}
	list, err := s.readRepositoryWebhooks(ctx, repositoriesOfRules+
		`WHERE x.connection = $1 AND x.project_fold = $2 AND x.repository_fold = $3`, args...)
	if err == nil && len(list) == 0 {
		list, err = s.readRepositoryWebhooks(ctx, repositoriesWithoutRules+
			`AND w.set_at > 0 AND w.connection = $1 AND w.project_fold = $2 AND w.repository_fold = $3`, args...)
	}
	if err != nil || len(list) == 0 {
		return notify.RepositoryWebhook{Connection: connection, At: at, State: notify.WebhookUnchecked}, err
	}
	return list[0], nil
}

func (s *Store) readRepositoryWebhooks(ctx context.Context, query string, args ...any) ([]notify.RepositoryWebhook, error) {
	return db.ReadList(ctx, s.db, "reading webhooks of repositories", func(row db.Row) (w notify.RepositoryWebhook, err error) {
		err = row.Scan(&w.Connection, &w.At.ProjectKey, &w.At.RepositoryKey, &w.AuthorizationID, &w.State, &w.Hook,
			&w.RemoteID, &w.Reason, db.At(&w.SetAt), &w.SecretMark, db.At(&w.CheckedAt), &w.Rules, &w.Reports)
		return w, err
	}, query, args...)
}

// SaveRepositoryWebhook keeps what was found out about a repository's webhook. by
// is who wrote to the platform, nil where nothing was written.
func (s *Store) SaveRepositoryWebhook(ctx context.Context, w notify.RepositoryWebhook, by *notify.Actor) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "keeping a repository's webhook",
			`INSERT INTO notify_repository_webhooks (connection, project_fold, repository_fold, state, hook, remote_id,
				reason, set_at, secret_mark, checked_at, authorization_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (connection, project_fold, repository_fold) DO UPDATE SET state = excluded.state, hook = excluded.hook,
				remote_id = excluded.remote_id, reason = excluded.reason, set_at = excluded.set_at,
				secret_mark = excluded.secret_mark, checked_at = excluded.checked_at,
				authorization_id = CASE WHEN excluded.authorization_id = 0 THEN notify_repository_webhooks.authorization_id
					ELSE excluded.authorization_id END`,
			w.Connection, notify.Fold(clean(w.At.ProjectKey)), notify.Fold(clean(w.At.RepositoryKey)), string(w.State), w.Hook, clean(w.RemoteID),
			clean(w.Reason),
			db.Micros(w.SetAt), w.SecretMark, db.Micros(w.CheckedAt), w.AuthorizationID); err != nil {
			return err
		}
		if by == nil {
			return nil
		}
		return recordRepositoryWebhook(ctx, tx, *by, "set", &w)
	})
}

// ForgetRepositoryWebhook forgets the webhook of a repository. by is who deleted
// it on the platform, nil where nothing was.
func (s *Store) ForgetRepositoryWebhook(ctx context.Context, w notify.RepositoryWebhook, by *notify.Actor) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "forgetting a repository's webhook",
			`DELETE FROM notify_repository_webhooks WHERE connection = $1 AND project_fold = $2 AND repository_fold = $3`,
			w.Connection, notify.Fold(clean(w.At.ProjectKey)), notify.Fold(clean(w.At.RepositoryKey))); err != nil {
			return err
		}
		if by == nil {
			return nil
		}
		return recordRepositoryWebhook(ctx, tx, *by, "delete", &w)
	})
}

func recordRepositoryWebhook(ctx context.Context, tx *db.Tx, by notify.Actor, action string, w *notify.RepositoryWebhook) error {
	is := map[string]string{"hook": w.Hook, "platformId": w.RemoteID}
	before, after := map[string]string(nil), is
	if action == "delete" {
		before, after = is, nil
	}
	entry := by.AuditEntry(action, "webhook", w.Connection+"/"+w.At.ProjectKey+"/"+w.At.RepositoryKey, before, after)
	entry.Connection, entry.Project, entry.Repository = w.Connection, w.At.ProjectKey, w.At.RepositoryKey
	return audit.Record(ctx, tx, entry)
}

// moveRepositoryWebhooks has what is known of webhooks go by the new keys of their
// repositories; what was known of others with those keys is forgotten.
func moveRepositoryWebhooks(ctx context.Context, tx *db.Tx, by notify.KeyChange) error {
	from, to := by.From.Folded(), by.To.Folded()
	if err := tx.Do(ctx, "moving webhooks of repositories",
		`DELETE FROM notify_repository_webhooks WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`,
		by.Connection, to.ProjectKey, to.RepositoryKey); err != nil {
		return err
	}
	return tx.Do(ctx, "moving webhooks of repositories",
		`UPDATE notify_repository_webhooks SET project_fold = $4, repository_fold = CASE WHEN $5 = '' THEN repository_fold ELSE $5 END
		WHERE connection = $1 AND project_fold = $2 AND ($3 = '' OR repository_fold = $3)`,
		by.Connection, from.ProjectKey, from.RepositoryKey, to.ProjectKey, to.RepositoryKey)
}
