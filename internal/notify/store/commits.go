package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// nameCommits writes the commits that new webhooks name. One that is named again
// by a push is asked for its builds again, from the start.
func nameCommits(ctx context.Context, tx *db.Tx, receipts []*notify.Receipt) error {
	type key struct {
		connection, hash string
		at               notify.RepositoryRef
	}
	last := map[key]notify.NamedCommit{}
	var order []key
	for _, r := range receipts {
		if !r.Written() {
			continue
		}
		for _, c := range r.Commits {
			k := key{c.Connection, c.Hash, c.At.Folded()}
			before, seen := last[k]
			if !seen {
				order = append(order, k)
			}
			if !seen || !c.DueAt.IsZero() || before.DueAt.IsZero() {
				last[k] = c
			}
		}
	}
	commits := make([]notify.NamedCommit, len(order))
	for i, k := range order {
		commits[i] = last[k]
	}
	return insertCommit.Rows(ctx, tx, "inserting named commits", commits)
}

var insertCommit = db.Insert[notify.NamedCommit]{
	Into: `notify_commits (connection, hash, project_key, repository_key, project_fold, repository_fold,
		branch, named_at, due_at, asked)`,
	Columns: []db.Column[notify.NamedCommit]{
		db.Text(func(c notify.NamedCommit) string { return c.Connection }),
		db.Text(func(c notify.NamedCommit) string { return c.Hash }),
		db.Text(func(c notify.NamedCommit) string { return c.At.ProjectKey }),
		db.Text(func(c notify.NamedCommit) string { return c.At.RepositoryKey }),
		db.Text(func(c notify.NamedCommit) string { return c.At.Folded().ProjectKey }),
		db.Text(func(c notify.NamedCommit) string { return c.At.Folded().RepositoryKey }),
		db.Text(func(c notify.NamedCommit) string { return c.Branch }),
		db.Number(func(c notify.NamedCommit) int64 { return db.Micros(c.NamedAt) }),
		db.Number(func(c notify.NamedCommit) int64 { return db.Micros(c.DueAt) }),
	},
	Constants: `0`,
	OnConflict: `ON CONFLICT (connection, hash, project_fold, repository_fold) DO UPDATE SET
		branch = excluded.branch, named_at = excluded.named_at, due_at = excluded.due_at, asked = 0 WHERE excluded.due_at > 0`,
}

const selectCommits = `SELECT connection, hash, project_key, repository_key, branch, named_at, due_at, asked FROM notify_commits `

// NamedCommits returns the repositories in which events named a commit.
func (s *Store) NamedCommits(ctx context.Context, connection, hash string) ([]notify.NamedCommit, error) {
	return s.readCommits(ctx, `WHERE connection = $1 AND hash = $2 ORDER BY project_fold, repository_fold`, connection, hash)
}

// DueCommits returns the commits of whose builds the platform is to be asked by
// now, those that wait the longest first.
func (s *Store) DueCommits(ctx context.Context, now time.Time, limit int) ([]notify.NamedCommit, error) {
	return s.readCommits(ctx, `WHERE due_at > 0 AND due_at <= $1 ORDER BY due_at, hash LIMIT $2`, db.Micros(now), limit)
}

func (s *Store) readCommits(ctx context.Context, where string, args ...any) ([]notify.NamedCommit, error) {
	return db.ReadList(ctx, s.db, "reading named commits", func(row db.Row) (c notify.NamedCommit, err error) {
		err = row.Scan(&c.Connection, &c.Hash, &c.At.ProjectKey, &c.At.RepositoryKey, &c.Branch, db.At(&c.NamedAt), db.At(&c.DueAt), &c.Asked)
		return c, err
	}, selectCommits+where, args...)
}

// ScheduleCommit says when a commit is asked for next: never, where DueAt is
// zero. It leaves alone one that was named again meanwhile.
func (s *Store) ScheduleCommit(ctx context.Context, c notify.NamedCommit) error {
	at := c.At.Folded()
	return s.db.Do(ctx, "scheduling a commit", `UPDATE notify_commits SET due_at = $1, asked = $2
		WHERE connection = $3 AND hash = $4 AND project_fold = $5 AND repository_fold = $6 AND named_at = $7`,
		db.Micros(c.DueAt), c.Asked, c.Connection, c.Hash, at.ProjectKey, at.RepositoryKey, db.Micros(c.NamedAt))
}

// KeepDue stops asking for all but the last named commits of a connection, keep
// of them, and says for how many.
func (s *Store) KeepDue(ctx context.Context, connection string, keep int) (stopped int64, err error) {
	return db.Write(ctx, s.db, func(tx *db.Tx) (int64, error) {
		return tx.Changed(ctx, "stopping to ask for commits",
			`UPDATE notify_commits SET due_at = 0 WHERE connection = $1 AND due_at > 0 AND named_at <
			(SELECT named_at FROM notify_commits WHERE connection = $1 AND due_at > 0 ORDER BY named_at DESC LIMIT 1 OFFSET $2)`, connection, keep-1)
	})
}
