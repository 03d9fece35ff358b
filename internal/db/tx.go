package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"outrigger/internal/fault"
)

// Tx is one transaction, used by one goroutine while Read, Write or a Batch
// runs its function.
type Tx struct {
	ses     *session
	dialect Dialect
	now     time.Time
	ctx     context.Context // what statements run under; nil: what the caller gives. A running write is not interrupted
	open    *sql.Rows       // the last rows given out
	err     error           // the first statement that failed; nothing runs after it
	after   []func()
}

var errRowsOpen = errors.New("db: rows of an earlier query are still open")

// Dialect says which database it is.
func (tx *Tx) Dialect() Dialect { return tx.dialect }

// Now is the time of the transaction: the database's clock at its beginning,
// the same for its whole length, in whole microseconds.
func (tx *Tx) Now() time.Time { return tx.now }

// AfterCommit has f called once the transaction is committed, before Write
// returns; f is not called if it fails.
func (tx *Tx) AfterCommit(f func()) { tx.after = append(tx.after, f) }

// ForUpdate returns what ends a SELECT whose rows the transaction then changes: on
// PostgreSQL, where others may write meanwhile, a lock; on SQLite, which has one
// writer, nothing.
func (tx *Tx) ForUpdate() string {
	if tx.dialect == Postgres {
		return ` FOR UPDATE`
	}
	return ""
}

// Exec runs a statement and says how many rows it changed.
func (tx *Tx) Exec(ctx context.Context, q string, args ...any) (int64, error) {
	if err := tx.ready(); err != nil {
		return 0, err
	}
	n, err := tx.ses.exec(tx.context(ctx), q, args)
	return n, tx.note(err)
}

// Do is Exec for a statement whose number of rows does not matter. An error begins with
// what was being done, as in "deleting tokens".
func (tx *Tx) Do(ctx context.Context, what, q string, args ...any) error {
	_, err := tx.Changed(ctx, what, q, args...)
	return err
}

// DoAll is Do for several statements with the same arguments.
func (tx *Tx) DoAll(ctx context.Context, what string, statements []string, args ...any) error {
	for _, q := range statements {
		if err := tx.Do(ctx, what, q, args...); err != nil {
			return err
		}
	}
	return nil
}

// Changed is Do, and says how many rows the statement changed.
func (tx *Tx) Changed(ctx context.Context, what, q string, args ...any) (int64, error) {
	n, err := tx.Exec(ctx, q, args...)
	return n, doing(what, err)
}

// ChangeOne is Do for a statement that changes a row. It returns none where there is no such row.
func (tx *Tx) ChangeOne(ctx context.Context, what string, none error, q string, args ...any) error {
	n, err := tx.Changed(ctx, what, q, args...)
	if err == nil && n == 0 {
		return none
	}
	return err
}

// doing says of an error what was being done.
func doing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Query runs a query. Its rows must be closed before the next statement.
func (tx *Tx) Query(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	if err := tx.ready(); err != nil {
		return nil, err
	}
	rows, err := tx.ses.query(tx.context(ctx), q, args)
	if err != nil {
		return nil, tx.note(err)
	}
	tx.open = rows
	return rows, nil
}

// QueryRow runs a query of at most one row. Scan gives its error, and
// sql.ErrNoRows when there is none.
func (tx *Tx) QueryRow(ctx context.Context, q string, args ...any) *sql.Row {
	ctx = tx.context(ctx)
	if err := tx.ready(); err != nil {
		// A sql.Row with an error can only be had from a query that fails.
		ended, end := context.WithCancelCause(ctx)
		end(err)
		return tx.ses.conn.QueryRowContext(ended, q, args...)
	}
	row := tx.ses.queryRow(ctx, q, args)
	tx.note(row.Err())
	return row
}

// Get scans the one row that a query has.
func (tx *Tx) Get(ctx context.Context, what string, into []any, q string, args ...any) error {
	return doing(what, tx.QueryRow(ctx, q, args...).Scan(into...))
}

// Find scans the row that a query has, if there is one.
func (tx *Tx) Find(ctx context.Context, what string, into []any, q string, args ...any) (found bool, err error) {
	err = tx.Get(ctx, what, into, q, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// FindOne is Get for a row that may not be there. It returns none where there is no such row.
func (tx *Tx) FindOne(ctx context.Context, what string, none error, into []any, q string, args ...any) error {
	found, err := tx.Find(ctx, what, into, q, args...)
	if err == nil && !found {
		return none
	}
	return err
}

// Fenced is fault.Conflict unless fence is still the fence of the lease: what
// a holder writes is refused once another holder has taken the lease. Until the
// transaction ends it cannot be taken.
func (tx *Tx) Fenced(ctx context.Context, name string, fence int64) error {
	return tx.FencedAll(ctx, map[string]int64{name: fence})
}

// FencedAll is Fenced for several leases, given with their fences.
func (tx *Tx) FencedAll(ctx context.Context, fences map[string]int64) error {
	if len(fences) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(fences))
	// Those of one kind are side by side, so that a range has few others.
	q, args := `SELECT name, fence FROM leases WHERE name >= $1 AND name <= $2`, []any{names[0], names[len(names)-1]}
	if tx.dialect == Postgres {
		// Against Acquire's FOR UPDATE, which locks in the same order; renewals need not wait.
		q, args = `SELECT name, fence FROM leases WHERE name = ANY($1) ORDER BY name FOR KEY SHARE`, []any{names}
	}
	var name string
	var fence int64
	if err := tx.EachRow(ctx, "reading fences of leases", func(row Row) error {
		if err := row.Scan(&name, &fence); err != nil {
			return err
		}
		if i, asked := slices.BinarySearch(names, name); asked && fences[name] == fence {
			names = slices.Delete(names, i, i+1)
		}
		return nil
	}, q, args...); err != nil {
		return err
	}
	if len(names) > 0 {
		return fault.New(fault.Conflict, "Another node has taken over %s.", names[0])
	}
	return nil
}

// context is what a statement runs under.
func (tx *Tx) context(ctx context.Context) context.Context {
	if tx.ctx != nil {
		return tx.ctx
	}
	return ctx
}

// note keeps the first error of a statement.
func (tx *Tx) note(err error) error {
	if err != nil && tx.err == nil {
		tx.err = err
	}
	return err
}

// ready reports whether a statement may run. PostgreSQL runs none while rows are
// open or after one has failed, so SQLite must not either.
func (tx *Tx) ready() error {
	if tx.err != nil {
		return fmt.Errorf("db: an earlier statement of this transaction failed: %w", tx.err)
	}
	if tx.open == nil {
		return nil
	}
	if _, err := tx.open.Columns(); err == nil {
		return tx.note(errRowsOpen)
	}
	err := tx.open.Err()
	tx.open = nil
	return tx.note(err)
}

// run calls fn, turns a panic into an error, and lets nothing pass for success
// after a statement failed.
func (tx *Tx) run(fn func(*Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
		if tx.open != nil {
			tx.open.Close()
		}
	}()
	err = fn(tx)
	if tx.err != nil && outage(tx.err) != "" {
		return tx.err // whatever fn made of it
	}
	if err != nil {
		return err
	}
	return tx.ready()
}
