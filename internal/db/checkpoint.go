package db

import (
	"context"
	"os"
)

const (
	// logPages is how long the write-ahead log gets, in pages of 4 KiB, before it
	// is moved into the database file: fewer syncs of that, and a restart still
	// replays 16 MiB at once.
	logPages = 4000

	// walLimit is the size of the write-ahead log, in bytes, past which the
	// writer waits for readers. Checkpoints, at half of that, wait for nobody,
	// and readers that overlap would let the log grow without end.
	walLimit = 32 << 20
)

// checkpointer moves the write-ahead log into the database file beside the
// writer, on a connection of its own. What was written meanwhile the writer
// moves itself, between two transactions, and the log begins anew. If it moved
// everything, all writes would wait for the sync of the database file, for 10 ms
// several times a second under full load.
type checkpointer struct {
	connect func(context.Context) (*session, error)
	asked   chan struct{} // one slot
	moved   chan struct{} // one slot
	through chan struct{} // closed when the goroutine has ended

	// The writer's own:
	moving bool
	due    int // pages in the log at which it is moved
}

func newCheckpointer(connect func(context.Context) (*session, error)) *checkpointer {
	c := &checkpointer{
		connect: connect, due: logPages,
		asked: make(chan struct{}, 1), moved: make(chan struct{}, 1), through: make(chan struct{}),
	}
	go c.loop()
	return c
}

// close ends the goroutine. No committed may follow.
func (c *checkpointer) close() {
	close(c.asked)
	<-c.through
}

func (c *checkpointer) loop() {
	defer close(c.through)
	for range c.asked {
		c.move()
		c.moved <- struct{}{}
	}
}

// move copies what the log has when it begins, as far as no reader needs what
// would be overwritten. A connection that fails shows in the log, which grows
// to where trim finds it.
func (c *checkpointer) move() {
	ses, err := c.connect(context.Background())
	if err != nil {
		return
	}
	defer ses.close()
	_, _, _ = checkpoint(ses, "PASSIVE")
}

// committed is called by the writer after each commit.
func (c *checkpointer) committed(ses *session) {
	if !c.moving {
		logged, _, err := checkpoint(ses, "NOOP")
		switch {
		case err != nil:
		case logged < logPages:
			c.due = logPages
		case logged >= c.due:
			c.moving = true
			c.asked <- struct{}{}
		}
		return
	}
	select {
	case <-c.moved:
	default:
		return
	}
	c.moving, c.due = false, logPages
	if logged, moved, err := checkpoint(ses, "PASSIVE"); err != nil || moved < logged {
		c.due = logged + logPages/4 // a reader is in the way; once it is through, the rest goes
	}
}

// checkpoint says how many pages the log has, and how many of them are in the
// database file.
func checkpoint(ses *session, mode string) (logged, moved int, err error) {
	var busy int
	err = ses.queryRow(context.Background(), "PRAGMA wal_checkpoint("+mode+")", nil).Scan(&busy, &logged, &moved)
	return logged, moved, err
}

// trim empties the log when it has grown past its limit. A reader that takes
// too long has it try again when the log has grown as much again.
func (w *writer) trim() {
	info, err := os.Stat(w.log)
	if err != nil || info.Size() < w.trimAt {
		return
	}
	w.trimAt = info.Size() + walLimit
	// Writers wait meanwhile, but no longer than readers do.
	if w.exec("PRAGMA busy_timeout = 1000") != nil {
		return
	}
	if logged, moved, err := checkpoint(w.ses, "TRUNCATE"); err == nil && moved == logged {
		w.trimAt = walLimit
	}
	// What went wrong here shows in the next commit too.
	_ = w.exec("PRAGMA busy_timeout = 5000")
}
