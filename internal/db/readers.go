package db

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// sqliteReaders bounds the read-only connections: more than the processors of
// a small machine, so that one slow page does not hold up the others.
const sqliteReaders = 8

// readerRest is how long a connection may go unused before it is closed. Opening
// one takes a millisecond.
const readerRest = 5 * time.Second

// readers are the read-only connections to SQLite. The one that was given back
// last is taken first, so that no more are open than are needed at the same time:
// each holds the schema, its statements and its pages, up to 1 MiB.
type readers struct {
	open  func(context.Context) (*session, error)
	turns chan struct{} // one for each that may be in use
	done  chan struct{} // closed by close

	mu   sync.Mutex
	idle []idleReader // the one that was given back last at the end
}

// idleReader is a connection that nothing uses.
type idleReader struct {
	*session
	since time.Time
}

func newReaders(open func(context.Context) (*session, error)) *readers {
	r := &readers{open: open, turns: make(chan struct{}, sqliteReaders), done: make(chan struct{})}
	for range sqliteReaders {
		r.turns <- struct{}{}
	}
	return r
}

// take returns a connection, opened if need be. It must be given back.
func (r *readers) take(ctx context.Context) (*session, error) {
	select {
	case <-r.done:
		return nil, errClosed
	default:
	}
	select {
	case <-r.turns:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.done:
		return nil, errClosed
	}
	if ses := r.pop(); ses != nil {
		return ses, nil
	}
	ses, err := r.open(ctx)
	if err != nil {
		r.give(nil)
		return nil, fmt.Errorf("opening a reader: %w", err)
	}
	return ses, nil
}

// give takes a connection back; nil stands for one that was closed. It closes the
// one that has gone unused for the longest if that is too long.
func (r *readers) give(ses *session) {
	now := time.Now()
	var unused *session
	r.mu.Lock()
	if ses != nil {
		r.idle = append(r.idle, idleReader{ses, now})
	}
	if len(r.idle) > 1 && now.Sub(r.idle[0].since) >= readerRest {
		unused = r.idle[0].session
		r.idle = slices.Delete(r.idle, 0, 1)
	}
	r.mu.Unlock()
	if unused != nil {
		unused.close()
	}
	r.turns <- struct{}{}
}

func (r *readers) pop() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.idle) - 1
	if last < 0 {
		return nil
	}
	ses := r.idle[last].session
	r.idle = r.idle[:last]
	return ses
}

// close closes every connection, those in use when they are given back.
func (r *readers) close() {
	close(r.done)
	for range sqliteReaders {
		<-r.turns
	}
	for ses := r.pop(); ses != nil; ses = r.pop() {
		ses.close()
	}
}
