package db

import (
	"context"
	"time"
)

// RenewOnce lets tests renew when they like.
func (l *Leases) RenewOnce(ctx context.Context) error { return l.renewOnce(ctx) }

// Waiting counts the items that wait for their batch.
func (b *Batch[T]) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, t := range b.waiting {
		n += len(t.members)
	}
	return n
}

// Queued counts the calls that wait for SQLite's writer.
func (d *DB) Queued() int {
	w := d.engine.(*sqliteEngine).writer
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.hot) + len(w.bulk)
}

// BoundLog has SQLite's write-ahead log get so many bytes long.
func (d *DB) BoundLog(ctx context.Context, bytes int64) error {
	return d.Write(ctx, func(*Tx) error {
		d.engine.(*sqliteEngine).writer.checkpoint.bound(bytes)
		return nil
	})
}

// Final is the table of errors that end the process.
var Final = final

// Connections counts the connections that are open to SQLite.
func (d *DB) Connections() int { return d.engine.(*sqliteEngine).pool.Stats().OpenConnections }

// BoundTransactions has PostgreSQL's transactions last so long at most.
func (d *DB) BoundTransactions(limit time.Duration) { d.engine.(*postgresEngine).txTime = limit }
