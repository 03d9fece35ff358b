package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"outrigger/internal/fault"
)

const (
	// Connections of one node: with the lock's own 17, so that five nodes fit
	// PostgreSQL's default of 100.
	postgresWriters = 8
	postgresReaders = 8

	// txTime bounds a transaction, so that a server that went away without a
	// word blocks no caller for ever. Hot writes take milliseconds.
	txTime = 30 * time.Second

	// connectTime bounds a connection attempt.
	connectTime = 5 * time.Second

	// maxTries is how often a transaction runs when PostgreSQL undoes it for a
	// serialization failure or a deadlock; the random pause between two tries
	// is up to retryPause, doubled each time.
	maxTries   = 5
	retryPause = 10 * time.Millisecond
)

// postgresEngine is two pools, so that readers take no writer's connection.
type postgresEngine struct {
	writers *sql.DB
	readers *sql.DB
	metrics *metrics
	lock    *nodeLock
	txTime  time.Duration // bounds a transaction
	bulk    chan struct{} // one slot: one slice of bulk work at a time
	hot     gauge

	mu     sync.Mutex
	closed bool
}

func openPostgres(ctx context.Context, o Options, m *metrics) (engine, error) {
	if o.NodeID == "" {
		return nil, fault.New(fault.Invalid, "A node that uses PostgreSQL needs a node_id.")
	}
	cfg, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "The database_url is not a PostgreSQL URL.")
	}
	configure(cfg)
	lock, err := lockNode(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	e := &postgresEngine{metrics: m, lock: lock, txTime: txTime, bulk: make(chan struct{}, 1)}
	e.writers = pool(cfg, postgresWriters)
	e.readers = pool(cfg, postgresReaders)
	return e, nil
}

// configure sets what every connection needs, unless the URL says otherwise.
func configure(cfg *pgx.ConnConfig) {
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTime
	}
	cfg.RuntimeParams["synchronous_commit"] = "on" // a commit is on the disk before it is acknowledged
	for name, value := range map[string]string{
		"application_name":                    "outrigger",
		"idle_in_transaction_session_timeout": strconv.FormatInt(txTime.Milliseconds(), 10),
		// A server that lost sight of this node drops its sessions, and with
		// them the node lock, within 11 s.
		"tcp_keepalives_idle":     "5",
		"tcp_keepalives_interval": "2",
		"tcp_keepalives_count":    "3",
	} {
		if _, ok := cfg.RuntimeParams[name]; !ok {
			cfg.RuntimeParams[name] = value
		}
	}
}

func pool(cfg *pgx.ConnConfig, size int) *sql.DB {
	p := stdlib.OpenDB(*cfg)
	p.SetMaxOpenConns(size)
	p.SetMaxIdleConns(size)
	p.SetConnMaxIdleTime(5 * time.Minute)
	return p
}

func (e *postgresEngine) read(ctx context.Context, fn func(*Tx) error) error {
	bounded, cancel := context.WithTimeout(ctx, e.txTime)
	defer cancel()
	tx, err := e.begin(bounded, e.readers, "begin isolation level repeatable read, read only")
	if err != nil {
		return ended(ctx, err)
	}
	defer tx.ses.conn.Close()
	err = tx.run(fn)
	tx.rollback()
	return ended(ctx, err)
}

// ended prefers the error of a ctx that ended over what that did to a query.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (e *postgresEngine) write(ctx context.Context, fn func(*Tx) error, bulk bool) ([]func(), error) {
	if bulk {
		leave, err := e.yield(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
	} else {
		e.hot.add(1)
		defer e.hot.add(-1)
	}
	return e.retry(ctx, fn, func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.WithoutCancel(ctx), e.txTime)
	})
}

// change has no limit but the caller's: to build an index may take minutes, and so
// may waiting for another node that does.
func (e *postgresEngine) change(ctx context.Context, fn func(*Tx) error) error {
	unlimited := func(tx *Tx) error {
		// A role may have one for its ordinary statements.
		if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
		return fn(tx)
	}
	_, err := e.retry(ctx, unlimited, func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) })
	return err
}

// retry runs fn in a transaction, under the context that bound makes, again where
// PostgreSQL took it back.
func (e *postgresEngine) retry(
	ctx context.Context, fn func(*Tx) error, bound func() (context.Context, context.CancelFunc),
) ([]func(), error) {
	queued := time.Now()
	for try := 1; ; try++ {
		after, err := e.once(ctx, queued, fn, bound)
		if err == nil || try == maxTries || !undone(err) {
			return after, err
		}
		// Those who met do not meet again at once.
		select {
		case <-time.After(rand.N(retryPause << try)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// undone reports whether PostgreSQL took the transaction back for the sake of
// another, so that it may be tried again.
func undone(err error) bool {
	var p *pgconn.PgError
	return errors.As(err, &p) && (p.Code == "40001" || p.Code == "40P01")
}

// once runs fn in a transaction. Waiting for a connection is under ctx, the
// rest is under what bound makes. For ordinary writes that is not ctx: they are
// short, and a caller that leaves must not leave a commit of unknown outcome behind.
func (e *postgresEngine) once(
	ctx context.Context, queued time.Time, fn func(*Tx) error, bound func() (context.Context, context.CancelFunc),
) ([]func(), error) {
	tx, err := e.begin(ctx, e.writers, "begin isolation level read committed")
	if err != nil {
		return nil, ended(ctx, err)
	}
	defer tx.ses.conn.Close()
	e.metrics.wait.Observe(time.Since(queued).Seconds())
	bounded, cancel := bound()
	defer cancel()
	tx.ctx = bounded
	if err := tx.run(fn); err != nil {
		tx.rollback()
		return nil, err
	}
	began := time.Now()
	if err := tx.commit(bounded); err != nil {
		return nil, err
	}
	e.metrics.commit.Observe(time.Since(began).Seconds())
	e.metrics.commits.Inc()
	e.metrics.group.Observe(1)
	return tx.after, nil
}

// begin takes a connection and starts a transaction, asking for the time in
// the same round trip. Connections that turn out to be broken are thrown away.
func (e *postgresEngine) begin(ctx context.Context, from *sql.DB, how string) (*Tx, error) {
	const clock = "; select (extract(epoch from now()) * 1000000)::bigint"
	for try := 0; ; try++ {
		if e.isClosed() {
			return nil, errClosed
		}
		conn, err := from.Conn(ctx)
		if err != nil {
			return nil, err
		}
		tx := &Tx{ses: &session{conn: conn}, dialect: Postgres}
		err = simple(ctx, conn, how+clock, func(r []*pgconn.Result) error {
			us, err := strconv.ParseInt(string(r[1].Rows[0][0]), 10, 64)
			tx.now = Time(us)
			return err
		})
		if err == nil {
			return tx, nil
		}
		conn.Close()
		// Nothing has run yet, so after a restart of the server every idle
		// connection may fail here and the next be tried.
		if try >= postgresWriters || ctx.Err() != nil || outage(err) == "" {
			return nil, err
		}
	}
}

// simple sends SQL as it is, in one round trip. When it fails the connection
// is thrown away.
func simple(ctx context.Context, conn *sql.Conn, q string, results func([]*pgconn.Result) error) error {
	var failed error
	err := conn.Raw(func(dc any) error {
		r, err := dc.(*stdlib.Conn).Conn().PgConn().Exec(ctx, q).ReadAll()
		if err == nil {
			err = results(r)
		}
		if failed = err; err != nil {
			return driver.ErrBadConn
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

func (tx *Tx) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	// A failure throws the connection away, and that is a rollback too.
	simple(ctx, tx.ses.conn, "rollback", func([]*pgconn.Result) error { return nil })
}

// errNotCommitted is PostgreSQL's answer ROLLBACK to a commit.
var errNotCommitted = errors.New("db: the database rolled the transaction back at its commit")

func (tx *Tx) commit(ctx context.Context) error {
	err := simple(ctx, tx.ses.conn, "commit", func(r []*pgconn.Result) error {
		if r[0].CommandTag.String() != "COMMIT" {
			return errNotCommitted
		}
		return nil
	})
	var answered *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answered), errors.Is(err, errNotCommitted):
		return fmt.Errorf("committing: %w", err)
	}
	return fault.Wrap(err, fault.Unavailable, "The connection to the database was lost while saving. The change may or may not have "+
		"been saved. Check, and try again.")
}

func (e *postgresEngine) writeEach(fns []func(*Tx) error) (after []func(), errs []error) {
	errs = make([]error, len(fns))
	for i, fn := range fns {
		var a []func()
		a, errs[i] = e.write(context.Background(), fn, false)
		after = append(after, a...)
	}
	return after, errs
}

func (e *postgresEngine) lost() <-chan struct{} { return e.lock.taken }

func (e *postgresEngine) failed() <-chan error { return nil } // its disk is the server's

func (e *postgresEngine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

func (e *postgresEngine) close() error {
	e.mu.Lock()
	was := e.closed
	e.closed = true
	e.mu.Unlock()
	if was {
		return nil
	}
	err := errors.Join(e.readers.Close(), e.writers.Close())
	e.lock.close()
	return err
}
