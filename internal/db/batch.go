package db

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/fault"
)

// Batch gathers items of one kind that are written at the same time into one
// transaction. There is no timer: while one batch commits, the next gathers.
type Batch[T any] struct {
	db    *DB
	name  string
	max   int
	sizes prometheus.Observer
	write func(ctx context.Context, tx *Tx, items []T) error

	mu      sync.Mutex
	waiting []*member[T]
	running bool
}

// member is one item on its way.
type member[T any] struct {
	item T
	err  error
	done chan struct{}
}

// NewBatch makes a batch of at most max items. name is
// for logs and metrics. write
// stores the items in one transaction; it may run more than once on the same
// items (so it sets what it fills in, and does not add to it), and is given
// items one by one when it failed on them together.
func NewBatch[T any](d *DB, name string, max int, write func(ctx context.Context, tx *Tx, items []T) error) *Batch[T] {
	return &Batch[T]{db: d, name: name, max: max, sizes: d.metrics.batch.WithLabelValues(name), write: write}
}

// Do returns when item is committed and synced, or could not be. A ctx that
// ends while item still waits for its batch gives its error; later it is
// ignored.
func (b *Batch[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m := &member[T]{item: item, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, m)
	if !b.running {
		b.running = true
		go b.run()
	}
	b.mu.Unlock()
	select {
	case <-m.done:
	case <-ctx.Done():
		if b.leave(m) {
			return ctx.Err()
		}
		<-m.done
	}
	return m.err
}

// leave takes m out of those that wait; false when it is in a batch already.
func (b *Batch[T]) leave(m *member[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range b.waiting {
		if w == m {
			b.waiting = append(b.waiting[:i:i], b.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// run writes batch after batch until nothing waits.
func (b *Batch[T]) run() {
	for {
		b.mu.Lock()
		n := min(len(b.waiting), b.max)
		batch := b.waiting[:n:n]
		b.waiting = b.waiting[n:]
		if n == 0 {
			b.running = false
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		b.commit(batch)
		for _, m := range batch {
			close(m.done)
		}
	}
}

// commit writes the members together, and each alone when that failed for a
// reason that may be one member's own.
func (b *Batch[T]) commit(batch []*member[T]) {
	items := make([]T, len(batch))
	for i, m := range batch {
		items[i] = m.item
	}
	b.sizes.Observe(float64(len(items)))
	err := b.store(items)
	if err == nil || len(batch) == 1 || fault.Is(err, fault.Unavailable) {
		for _, m := range batch {
			m.err = err
		}
		return
	}
	b.db.log.Warn("a batch failed and is tried item by item", "batch", b.name, "items", len(batch), "error", err)
	fns := make([]func(*Tx) error, len(batch))
	for i := range batch {
		fns[i] = func(tx *Tx) error { return b.write(context.Background(), tx, items[i:i+1:i+1]) }
	}
	after, errs := b.db.engine.writeEach(fns)
	for _, f := range after {
		f()
	}
	for i, m := range batch {
		m.err = public(errs[i])
	}
}

func (b *Batch[T]) store(items []T) error {
	return b.db.Write(context.Background(), func(tx *Tx) error {
		return b.write(context.Background(), tx, items)
	})
}
