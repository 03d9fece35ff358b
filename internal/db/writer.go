package db

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxGroup bounds the calls of one transaction: past it a commit's cost
	// no longer counts, and the first ones wait for the last.
	maxGroup = 256

	// bulkPatience is how long bulk work waits behind hot writes that never
	// end. With slices of 20 ms it takes at most a tenth of the writer.
	bulkPatience = 200 * time.Millisecond
)

// call is one Write on its way through the writer.
type call struct {
	ctx    context.Context
	fn     func(*Tx) error
	schema bool        // it changes the schema, and no other call is in its group
	taken  atomic.Bool // by the writer, or by wait for a caller that gave up
	queued time.Time
	after  []func()
	err    error
	done   chan struct{}
}

func newCall(ctx context.Context, fn func(*Tx) error) *call {
	return &call{ctx: ctx, fn: fn, done: make(chan struct{})}
}

// wait returns when the call is through, or was not begun and ctx has ended.
func (c *call) wait() ([]func(), error) {
	select {
	case <-c.done:
	case <-c.ctx.Done():
		if c.taken.CompareAndSwap(false, true) {
			return nil, c.ctx.Err()
		}
		<-c.done
	}
	return c.after, c.err
}

// finish tells the caller how it went.
func (c *call) finish(err error) {
	if c.err == nil {
		c.err = err
	}
	if c.err != nil {
		c.after = nil
	}
	close(c.done)
}

// writer owns SQLite's one writing connection and runs whatever waits in one
// transaction: the group commit.
type writer struct {
	connect func(context.Context) (*session, error)
	clock   func() time.Time
	metrics *metrics

	mu        sync.Mutex
	hot, bulk []*call
	closed    bool
	wake      chan struct{} // one slot
	through   chan struct{} // closed when the goroutine has ended

	// The goroutine's own:
	ses        *session // nil until the first group and after trouble
	checkpoint *checkpointer
	closing    error // what went wrong at the end
}

func newWriter(connect func(context.Context) (*session, error), c *checkpointer, clock func() time.Time, m *metrics) *writer {
	w := &writer{
		connect: connect, checkpoint: c, clock: clock, metrics: m,
		wake: make(chan struct{}, 1), through: make(chan struct{}),
	}
	go w.loop()
	return w
}

// submit queues calls; the caller waits for each.
func (w *writer) submit(bulk bool, calls ...*call) error {
	now := time.Now()
	for _, c := range calls {
		c.queued = now
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	if bulk {
		w.bulk = append(w.bulk, calls...)
	} else {
		w.hot = append(w.hot, calls...)
	}
	w.mu.Unlock()
	w.signal()
	return nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close runs what is queued and ends the goroutine.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.signal()
	<-w.through
	return w.closing
}

func (w *writer) loop() {
	ended := false
	defer func() {
		if !ended { // by a call's runtime.Goexit, which is what a test's Fatal does
			go w.loop()
			return
		}
		w.discard()
		w.closing = w.checkpoint.close()
		close(w.through)
	}()
	for {
		runtime.Gosched() // pending writers join the group: fewer commits under load
		group, closed := w.take()
		switch {
		case len(group) > 0:
			w.run(group)
		case closed:
			ended = true
			return
		default:
			<-w.wake
		}
	}
}

// take returns the next group: the hot calls that wait, else one bulk call, and
// that first when it has waited too long.
func (w *writer) take() (group []*call, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bulk) > 0 && (len(w.hot) == 0 || time.Since(w.bulk[0].queued) > bulkPatience) {
		group, w.bulk = w.bulk[:1:1], w.bulk[1:]
		return group, false
	}
	n := min(len(w.hot), maxGroup)
	group, w.hot = w.hot[:n:n], w.hot[n:]
	return group, w.closed
}

// disk is what the files are on.
func (w *writer) disk() *disk { return w.checkpoint.disk }
