package db

import (
	"context"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/fault"
)

// Batch gathers items of one kind that are written at the same time into one
// transaction. There is no timer: what waits when a transaction begins is its
// batch, and the next gathers meanwhile. Batches commit one after the other.
type Batch[T any] struct {
	db    *DB
	name  string
	max   int
	sizes prometheus.Observer
	write func(ctx context.Context, tx *Tx, items []T) error

	mu      sync.Mutex
	waiting []*turn[T]      // the first is written next, the last takes what comes
	asked   bool            // a transaction is on its way that takes the first
	before  <-chan struct{} // closed when the batch that began last is through
}

// member is one item on its way.
type member[T any] struct {
	item T
	err  error
	done <-chan struct{} // closed when its batch is through
}

// NewBatch makes a batch of at most max items. name is for logs and metrics.
// write stores the items in one transaction; it may run more than once on the
// same items (so it sets what it fills in, and does not add to it), and is given
// items one by one when it failed on them together. What it has called after
// commits is called in the order of the commits.
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
	m := b.join(item)
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

// ErrUndecided is what DoUntil gives for an item whose outcome is not known
// yet.
var ErrUndecided = fault.New(fault.Unavailable, "The database did not answer in time. Try again in a moment.")

// DoUntil is Do for a caller who must have an answer in time. Where ctx ends
// while item is being written the error is ErrUndecided, and settled is closed
// when the outcome is there, which item itself may tell; until then item is
// the batch's. In all other cases settled is nil.
func (b *Batch[T]) DoUntil(ctx context.Context, item T) (settled <-chan struct{}, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := b.join(item)
	select {
	case <-m.done:
		return nil, m.err
	case <-ctx.Done():
		if b.leave(m) {
			return nil, ctx.Err()
		}
		return m.done, ErrUndecided
	}
}

// Begin is Do for a caller that has something to do meanwhile: wait is the rest
// of it.
func (b *Batch[T]) Begin(item T) (wait func() error) {
	m := b.join(item)
	return func() error {
		<-m.done
		return m.err
	}
}

func (b *Batch[T]) join(item T) *member[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.waiting) - 1
	if last < 0 || len(b.waiting[last].members) == b.max {
		b.waiting = append(b.waiting, &turn[T]{through: make(chan struct{})})
		last++
	}
	t := b.waiting[last]
	m := &member[T]{item: item, done: t.through}
	t.members = append(t.members, m)
	b.ask()
	return m
}

// leave takes m out of those that wait; false when it is in a batch already.
func (b *Batch[T]) leave(m *member[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.waiting {
		if i := slices.Index(t.members, m); i >= 0 {
			t.members = slices.Delete(t.members, i, i+1)
			return true
		}
	}
	return false
}

// ask has a transaction take what waits. b.mu is held.
func (b *Batch[T]) ask() {
	if !b.asked && len(b.waiting) > 0 {
		b.asked = true
		go b.run()
	}
}

// turn is one batch.
type turn[T any] struct {
	members []*member[T]
	items   []T             // theirs, once it has begun
	before  <-chan struct{} // closed when the batch before is through; nil: there was none
	through chan struct{}
}

// run writes what waits when the transaction begins.
func (b *Batch[T]) run() {
	var t *turn[T]
	after, err := b.db.commit(context.Background(), func(tx *Tx) error {
		if t == nil { // else it is tried again
			t = b.gather()
		}
		return b.store(tx, t.items)
	}, false)
	if t == nil {
		t = b.gather() // for whom there was no transaction
	}
	if t.before != nil {
		<-t.before
	}
	for _, f := range after {
		f()
	}
	b.settle(t, public(err))
	close(t.through)
	b.next()
}

// gather begins the first batch that waits. SQLite's writer has one transaction at a time,
// so the next may be asked for now, to be in the very next one together with
// whatever else waits; PostgreSQL's batches would only get into each other's
// way.
func (b *Batch[T]) gather() *turn[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.waiting[0]
	b.waiting = b.waiting[1:]
	t.items = make([]T, len(t.members))
	for i, m := range t.members {
		t.items[i] = m.item
	}
	t.before, b.before = b.before, t.through
	if b.db.dialect == SQLite {
		b.asked = false
		b.ask()
	}
	return t
}

// next goes on with what waits when a batch is through.
func (b *Batch[T]) next() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.db.dialect == Postgres {
		b.asked = false
		b.ask()
	}
}

func (b *Batch[T]) store(tx *Tx, items []T) error {
	if len(items) == 0 {
		return nil // all of them left
	}
	return b.write(context.Background(), tx, items)
}

// settle tells the members how it went, and tries each alone when all failed for
// a reason that may be one member's own.
func (b *Batch[T]) settle(t *turn[T], err error) {
	b.sizes.Observe(float64(len(t.items)))
	if err == nil || len(t.items) < 2 || fault.Is(err, fault.Unavailable) {
		for _, m := range t.members {
			m.err = err
		}
		return
	}
	b.db.log.Warn("a batch failed and is tried item by item", "batch", b.name, "items", len(t.items), "error", err)
	fns := make([]func(*Tx) error, len(t.items))
	for i := range fns {
		fns[i] = func(tx *Tx) error { return b.store(tx, t.items[i:i+1:i+1]) }
	}
	after, errs := b.db.engine.writeEach(fns)
	for _, f := range after {
		f()
	}
	for i, m := range t.members {
		m.err = public(errs[i])
	}
}
