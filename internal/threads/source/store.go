package source

import (
	"context"
	"embed"
	"fmt"
	"sync/atomic"
	"time"

	"outrigger/internal/db"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the tables of the self-hosted side.
var Migrations = db.Migrations{Name: "threads-source", FS: migrations}

// Store keeps the hierarchy, the mappings and their reports.
type Store struct {
	db *db.DB
	// index is the blocks as this node saw them last. It holds while the
	// database has the same generation.
	index atomic.Pointer[index]
}

// NewStore makes a store on a migrated database.
func NewStore(d *db.DB) *Store { return &Store{db: d} }

// State is how the hierarchy stands.
type State struct {
	Records   int64
	ChangedAt time.Time // zero: never
	// Of the mirror:
	MirroredAt time.Time // the last one that went through
	TriedAt    time.Time
	Failure    string // why the last one did not
	// FailingSince is when the first of the failures in a row was.
	FailingSince time.Time
	// Removes is how many records the last one would have removed, where that
	// was too many to do without an administrator's word.
	Removes int64

	generation int64
	mayRemove  int64 // what the word was given for
}

// State says how the hierarchy stands.
func (s *Store) State(ctx context.Context) (st State, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		st, err = readState(ctx, tx, "")
		return err
	})
	return st, err
}

// readState reads the one row of the state; lock is added to the query.
func readState(ctx context.Context, tx *db.Tx, lock string) (st State, err error) {
	var changed, mirrored, tried, failing int64
	err = tx.QueryRow(ctx, `SELECT generation, records, changed_at, mirrored_at, mirror_tried_at, mirror_failing_since, mirror_removes, mirror_may_remove, mirror_failure
		FROM threads_source_state WHERE id = 1`+lock).
		Scan(&st.generation, &st.Records, &changed, &mirrored, &tried, &failing, &st.Removes, &st.mayRemove, &st.Failure)
	if err != nil {
		return st, fmt.Errorf("state of the hierarchy: %w", err)
	}
	st.ChangedAt, st.MirroredAt, st.TriedAt, st.FailingSince = db.Time(changed), db.Time(mirrored), db.Time(tried), db.Time(failing)
	return st, nil
}

// forUpdate locks the row that is read until the transaction ends. SQLite has
// one writer anyway.
func forUpdate(tx *db.Tx) string {
	if tx.Dialect() == db.Postgres {
		return ` FOR UPDATE`
	}
	return ``
}
