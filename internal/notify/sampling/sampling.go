// Package sampling keeps what the plot of the overview shows: what this node
// delivered, and how much waited, minute by minute.
package sampling

import (
	"context"
	"log/slog"
	"time"

	"outrigger/internal/notify/store"
	"outrigger/internal/work"
)

const (
	// every is short beside a step of the plot, 8 minutes, so that a node that
	// has just started is soon seen.
	every = time.Minute
	// firstAfter leaves the start of a node to what is urgent.
	firstAfter = 5 * time.Second
	// lastLimit is for one statement; a database that hangs must not keep the
	// process from its end.
	lastLimit = 200 * time.Millisecond
)

// Sampler takes the samples of a node.
type Sampler struct {
	NodeID string
	Store  *store.Store
	Log    *slog.Logger

	work.PeriodicWorker
}

// Start begins to take samples.
func (s *Sampler) Start(ctx context.Context) {
	failing := false
	s.PeriodicWorker.Start(ctx, firstAfter, func(ctx context.Context) time.Duration {
		err := s.Store.Sample(ctx, s.NodeID)
		if err != nil && ctx.Err() == nil && !failing {
			s.Log.Warn("what was delivered could not be counted for the overview; it is part of the next count", "error", err)
		}
		failing = err != nil
		return every
	})
}

// Stop takes a last sample: what was delivered since the one before it would not
// be counted after the next start.
func (s *Sampler) Stop() {
	s.PeriodicWorker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), lastLimit)
	defer cancel()
	if err := s.Store.Sample(ctx, s.NodeID); err != nil {
		s.Log.Warn("what was delivered in the last minute could not be counted for the overview", "error", err)
	}
}
