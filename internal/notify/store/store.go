// Package store has all SQL of chat notifications: rules, connections and hooks, events,
// channels and deliveries, with the tables that they are in.
package store

import (
	"context"
	"embed"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

//go:embed migrations
var migrations embed.FS

// Migrations create the tables.
var Migrations = db.Migrations{Name: "notify", FS: migrations}

// Store keeps rules, channels, events and deliveries.
type Store struct {
	db      *db.DB
	box     *secret.Box
	log     *slog.Logger
	rules   atomic.Pointer[notify.RuleSet]
	events  *db.Batch[*notify.Receipt]
	results *db.Batch[*notify.Result]
	counts  *deliveryCounts
	tally   tally
	runs    *runCounts

	file     atomic.Pointer[notify.Connections] // of the configuration file
	kinds    map[string]notify.Decoder          // by the kind of platform
	renewing singleflight.Group

	refresh work.PeriodicWorker // of the rules
	// enqueued is told of every delivery right after its commit, and moved
	// of every channel whose waiting deliveries changed otherwise.
	enqueued func([]*notify.Delivery)
	moved    func(channelID int64)
}

// New returns a store on a migrated database. Load must run before events come in.
func New(d *db.DB, box *secret.Box, log *slog.Logger) *Store {
	s := &Store{
		db: d, box: box, log: log,
		enqueued: func([]*notify.Delivery) {},
		moved:    func(int64) {},
	}
	size := maxBatch
	if d.Dialect() == db.SQLite {
		size = maxBatchSQLite
	}
	s.events = db.NewBatch(d, "events", size, s.writeReceipts)
	s.results = db.NewBatch(d, "results", size, s.writeResults)
	s.rules.Store(&notify.RuleSet{})
	s.file.Store(&notify.Connections{})
	return s
}

const (
	// maxBatch is how many events or results go into one transaction: as many
	// as the database's own group commit takes. With a quarter of it
	// PostgreSQL takes a seventh fewer events.
	maxBatch = 256
	// maxBatchSQLite is smaller, so that those who wait go on in several lots, each
	// while the next is written: SQLite takes 4 % more events that way, in less memory.
	maxBatchSQLite = 64
)

// OnChange sets what is called with new deliveries, and with channels whose queue
// changed in another way. It must be called before the store is used.
func (s *Store) OnChange(enqueued func([]*notify.Delivery), moved func(channelID int64)) {
	s.enqueued, s.moved = enqueued, moved
}

// Now is the database's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.db.Now(ctx) }

// Rules returns the present set of enabled rules on this node.
func (s *Store) Rules() *notify.RuleSet { return s.rules.Load() }

// Load reads the rules. It is cheap when they have not changed.
func (s *Store) Load(ctx context.Context) error {
	set, err := db.Read(ctx, s.db, func(tx *db.Tx) (*notify.RuleSet, error) { return s.load(ctx, tx) })
	if err == nil {
		s.swapRules(set)
	}
	return err
}

// load returns the rules as tx sees them. What another call of its group commit
// wrote may yet be undone, so no other call uses them before the commit.
func (s *Store) load(ctx context.Context, tx *db.Tx) (*notify.RuleSet, error) {
	now := s.rules.Load()
	generation, platforms, err := readGeneration(ctx, tx)
	if err != nil || generation == now.Generation {
		return now, err
	}
	rules, err := readEnabled(ctx, tx, now)
	if err != nil {
		return nil, err
	}
	set, broken := now.Next(generation, rules)
	if set.Reports, err = readReportTargets(ctx, tx); err != nil {
		return nil, err
	}
	if set.Platforms = now.Platforms; set.Platforms == nil || set.Platforms.Count != platforms {
		if set.Platforms, err = s.readPlatforms(ctx, tx, platforms); err != nil {
			return nil, err
		}
	}
	for id, err := range broken {
		s.log.Warn("a rule matches nothing until it is edited", "rule", id, "error", err)
	}
	return set, nil
}

// swapRules puts a committed set of rules into use on this node.
func (s *Store) swapRules(set *notify.RuleSet) {
	for {
		old := s.rules.Load()
		if old.Generation >= set.Generation || s.rules.CompareAndSwap(old, s.withFile(set)) {
			return
		}
	}
}

// refreshEvery bounds how long a disabled rule of another node may still be
// sent for; its own node knows when the save returns.
const refreshEvery = time.Second

// idleEvery is the pause where nothing changes by itself.
const idleEvery = time.Hour

// Start keeps the rules fresh until Stop.
func (s *Store) Start(ctx context.Context) {
	failing := false
	pause := func() time.Duration {
		if s.db.Dialect() == db.SQLite && !failing {
			return idleEvery // every save is this process's own
		}
		return refreshEvery
	}
	s.refresh.Start(ctx, pause(), func(ctx context.Context) time.Duration {
		err := s.Load(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			s.log.Error("rules could not be read again; the last ones hold", "error", err)
		}
		failing = err != nil
		return pause()
	})
}

// Stop ends what Start began.
func (s *Store) Stop() { s.refresh.Stop() }

// changeRules writes a change of rules.
func (s *Store) changeRules(ctx context.Context, change func(tx *db.Tx) error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := s.beginRulesChange(ctx, tx); err != nil {
			return err
		}
		return change(tx)
	})
}

// beginRulesChange must be the first statement of a change of rules: the change
// then waits for the events that are being committed while it holds nothing that
// they need. As soon as tx is committed, this node uses the new rules.
func (s *Store) beginRulesChange(ctx context.Context, tx *db.Tx) error {
	if err := lockGeneration(ctx, tx); err != nil {
		return err
	}
	if err := tx.Do(ctx, "counting generation", `UPDATE notify_generation SET generation = generation + 1`); err != nil {
		return err
	}
	tx.AfterCommit(func() { s.reload(ctx) })
	return nil
}

// reload loads the rules now, or leaves it to refresh when that fails.
func (s *Store) reload(ctx context.Context) {
	if s.Load(context.WithoutCancel(ctx)) != nil {
		s.refresh.Wake()
	}
}

// generationLock is the advisory lock that commits of events share and saves
// of rules hold alone, so that an event acknowledged after a save was matched
// against it. The number only has to be ours.
const generationLock = 0x6f7574726967 // "outrig"

// lockGeneration keeps everything that is matched against rules out until the end
// of tx.
func lockGeneration(ctx context.Context, tx *db.Tx) error {
	return lockOn(ctx, tx, `SELECT pg_advisory_xact_lock($1)`)
}

// shareGeneration keeps saves of rules out until the end of tx. Like
// lockGeneration it comes before any row that a save needs.
func shareGeneration(ctx context.Context, tx *db.Tx) error {
	return lockOn(ctx, tx, `SELECT pg_advisory_xact_lock_shared($1)`)
}

func lockOn(ctx context.Context, tx *db.Tx, lock string) error {
	if tx.Dialect() != db.Postgres { // SQLite has one writer
		return nil
	}
	return tx.Do(ctx, "locking generation", lock, generationLock)
}

func readGeneration(ctx context.Context, tx *db.Tx) (generation, platforms int64, err error) {
	err = tx.Get(ctx, "reading generation", []any{&generation, &platforms}, `SELECT generation, platforms FROM notify_generation`)
	return generation, platforms, err
}
