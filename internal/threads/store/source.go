package store

import (
	"context"
	"strings"
	"sync/atomic"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// Source keeps the self-hosted side: the hierarchy, the mappings and their
// reports.
type Source struct {
	db *db.DB
	// index is the blocks as this node saw them last. It holds while the
	// database has the same generation.
	index atomic.Pointer[index]
}

// NewSource makes a store on a migrated database.
func NewSource(d *db.DB) *Source { return &Source{db: d} }

// State says how the hierarchy stands.
func (s *Source) State(ctx context.Context) (threads.SourceState, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (threads.SourceState, error) { return readSourceState(ctx, tx, "") })
}

// readSourceState reads the one row of the state; lock is added to the query.
func readSourceState(ctx context.Context, tx *db.Tx, lock string) (st threads.SourceState, err error) {
	err = tx.Get(ctx, "state of the hierarchy",
		[]any{&st.Generation, &st.Records, db.At(&st.ChangedAt), db.At(&st.MirroredAt), db.At(&st.TriedAt), db.At(&st.FailingSince),
			&st.Removes, &st.MayRemove, &st.Failure},
		`SELECT generation, records, changed_at, mirrored_at, mirror_tried_at, mirror_failing_since, mirror_removes, mirror_may_remove,
		mirror_failure FROM threads_source_state WHERE id = 1`+lock)
	return st, err
}

// Record notes in the audit trail what was changed in many transactions.
func (s *Source) Record(ctx context.Context, entry audit.Entry) error {
	return s.db.Write(ctx, func(tx *db.Tx) error { return audit.Record(ctx, tx, entry) })
}

// among is a condition that a column is one of ids, of which there are at most
// SourceSlice, and its arguments: the only ones of their query.
func among(d db.Dialect, column string, ids []int64) (string, []any) {
	if d == db.Postgres {
		return column + ` = ANY($1)`, []any{ids}
	}
	args := make([]any, SourceSlice)
	for i := range args {
		args[i] = ids[min(i, len(ids)-1)] // the last again and again: one text for every length
	}
	// Numbers SQLite would look up in a list one by one, which takes longer than
	// the statement where there are hundreds.
	return column + ` IN (?` + strings.Repeat(`, ?`, SourceSlice-1) + `)`, args
}
