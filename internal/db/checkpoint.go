package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	// logBytes is how long the write-ahead log gets before it is moved into the
	// database file. While that file is synced all commits are slow: moving it
	// twice a second instead of eight times lets a twelfth more events through
	// under full load, and a restart after a crash still reads the 64 MiB in a
	// tenth of a second.
	logBytes = 64 << 20

	// leastBytes keeps checkpoints of a small database rare. Beside one whose file
	// is larger, the log is moved when it is as long as that file.
	leastBytes = 16 << 20

	// lastBytes are so few that the writer moves them itself.
	lastBytes = 4 << 20
)

// checkpointer moves the write-ahead log into the database file beside the
// writer, on a connection of its own. What was written meanwhile the writer
// moves itself, between two transactions, and a new log begins. If it moved
// everything, all writes would wait for the sync of the database file, for 10 ms
// several times a second under full load.
//
// Neither waits for readers, and readers that overlap would let the log grow
// without end. At twice its length the writer waits for them, and empties it.
type checkpointer struct {
	ses     *session // of its own
	disk    *disk
	log     *slog.Logger
	metrics *metrics
	failing atomic.Bool   // the last attempt to move it did, and that is logged
	asked   chan struct{} // one slot
	moved   chan struct{} // one slot
	through chan struct{} // closed when the goroutine has ended

	// The writer's own:
	moving bool
	most   int64 // how many bytes the log gets beside a large database
	length int64 // how many it gets
	due    int64 // how many it has when it is moved next
	trimAt int64 // its size at which trim is due
}

func newCheckpointer(ses *session, k *disk, log *slog.Logger, m *metrics) *checkpointer {
	c := &checkpointer{
		ses: ses, disk: k, log: log, metrics: m,
		asked: make(chan struct{}, 1), moved: make(chan struct{}, 1), through: make(chan struct{}),
	}
	c.bound(logBytes)
	go c.loop()
	return c
}

// bound sets how long the log gets at most.
func (c *checkpointer) bound(bytes int64) {
	c.most = bytes
	c.measure()
}

// measure sets how long the log gets, by the size of the database file.
func (c *checkpointer) measure() {
	c.length = min(max(c.disk.size(databaseFile), leastBytes), c.most)
	c.due, c.trimAt = c.length, c.limit()
	c.disk.needs.Store(c.limit())
}

// limit is the size in bytes past which the log is emptied.
func (c *checkpointer) limit() int64 { return 2 * c.length }

// bytes is how many a number of pages has.
func (c *checkpointer) bytes(pages int) int64 { return int64(pages) * c.disk.pageSize }

// relieve has a log that a full disk lets grow no more begin anew, in the room that
// it has. Where it cannot be moved now, that is tried after the next commit.
func (c *checkpointer) relieve() {
	select {
	case <-c.moved:
		c.moving = false
	default:
	}
	if !c.moving {
		_, _, _ = c.run(c.ses, "PASSIVE")
	}
}

// close ends the goroutine, moves what the log has and closes the connection,
// which is the last one. No committed may follow.
func (c *checkpointer) close() error {
	close(c.asked)
	<-c.through
	if _, _, err := c.run(c.ses, "PASSIVE"); err != nil {
		c.ses.close()
		return fmt.Errorf("moving the log: %w", err)
	}
	return c.ses.close()
}

func (c *checkpointer) loop() {
	defer close(c.through)
	for range c.asked {
		c.move()
		c.moved <- struct{}{}
	}
}

// move copies what the log has, and again what came meanwhile, until little is
// left, or a reader needs what would be overwritten.
func (c *checkpointer) move() {
	for range 4 { // each takes a fraction of the one before, unless the disk is slower than the writer
		logged, moved, err := c.run(c.ses, "PASSIVE")
		if err != nil || moved < logged {
			return
		}
		if logged, _, err = c.run(c.ses, "NOOP"); err != nil || c.bytes(logged-moved) <= lastBytes {
			return
		}
	}
}

// run is checkpoint, whose failures are noted: one that is not final leaves a log
// that grows, to where trim finds it.
func (c *checkpointer) run(ses *session, mode string) (logged, moved int, err error) {
	if err := c.disk.failure(); err != nil {
		return 0, 0, err
	}
	logged, moved, err = checkpoint(ses, mode)
	err = c.disk.judge(err)
	if mode == "NOOP" {
		return logged, moved, err
	}
	c.disk.unreserved()
	if was := c.failing.Swap(err != nil); err != nil && !was && !errors.Is(err, ErrDisk) {
		c.log.Warn("the log of the database could not be moved into its file; will try on", "error", err)
	}
	return logged, moved, err
}

// committed is called by the writer after each commit.
func (c *checkpointer) committed(ses *session) {
	if c.moving {
		c.timed("finish", c.finish, ses)
	} else {
		c.timed("begin", c.begin, ses)
	}
	c.timed("trim", c.trim, ses)
}

func (c *checkpointer) timed(step string, do func(*session), ses *session) {
	began := time.Now()
	do(ses)
	c.metrics.log.WithLabelValues(step).Observe(time.Since(began).Seconds())
}

// begin has the log moved where it is long enough.
func (c *checkpointer) begin(ses *session) {
	logged, _, err := c.run(ses, "NOOP")
	switch has := c.bytes(logged); {
	case err != nil:
	case has < c.length:
		c.due = c.length
	case has >= c.due:
		c.moving, c.due = true, has
		c.asked <- struct{}{}
	}
}

// finish moves the last pages where the others were moved.
func (c *checkpointer) finish(ses *session) {
	select {
	case <-c.moved:
	default:
		return
	}
	c.moving = false
	logged, moved, err := c.run(ses, "PASSIVE")
	if err == nil && moved == logged {
		c.measure()
		return
	}
	// A reader is in the way, and once it is through, the rest goes; or the
	// disk is full.
	c.due = max(c.bytes(logged), c.due) + c.length/4
}

// checkpoint moves pages of the log as mode says (https://sqlite.org/pragma.html#pragma_wal_checkpoint;
// NOOP moves none), and says how many pages the log has and how many of them are
// in the database file.
func checkpoint(ses *session, mode string) (logged, moved int, err error) {
	var busy int
	err = ses.queryRow(context.Background(), "PRAGMA wal_checkpoint("+mode+")", nil).Scan(&busy, &logged, &moved)
	return logged, moved, err
}

// trim empties the log when it has grown past its limit. A reader that takes
// too long has it try again when the log has grown as much again.
func (c *checkpointer) trim(ses *session) {
	info, err := os.Stat(filepath.Join(c.disk.dir, logFile))
	if err != nil || info.Size() < c.trimAt {
		return
	}
	c.trimAt = info.Size() + c.limit()
	// Writers wait meanwhile, but no longer than readers do.
	if _, err := ses.exec(context.Background(), "PRAGMA busy_timeout = 1000", nil); err != nil {
		return
	}
	if logged, moved, err := c.run(ses, "TRUNCATE"); err == nil && moved == logged {
		c.measure()
	}
	// What goes wrong here shows in the next commit too.
	_, _ = ses.exec(context.Background(), "PRAGMA busy_timeout = 5000", nil)
}
