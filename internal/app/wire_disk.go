package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/db"
)

// diskVeryLow is what a large instance writes in some hours (see db.Space.Reserve). On
// a small disk it is a fiftieth.
const (
	diskVeryLow  = 2 << 30
	veryLowShare = 50
)

// logLong is eight times as long as SQLite's log gets before the writer empties it:
// something else has been reading the database for long.
const logLong = 1 << 30

// diskTone is Bad or Warn for a file system on which there is little space left, else
// "". It is Warn from where backups are refused.
func diskTone(s db.Space) console.Tone {
	switch {
	case s.Free < min(diskVeryLow, s.Total/veryLowShare):
		return console.Bad
	case s.Spare() < 0:
		return console.Warn
	}
	return ""
}

// diskWatch is how the disk of this node is found out, and since when there is too
// little of it or too long a log.
type diskWatch struct {
	space func(dir string) (db.Space, error)
	log   func(context.Context) (bytes int64, err error)

	mu       sync.Mutex
	lowSince time.Time
	logSince time.Time
}

// since notes in at whether something is so now, and returns since when.
func (w *diskWatch) since(at *time.Time, now time.Time, is bool) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !is:
		*at = time.Time{}
	case at.IsZero():
		*at = now
	}
	return *at
}

// logSize is how long SQLite's log is. With PostgreSQL, whose size takes long to
// find, there is none.
func (a *App) logSize(ctx context.Context) (int64, error) {
	if a.db.Dialect() == db.Postgres {
		return 0, nil
	}
	_, log, err := a.db.Size(ctx)
	return log, err
}

// overviewDisk warns of a disk that gets full, and of a log that does not get shorter.
func (a *App) overviewDisk(ctx context.Context) (card console.Card, err error) {
	card = console.Card{Title: "Disk", Link: "/system/nodes", Text: "The data folder of the node " + a.nodeID + "."}
	space, err := a.disk.space(a.cfg.DataDir)
	if err != nil {
		return card, fmt.Errorf("finding the space of the data folder: %w", err)
	}
	tone := diskTone(space)
	if since := a.disk.since(&a.disk.lowSince, a.clock(), tone != ""); tone != "" {
		card.Attention = append(card.Attention, console.Notice{
			Kind: "disk", Key: "disk " + a.nodeID, Tone: tone, Since: since,
			Text: fmt.Sprintf("The disk with the data folder of the node %s gets full: %s of %s are free. When it is full, everything "+
				"that comes in is refused.", a.nodeID, db.MiB(space.Free), db.MiB(space.Total)),
		})
	}
	log, err := a.disk.log(ctx)
	if err != nil {
		return card, err
	}
	if since := a.disk.since(&a.disk.logSince, a.clock(), log > logLong); log > logLong {
		card.Attention = append(card.Attention, console.Notice{
			Kind: "database_log", Key: "database log", Since: since,
			Text: fmt.Sprintf("The database's log has %s: another program reads the database and keeps it from being emptied. "+
				"Close that program.", db.MiB(log)),
		})
	}
	return card, nil
}
