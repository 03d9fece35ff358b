package store

import (
	"context"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// ProjectCheck says when a connection's projects were listed last.
func (s *Store) ProjectCheck(ctx context.Context, connection string) (c notify.ProjectCheck, err error) {
	_, err = s.db.Find(ctx, "reading the check of projects", []any{db.At(&c.At), db.At(&c.Listed), &c.Reason},
		`SELECT tried_at, listed_at, reason FROM notify_project_checks WHERE connection = $1`, connection)
	return c, err
}

// NoteProjectCheck notes that a connection's projects could not be listed, or
// were.
func (s *Store) NoteProjectCheck(ctx context.Context, connection string, c notify.ProjectCheck) error {
	return s.db.Do(ctx, "noting the check of projects",
		`INSERT INTO notify_project_checks (connection, tried_at, listed_at, reason) VALUES ($1, $2, $3, $4)
		ON CONFLICT (connection) DO UPDATE SET tried_at = excluded.tried_at, listed_at = excluded.listed_at, reason = excluded.reason`,
		connection, db.Micros(c.At), db.Micros(c.Listed), clean(c.Reason))
}

// projectsAtOnce is a slice of a platform's projects that takes the database a
// few milliseconds.
const projectsAtOnce = 200

// ReplaceProjects keeps the projects that a platform has now: new ones are to be
// looked at next, and those that are gone go.
func (s *Store) ReplaceProjects(ctx context.Context, connection string, projects []notify.ListedProject, at time.Time) error {
	for slice := range slices.Chunk(projects, projectsAtOnce) {
		if err := s.db.WriteBulk(ctx, func(tx *db.Tx) error { return upsertProjects(ctx, tx, connection, slice, at) }); err != nil {
			return err
		}
	}
	return s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		return tx.Do(ctx, "deleting gone projects",
			`DELETE FROM notify_webhooks WHERE connection = $1 AND seen_at < $2`, connection, db.Micros(at))
	})
}

func upsertProjects(ctx context.Context, tx *db.Tx, connection string, projects []notify.ListedProject, at time.Time) error {
	byKey := map[string]notify.ListedProject{}
	var folds []string
	for _, p := range projects {
		fold := notify.Fold(clean(p.Key))
		if _, twice := byKey[fold]; !twice {
			folds = append(folds, fold)
		}
		byKey[fold] = p
	}
	return db.Insert[string]{
		Into: `notify_webhooks (connection, project_fold, project_key, project_name, seen_at, project_id,
			state, hook, remote_id, successes, failures, last_success, last_failure, answer, reason, set_at, secret_mark, checked_at)`,
		Columns: []db.Column[string]{
			db.Text(func(string) string { return connection }),
			db.Text(func(fold string) string { return fold }),
			db.Text(func(fold string) string { return clean(byKey[fold].Key) }),
			db.Text(func(fold string) string { return clean(byKey[fold].Name) }),
			db.Number(func(string) int64 { return db.Micros(at) }),
			db.Number(func(fold string) int64 { return byKey[fold].ID }),
		},
		Constants: `'unchecked', '', 0, 0, 0, 0, 0, '', '', 0, '', 0`,
		OnConflict: `ON CONFLICT (connection, project_fold) DO UPDATE SET project_key = excluded.project_key,
			project_name = excluded.project_name, seen_at = excluded.seen_at, project_id = excluded.project_id`,
	}.Rows(ctx, tx, "keeping projects", folds)
}

// ProjectIDs returns the platform's ids of a connection's projects as listed last,
// by folded key; 0 where the platform did not say.
func (s *Store) ProjectIDs(ctx context.Context, connection string) (map[string]int64, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (map[string]int64, error) {
		return db.Map[string, int64](ctx, tx, "reading ids of projects",
			`SELECT project_fold, project_id FROM notify_webhooks WHERE connection = $1`, connection)
	})
}

// SaveWebhook keeps what was found out about a project's webhook. by is who wrote
// to the platform, nil where nothing was written.
func (s *Store) SaveWebhook(ctx context.Context, w notify.ProjectWebhook, by *notify.Actor) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "keeping a webhook",
			`UPDATE notify_webhooks SET state = $1, hook = $2, remote_id = $3, successes = $4, failures = $5,
			last_success = $6, last_failure = $7, answer = $8, reason = $9, set_at = $10, secret_mark = $11, checked_at = $12
			WHERE connection = $13 AND project_fold = $14`,
			string(w.State), w.Hook, w.ID, w.Health.Successes, w.Health.Failures, db.Micros(w.Health.LastSuccess), db.Micros(w.Health.LastFailure),
			clean(w.Health.Answer), clean(w.Reason), db.Micros(w.SetAt), w.SecretMark, db.Micros(w.CheckedAt), w.Connection,
			notify.Fold(clean(w.Project.Key))); err != nil {
			return err
		}
		if by == nil {
			return nil
		}
		entry := by.AuditEntry("set", "webhook", w.Connection+"/"+w.Project.Key, nil,
			map[string]string{"hook": w.Hook, "platformId": strconv.FormatInt(w.ID, 10)})
		entry.Connection, entry.Project = w.Connection, w.Project.Key
		return audit.Record(ctx, tx, entry)
	})
}

const selectWebhooks = `SELECT connection, project_key, project_name, state, hook, remote_id,
	successes, failures, last_success, last_failure, answer, reason, set_at, secret_mark, checked_at FROM notify_webhooks `

// DueWebhooks returns projects to be looked at: those that were not since a time,
// and those that do not send, or fail, since another.
func (s *Store) DueWebhooks(
	ctx context.Context, connection string, since, troubledSince time.Time, limit int,
) ([]notify.ProjectWebhook, error) {
	return s.readWebhooks(ctx, `WHERE connection = $1 AND (checked_at <= $2
		OR checked_at <= $3 AND (state <> 'sends' OR last_failure > last_success)) ORDER BY checked_at, project_fold LIMIT $4`,
		connection, db.Micros(since), db.Micros(troubledSince), limit)
}

// Webhooks lists the projects of a connection by key, those after one.
func (s *Store) Webhooks(ctx context.Context, connection, after string, limit int) ([]notify.ProjectWebhook, error) {
	return s.readWebhooks(ctx, `WHERE connection = $1 AND project_fold > $2 ORDER BY project_fold LIMIT $3`, connection,
		notify.Fold(clean(after)), limit)
}

// Webhook returns that of one project; nil where the platform has no such project
// as far as is known.
func (s *Store) Webhook(ctx context.Context, connection, project string) (*notify.ProjectWebhook, error) {
	list, err := s.readWebhooks(ctx, `WHERE connection = $1 AND project_fold = $2`, connection, notify.Fold(clean(project)))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (s *Store) readWebhooks(ctx context.Context, where string, args ...any) ([]notify.ProjectWebhook, error) {
	return db.ReadList(ctx, s.db, "reading webhooks", func(row db.Row) (w notify.ProjectWebhook, err error) {
		err = row.Scan(&w.Connection, &w.Project.Key, &w.Project.Name, &w.State, &w.Hook, &w.ID,
			&w.Health.Successes, &w.Health.Failures, db.At(&w.Health.LastSuccess), db.At(&w.Health.LastFailure),
			&w.Health.Answer, &w.Reason, db.At(&w.SetAt), &w.SecretMark, db.At(&w.CheckedAt))
		return w, err
	}, selectWebhooks+where, args...)
}

// CheckWebhooksSoon has all projects of a connection listed and looked at next.
func (s *Store) CheckWebhooksSoon(ctx context.Context, connection string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		return tx.DoAll(ctx, "having webhooks checked", []string{
			`UPDATE notify_webhooks SET checked_at = 0 WHERE connection = $1`,
			`UPDATE notify_project_checks SET tried_at = 0 WHERE connection = $1`,
		}, connection)
	})
}

// Coverage says of each connection how many projects send their events here, as
// far as was looked.
func (s *Store) Coverage(ctx context.Context) ([]notify.Coverage, error) {
	return db.ReadList(ctx, s.db, "counting webhooks", func(row db.Row) (c notify.Coverage, err error) {
		err = row.Scan(&c.Connection, db.At(&c.CheckedAt), &c.Reason, &c.Projects, &c.Sending, &c.Unchecked, &c.Failing, db.At(&c.FailingSince))
		return c, err
	}, `SELECT c.connection, c.listed_at, c.reason, COUNT(w.project_fold), COUNT(CASE WHEN w.state = 'sends' THEN 1 END),
			COUNT(CASE WHEN w.state = 'unchecked' THEN 1 END),
			COUNT(CASE WHEN w.state = 'sends' AND w.last_failure > w.last_success THEN 1 END),
			coalesce(MIN(CASE WHEN w.state = 'sends' AND w.last_failure > w.last_success
				THEN CASE WHEN w.last_success > 0 THEN w.last_success ELSE w.last_failure END END), 0)
		FROM notify_project_checks c LEFT JOIN notify_webhooks w ON w.connection = c.connection
		GROUP BY c.connection, c.listed_at, c.reason ORDER BY c.connection`)
}

// forgetWebhooks forgets the projects of a platform that a connection no longer
// is.
func forgetWebhooks(ctx context.Context, tx *db.Tx, connection string) error {
	return tx.DoAll(ctx, "forgetting webhooks", []string{
		`DELETE FROM notify_webhooks WHERE connection = $1`, `DELETE FROM notify_project_checks WHERE connection = $1`,
		`DELETE FROM notify_repository_webhooks WHERE connection = $1`,
	}, connection)
}
