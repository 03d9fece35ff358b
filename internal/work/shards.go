package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"outrigger/internal/db"
)

const (
	// shareEvery is how often a node looks at its share: beside the lease
	// time of 20 s it adds little to how long a dead node's shards rest.
	shareEvery = 2 * time.Second

	// idleEvery is how often a node without a share looks, since it has nothing
	// else to do: one that becomes ACTIVE begins at once.
	idleEvery = 100 * time.Millisecond
)

// Shards divides n shards of work among the nodes of a cluster. Each is a
// lease, named prefix/00 and so on. This node holds its share of them, n
// divided by the number of ACTIVE nodes and rounded up, hands over what is
// above it and takes what is free below it. A node that is not ACTIVE holds
// none.
type Shards struct {
	// Log is told when the share cannot be worked out or taken, once until it
	// can again; nil: no callback. Set it before Start.
	Log *slog.Logger

	prefix  string
	n       int
	leases  *db.Leases
	members func(ctx context.Context) (self, active int, err error)
	run     func(ctx context.Context, shard int, lease *db.Lease)

	wake    Signal
	stop    context.CancelFunc
	through chan struct{} // closed when the loop has ended
	runs    sync.WaitGroup

	mu      sync.Mutex
	held    map[int]*holding
	started bool
}

// holding is one shard that this node works on.
type holding struct {
	cancel  context.CancelFunc
	leaving bool // being handed over
}

// ShareResult is what one look at the share did.
type ShareResult struct {
	Share      int // shards that this node may hold
	Taken      int // shards it has taken
	HandedOver int // shards it has begun to hand over
}

// NewShards makes the loop. members says whether this node is ACTIVE (1 or 0)
// and how many nodes are, this one included. run works on one shard under its
// lease until its ctx ends, because the lease was lost or the shard is handed
// over; it returns when nothing of it is in flight any more, and only then
// another node gets the shard. A run that returns earlier gives it back.
func NewShards(prefix string, n int, leases *db.Leases, members func(ctx context.Context) (self, active int, err error),
	run func(ctx context.Context, shard int, lease *db.Lease)) *Shards {
	return &Shards{
		prefix: prefix, n: n, leases: leases, members: members, run: run,
		wake: NewSignal(), held: make(map[int]*holding),
	}
}

// Start begins to hold shards. The runs have the values of ctx, not its end.
func (s *Shards) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return errors.New("work: shards are started already")
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.started, s.through = true, make(chan struct{})
	go s.loop(ctx)
	return nil
}

// Stop ends every run, waits for it and gives its shard back.
func (s *Shards) Stop() {
	s.mu.Lock()
	if !s.started {
		s.mu.Unlock()
		return
	}
	s.started = false
	s.mu.Unlock()
	s.stop()
	<-s.through
	s.runs.Wait()
}

// Wake has the share looked at now: the members have changed.
func (s *Shards) Wake() { s.wake.Set() }

// Held is how many shards this node works on, those included that it is
// handing over.
func (s *Shards) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

func (s *Shards) loop(ctx context.Context) {
	defer close(s.through)
	failing := false
	for {
		r, err := s.runOnce(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.Log.Warn("this node's share of the work could not be taken; will try on", "work", s.prefix, "error", err)
		}
		failing = err != nil
		wait := shareEvery
		if err == nil && r.Share == 0 {
			wait = idleEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-s.wake:
		}
	}
}

// runOnce brings what is held to the share. While the members cannot be read
// nothing changes: the leases say how long that may last.
func (s *Shards) runOnce(ctx context.Context) (ShareResult, error) {
	self, active, err := s.members(ctx)
	if err != nil {
		return ShareResult{}, fmt.Errorf("reading who shares the work: %w", err)
	}
	r := ShareResult{Share: share(s.n, self, active)}
	missing, names, over := s.compare(r.Share)
	r.HandedOver = over
	if missing <= 0 {
		return r, nil
	}
	taken, err := s.leases.AcquireSome(ctx, names, missing)
	if err != nil {
		return r, fmt.Errorf("taking shards: %w", err)
	}
	for _, lease := range taken {
		s.hold(ctx, lease)
	}
	r.Taken = len(taken)
	return r, nil
}

// share is how many of n shards a node may hold.
func share(n, self, active int) int {
	if self == 0 {
		return 0
	}
	active = max(active, 1)
	return (n + active - 1) / active
}

// compare hands over what is above the share, and says how many shards are
// missing below it and which names could be taken.
func (s *Shards) compare(share int) (missing int, names []string, handedOver int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	staying := 0
	for _, h := range s.held {
		if !h.leaving {
			staying++
		}
	}
	for shard := s.n - 1; shard >= 0; shard-- {
		h := s.held[shard]
		if h == nil {
			names = append(names, s.name(shard))
		} else if !h.leaving && staying > share {
			h.leaving = true
			h.cancel()
			staying--
			handedOver++
		}
	}
	return share - staying, names, handedOver
}

func (s *Shards) name(shard int) string { return fmt.Sprintf("%s/%02d", s.prefix, shard) }

// hold runs the shard of a lease until it is lost, handed over or stopped.
func (s *Shards) hold(ctx context.Context, lease *db.Lease) {
	shard := s.shardOf(lease)
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.held[shard] = &holding{cancel: cancel}
	s.mu.Unlock()
	s.runs.Go(func() {
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.run(ctx, shard, lease)
		}()
		select {
		case <-done:
		case <-lease.Lost():
			cancel()
			<-done
		}
		s.release(ctx, lease)
		s.mu.Lock()
		delete(s.held, shard)
		s.mu.Unlock()
	})
}

func (s *Shards) shardOf(lease *db.Lease) int {
	shard, _ := strconv.Atoi(strings.TrimPrefix(lease.Name(), s.prefix+"/")) // it is a name of ours
	return shard
}

// release releases a lease; a lost one is no longer ours to release.
func (s *Shards) release(ctx context.Context, lease *db.Lease) {
	select {
	case <-lease.Lost():
		return
	default:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := s.leases.Release(ctx, lease); err != nil {
		s.Log.Warn("a shard could not be given back and will lapse", "work", s.prefix, "error", err)
	}
}
