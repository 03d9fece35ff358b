package db

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// run takes the calls of group through one transaction.
func (w *writer) run(group []*call) {
	live := group[:0]
	for _, c := range group {
		if c.taken.CompareAndSwap(false, true) {
			w.metrics.wait.Observe(time.Since(c.queued).Seconds())
			live = append(live, c)
		}
	}
	if len(live) == 0 {
		return
	}
	err := errGone
	defer func() {
		if err = w.disk().judge(err); err != nil {
			w.discard() // whatever state the connection is in, the next group starts with a fresh one
		}
		if IsFull(err) {
			w.checkpoint.relieve()
		}
		for _, c := range live {
			c.finish(err)
		}
		if err == nil {
			w.checkpoint.committed(w.ses)
		}
	}()
	if live[0].schema {
		err = w.change(live[0])
		return
	}
	err = w.transaction(live)
}

// change is transaction for a change of the schema. For each page that an UPDATE
// changes, SQLite keeps what it was, so that it could undo that statement alone:
// of a million events 4 GB. So temporary storage is in the data folder meanwhile,
// where the database has its room too, in files that have no name.
func (w *writer) change(c *call) error {
	if err := w.connected(); err != nil {
		return err
	}
	folder := strings.ReplaceAll(w.disk().dir, "'", "''")
	if err := w.ses.script(context.Background(), "PRAGMA temp_store_directory = '"+folder+"'; PRAGMA temp_store = FILE"); err != nil {
		return fmt.Errorf("moving temporary storage to the disk: %w", err)
	}
	if err := w.transaction([]*call{c}); err != nil {
		return err // the connection goes
	}
	return w.exec("PRAGMA temp_store = MEMORY")
}

// errGone is for a group with a call that ended its goroutine.
var errGone = errors.New("db: a call of this group ended its goroutine")

// transaction runs the calls and commits. Its error is everyone's.
//
// For a savepoint SQLite sets aside each page that the calls before have
// changed. So there are none at first; where a call fails, all of them are
// undone and run again, each with one.
func (w *writer) transaction(calls []*call) error {
	if err := w.begin(); err != nil {
		return err
	}
	now := w.clock().UTC().Truncate(time.Microsecond)
	succeeded, err := w.runAll(calls, now)
	if err == nil && succeeded < len(calls) {
		if err = w.exec("ROLLBACK"); err != nil || len(calls) == 1 {
			return err
		}
		if err = w.exec("BEGIN IMMEDIATE"); err == nil {
			succeeded, err = w.runEach(calls, now)
		}
	}
	if err != nil {
		return err
	}
	if succeeded == 0 {
		return w.exec("ROLLBACK")
	}
	if err := w.reserve(); err != nil {
		return err
	}
	began := time.Now()
	if err := w.exec("COMMIT"); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	w.metrics.commit.Observe(time.Since(began).Seconds())
	w.metrics.commits.Inc()
	w.metrics.group.Observe(float64(succeeded))
	return nil
}

// runAll runs the calls up to the first that fails.
func (w *writer) runAll(calls []*call, now time.Time) (succeeded int, err error) {
	for _, c := range calls {
		if err := w.one(c, now); err != nil {
			return 0, err
		}
		if c.err != nil {
			break
		}
		succeeded++
	}
	return succeeded, nil
}

// runEach runs the calls so that one that fails undoes nothing of the others.
func (w *writer) runEach(calls []*call, now time.Time) (succeeded int, err error) {
	for _, c := range calls {
		if err := w.exec("SAVEPOINT c"); err != nil {
			return 0, err
		}
		if err := w.one(c, now); err != nil {
			return 0, err
		}
		end := "RELEASE c"
		if c.err != nil {
			end = "ROLLBACK TO c; RELEASE c"
		} else {
			succeeded++
		}
		if err := w.exec(end); err != nil {
			return 0, err
		}
	}
	return succeeded, nil
}

// one runs one call, whose own error it keeps. The error returned is one that
// ends the transaction for everyone.
func (w *writer) one(c *call, now time.Time) error {
	tx := &Tx{ses: w.ses, dialect: SQLite, now: now, ctx: context.Background()}
	if c.schema {
		tx.ctx = c.ctx // it may take minutes
	}
	c.err = tx.run(c.fn)
	c.after = tx.after
	if err := c.err; err != nil && outage(err) != "" {
		c.err = nil
		return err // SQLite may have rolled back everything by itself
	}
	return nil
}

func (w *writer) begin() error {
	if err := w.connected(); err != nil {
		return err
	}
	return w.exec("BEGIN IMMEDIATE")
}

// connected sees to it that there is a connection.
func (w *writer) connected() error {
	if err := w.disk().usable(); err != nil {
		return err
	}
	if w.ses == nil {
		ses, err := w.connect(context.Background())
		if err != nil {
			return err
		}
		w.ses = ses
	}
	return nil
}

// reserve sets aside what the transaction has the database file grow by.
func (w *writer) reserve() error {
	var pages int64
	if err := w.ses.queryRow(context.Background(), "PRAGMA page_count", nil).Scan(&pages); err != nil {
		return err
	}
	return w.disk().reserve(pages * w.disk().pageSize)
}

func (w *writer) exec(q string) error {
	_, err := w.ses.exec(context.Background(), q, nil)
	return err
}

// discard closes the connection, which rolls back what is open on it.
func (w *writer) discard() {
	if w.ses != nil {
		w.ses.close()
		w.ses = nil
	}
}
