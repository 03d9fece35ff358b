package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"outrigger/internal/fault"
)

// FileName is the SQLite database in a data folder.
const FileName = databaseFile

// LogName is its log, beside it while it is open or after an unclean end.
const LogName = logFile

// The files in the data folder.
const (
	databaseFile = "outrigger.db"
	logFile      = databaseFile + "-wal" // as SQLite names its write-ahead log
	lockFile     = "outrigger.lock"
)

// sqliteEngine is one file: a writer that owns the only writing connection,
// and read-only connections beside it.
type sqliteEngine struct {
	pool   *sql.DB
	clock  func() time.Time
	disk   *disk
	lock   *os.File
	writer *writer

	readers *readers

	once  sync.Once     // of close
	never chan struct{} // what lost gives: the OS lock dies only with the process
}

func openSQLite(ctx context.Context, o Options, m *metrics) (engine, error) {
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{
		clock: o.Clock,
		disk:  newDisk(o.Dir),
		lock:  lock,
		never: make(chan struct{}),
	}
	e.readers = newReaders(e.connectReader)
	first, err := e.open(ctx, o.Full)
	if err != nil {
		lock.Close()
		select {
		case err = <-e.disk.report:
		default:
		}
		return nil, unopened(err, o.Dir)
	}
	e.writer = newWriter(e.connectWriter, newCheckpointer(first, e.disk, o.Log, m), o.Clock, m)
	return e, nil
}

// unopened is the error of a database that cannot be opened.
func unopened(err error, dir string) error {
	var told *fault.Error
	switch {
	case errors.As(err, &told):
		return err
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return unwritable(err, dir)
	}
	return fault.Wrap(err, fault.Unavailable, "The database file %s in the folder %s cannot be opened. Look at its permissions and its disk.",
		databaseFile, dir)
}

// connect opens a connection with no statements prepared.
func (e *sqliteEngine) connect(ctx context.Context) (*session, error) {
	if err := e.disk.usable(); err != nil {
		return nil, err
	}
	conn, err := e.pool.Conn(ctx)
	if err != nil {
		return nil, e.disk.judge(err)
	}
	return &session{
		conn: conn, disk: e.disk, stmts: map[string]*sql.Stmt{}, bare: map[string]driver.Stmt{}, inserts: map[insertText]string{},
	}, nil
}

// connectWriter opens the writer's connection. It has more cache than the
// readers' 512 KiB, enough for the pages that a large transaction changes: of
// 256 events each costs 5 % more with half of that, and no less with twice. Each
// KiB takes two: the driver's allocator gives a page and its header the next
// power of two.
func (e *sqliteEngine) connectWriter(ctx context.Context) (*session, error) {
	ses, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := ses.conn.ExecContext(ctx, "PRAGMA cache_size = -2048"); err != nil { // KiB
		ses.close()
		return nil, err
	}
	return ses, nil
}

// connectReader opens a connection that only reads.
func (e *sqliteEngine) connectReader(ctx context.Context) (*session, error) {
	ses, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := ses.conn.ExecContext(ctx, "PRAGMA query_only = 1; PRAGMA cache_size = -512"); err != nil { // KiB
		ses.close()
		return nil, err
	}
	return ses, nil
}

func (e *sqliteEngine) read(ctx context.Context, fn func(*Tx) error) error {
	if err := e.disk.failure(); err != nil {
		return err
	}
	ses, err := e.readers.take(ctx)
	if err != nil {
		return err
	}
	tx := &Tx{ses: ses, dialect: SQLite, now: e.clock().UTC().Truncate(time.Microsecond)}
	if _, err = ses.exec(ctx, "BEGIN", nil); err == nil {
		err = tx.run(fn)
		// Not under ctx: it may have ended.
		if _, end := ses.exec(context.Background(), "ROLLBACK", nil); err == nil {
			err = end
		}
	}
	err = e.disk.judge(err)
	if err != nil && (tx.err != nil || ctx.Err() != nil) {
		ses.close() // interrupted or failed: the next reader gets a fresh one
		ses = nil
	}
	e.readers.give(ses)
	return err
}

func (e *sqliteEngine) write(ctx context.Context, fn func(*Tx) error, bulk bool) ([]func(), error) {
	c := newCall(ctx, fn)
	if err := e.writer.submit(bulk, c); err != nil {
		return nil, err
	}
	return c.wait()
}

func (e *sqliteEngine) change(ctx context.Context, fn func(*Tx) error) error {
	c := newCall(ctx, fn)
	c.schema = true
	if err := e.writer.submit(true, c); err != nil { // bulk work runs alone
		return err
	}
	_, err := c.wait()
	return err
}

func (e *sqliteEngine) writeEach(fns []func(*Tx) error) (after []func(), errs []error) {
	calls := make([]*call, len(fns))
	for i, fn := range fns {
		calls[i] = newCall(context.Background(), fn)
	}
	errs = make([]error, len(fns))
	if err := e.writer.submit(false, calls...); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return nil, errs
	}
	for i, c := range calls {
		var a []func()
		a, errs[i] = c.wait()
		after = append(after, a...)
	}
	return after, errs
}

func (e *sqliteEngine) lost() <-chan struct{} { return e.never }

func (e *sqliteEngine) failed() <-chan error { return e.disk.report }

func (e *sqliteEngine) close() (err error) {
	e.once.Do(func() {
		e.readers.close()
		moved := e.disk.look(0) // before the log is moved into the database and removed
		if err = errors.Join(e.writer.close(), e.pool.Close(), moved); err != nil {
			err = fmt.Errorf("closing the database: %w", err)
		}
		if e.disk.failure() == nil {
			e.disk.file.Close()
			e.lock.Close() // and the lock with it
		}
	})
	return err
}
