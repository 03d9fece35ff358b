// Package db opens the one database of the program, SQLite or PostgreSQL, and
// gives short transactions, group commit, migrations and leases on it.
//
// One SQL text serves both databases: placeholders are $1, $2 …; times are
// integer microseconds (Micros, Time); truth values are the integers 0 and 1.
// A statement that fails ends its transaction on both, so expected collisions
// are written as ON CONFLICT, and IsUnique looks at what Write returned.
package db

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/fault"
)

// Release counts the releases of the program that changed the schema. A
// database that says it needs a higher one is refused by Migrate.
const Release = 1

// Dialect is the kind of the database, for the few statements that differ.
type Dialect string

// The two databases.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Options say which database to open.
type Options struct {
	URL     string // postgres://…; empty is SQLite in Dir/outrigger.db
	Dir     string // the data folder, which must exist; SQLite only
	NodeID  string // this node among those that share the database; PostgreSQL needs one
	Alone   bool   // no other node may use the database: fault.Conflict where one does; PostgreSQL only, SQLite never has two
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: the figures are kept but not shown
	Clock   func() time.Time      // SQLite's clock; nil is time.Now. PostgreSQL has its own
	Full    func(why error)       // SQLite only: Open waits for a full disk to have room, and says so; nil: Open fails
}

// engine is what the two databases do differently.
type engine interface {
	read(ctx context.Context, fn func(*Tx) error) error
	write(ctx context.Context, fn func(*Tx) error, bulk bool) (after []func(), err error)
	writeEach(fns []func(*Tx) error) (after []func(), errs []error)
	// change is write for the schema: alone, in no bounded time, in bounded memory, and until ctx ends.
	change(ctx context.Context, fn func(*Tx) error) error
	lost() <-chan struct{}
	failed() <-chan error
	close() error
}

// DB is an open database. Its methods may be called by several goroutines.
type DB struct {
	dialect Dialect
	engine  engine
	log     *slog.Logger
	metrics *metrics
	refused atomic.Pointer[fault.Error] // what CheckRelease found; nil: nothing
	trouble chan struct{}               // one slot
}

// Open opens the database and takes the lock on this node's place in it. When
// another process has that place, the error is fault.Conflict; when the
// database does not answer, fault.Unavailable.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	m := newMetrics(o.Metrics)
	d := &DB{dialect: SQLite, log: o.Log, metrics: m, trouble: make(chan struct{}, 1)}
	var err error
	if o.URL != "" {
		d.dialect = Postgres
		d.engine, err = openPostgres(ctx, o, m)
	} else {
		d.engine, err = openSQLite(ctx, o, m)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Close waits for the writes that are under way, closes the database and lets
// go of the node lock. Writes that come later are fault.Unavailable. After
// ErrDisk it leaves the files as they are, and the lock to the end of the process.
// The error is ErrMoved where the files are not those that were opened.
func (d *DB) Close() error { return d.engine.close() }

// Lost is closed when another process has taken this node's place in the
// database: the process must stop. It can happen on PostgreSQL only, after the
// connection that held the lock was lost.
func (d *DB) Lost() <-chan struct{} { return d.engine.lost() }

// Failed returns an error once, which is ErrDisk, when the disk below SQLite
// failed in a way after which its files cannot be trusted: nothing is written or
// read any more, and the process must end at once. The next Open recovers.
func (d *DB) Failed() <-chan error { return d.engine.failed() }

// Dialect says which database it is.
func (d *DB) Dialect() Dialect { return d.dialect }

// Read runs fn in a read-only transaction that sees one state of the database.
// Keep it short, and write nothing meanwhile: cut a large read into key ranges,
// a Read each. An error that comes from the database being away is
// fault.Unavailable.
func (d *DB) Read(ctx context.Context, fn func(tx *Tx) error) error {
	if refused := d.refused.Load(); refused != nil {
		return refused
	}
	return public(d.engine.read(ctx, fn))
}

// Write runs fn in a transaction and returns when it is committed and synced.
// It returns fn's error and stores nothing if fn fails or panics. fn may run
// more than once, does no input or output of its own, calls no method of DB or
// Batch, and returns soon: others wait behind it.
//
// A ctx that ends before fn has begun gives its error; later it is ignored,
// since the outcome is near. A commit that failed, or whose outcome is unknown
// because the connection was lost, is fault.Unavailable.
func (d *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return d.write(ctx, fn, false)
}

// WriteBulk is Write for work that can wait: it lets Write and Batch go first.
// Cut it into slices of about 20 ms.
func (d *DB) WriteBulk(ctx context.Context, fn func(tx *Tx) error) error {
	return d.write(ctx, fn, true)
}

func (d *DB) write(ctx context.Context, fn func(tx *Tx) error, bulk bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	after, err := d.commit(ctx, fn, bulk)
	for _, f := range after {
		f()
	}
	return public(err)
}

// commit is write without what follows it.
func (d *DB) commit(ctx context.Context, fn func(tx *Tx) error, bulk bool) (after []func(), err error) {
	if refused := d.refused.Load(); refused != nil {
		return nil, refused
	}
	after, err = d.engine.write(ctx, fn, bulk)
	if err != nil && fault.CodeOf(public(err)) == fault.Unavailable {
		select {
		case d.trouble <- struct{}{}:
		default:
		}
	}
	return after, err
}

// Trouble has something when a write has failed because of the database or its
// disk, since it was received from last.
func (d *DB) Trouble() <-chan struct{} { return d.trouble }

// Room is nil where SQLite's disk takes data, as far as is known: after it has
// refused some for being full or read-only, Room tries. A small write may succeed
// there all the same, in the room that the log has.
func (d *DB) Room() error {
	if e, ok := d.engine.(*sqliteEngine); ok {
		return e.disk.room()
	}
	return nil
}

// Now is the database's clock.
func (d *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = d.Read(ctx, func(tx *Tx) error {
		now = tx.Now()
		return nil
	})
	return now, err
}

// Ping asks whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	return d.Read(ctx, func(tx *Tx) error {
		var one int
		return tx.QueryRow(ctx, `SELECT 1`).Scan(&one)
	})
}

var errClosed = fault.New(fault.Unavailable, "The database is closed, because the program is stopping.")

// public turns an error of the database being away, full or read-only into a
// fault that says so, and leaves every other error alone.
func public(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	if why := outage(err); why != "" {
		return fault.Wrap(err, fault.Unavailable, "%s", why)
	}
	return err
}
