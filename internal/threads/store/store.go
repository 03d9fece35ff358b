// Package store has the queries and the schema of the wing. Store keeps the cloud
// side: how the migration stands, its data in chunks, the parent maps, and the
// jobs beside it; Uploads keeps the files that come in; Source keeps the
// self-hosted side.
package store

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"sync"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
)

//go:embed migrations
var migrations embed.FS

// Migrations are the tables of the wing.
var Migrations = db.Migrations{Name: "threads", FS: migrations}

// Store keeps the migration, its data and the parent maps.
type Store struct {
	db      *db.DB
	Uploads *Uploads
	target  string // its name
	id      int64  // of the target

	mu      sync.Mutex
	changed []func()
}

// New makes a store on a migrated database whose parent maps are those of
// the target: threads.EmbeddedTarget, or the URL of a cloud site. Open must run before
// it is used.
func New(d *db.DB, target string) *Store {
	return &Store{db: d, Uploads: NewUploads(d), target: target}
}

// Open finds the target's maps.
func (s *Store) Open(ctx context.Context) error {
	const what = "opening the target"
	err := s.db.Do(ctx, what, `INSERT INTO threads_targets (name, version) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING`, s.target)
	if err != nil {
		return err
	}
	return s.db.Get(ctx, what, []any{&s.id}, `SELECT id FROM threads_targets WHERE name = $1`, s.target)
}

// Target is the target's name.
func (s *Store) Target() string { return s.target }

// Upload returns an upload that is a draft or taken.
func (s *Store) Upload(ctx context.Context, id int64) (threads.Upload, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (threads.Upload, error) { return findUpload(ctx, tx, id) })
}

// OnChange has f called after every change that a worker should look at.
func (s *Store) OnChange(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(s.changed, f)
}

// Changed calls what OnChange was given.
func (s *Store) Changed() {
	s.mu.Lock()
	list := s.changed
	s.mu.Unlock()
	for _, f := range list {
		f()
	}
}

// What the audit trail calls the migration.
const (
	auditArea   = "threads"
	auditObject = "migration"

	// A draft that took the place of another one.
	objectDraft   = "draft"
	actionReplace = "replace"
	draftOwner    = "from"
)

func record(ctx context.Context, tx *db.Tx, action, object string, before, after map[string]string) error {
	return audit.Record(ctx, tx, identity.WithActor(ctx, audit.Entry{
		Area: auditArea, Action: action, Object: object, Before: before, After: after,
	}))
}

// Trail returns what was done to the migration from a time on, the oldest first;
// of more than limit, the newest.
func (s *Store) Trail(ctx context.Context, since time.Time, limit int) (list []audit.Stored, err error) {
	list, err = db.Read(ctx, s.db, func(tx *db.Tx) ([]audit.Stored, error) {
		return audit.List(ctx, tx, audit.Visible{All: true}, audit.Filter{Area: auditArea, Object: auditObject, Since: since, Limit: limit})
	})
	if err != nil {
		return nil, fmt.Errorf("reading who did what: %w", err)
	}
	slices.Reverse(list)
	return list, nil
}

// fenced is fn under a worker's lease: threads.ErrOvertaken unless it is still the
// worker's.
func fenced(ctx context.Context, lease *db.Lease, fn func(tx *db.Tx) error) func(tx *db.Tx) error {
	return func(tx *db.Tx) error {
		err := tx.Fenced(ctx, lease.Name(), lease.Fence())
		switch {
		case fault.Is(err, fault.Conflict):
			return fmt.Errorf("%w: %w", threads.ErrOvertaken, err)
		case err != nil:
			return err
		}
		return fn(tx)
	}
}

// UnderWay reports whether a migration is being processed.
func UnderWay(ctx context.Context, tx *db.Tx) (yes bool, err error) {
	var n int
	err = tx.Get(ctx, "asking whether a migration is under way", []any{&n},
		`SELECT COUNT(*) FROM threads_migration WHERE phase = $1`, threads.PhaseProcessing)
	return n > 0, err
}
