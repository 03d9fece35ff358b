// Package watch is the wing's background work: this node's own samples, the
// nodes that are only watched, and the messages of nodes that are gone.
package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/store"
	"outrigger/internal/work"
)

const (
	// sampleEvery leaves 15 s of the minute that an answer may be old: 10 for a
	// source that takes its time, and 5 to keep the sample.
	sampleEvery = 45 * time.Second
	sampleTime  = 10 * time.Second

	// retrySample finds out soon that a source answers again: after a minute
	// without sizes its node is shown as OFFLINE.
	retrySample = 10 * time.Second
	// firstTime is how long a node that starts waits for its source before it
	// is ACTIVE.
	firstTime = 2 * time.Second
)

// Sampler reads this node's own queue, when the node starts and every 45 s;
// every 10 s while it cannot.
type Sampler struct {
	NodeID  string
	Kind    string // of the source, as it is listed
	Source  mailqueue.Source
	Store   *store.Store
	Figures *Figures
	Log     *slog.Logger

	work.PeriodicWorker // Stop cuts off the sample that is under way
}

// Start tries a first sample, for at most 2 s, and begins the rounds.
func (s *Sampler) Start(ctx context.Context) {
	says := sayer{log: s.Log, node: s.NodeID}
	first := make(chan struct{})
	sampled := sync.OnceFunc(func() { close(first) })
	s.PeriodicWorker.Start(ctx, 0, func(ctx context.Context) time.Duration {
		defer sampled()
		result, err := s.runOnce(ctx)
		says.heard(ctx, result.Failure, err)
		if result.Failure != nil || err != nil {
			return retrySample
		}
		return sampleEvery
	})
	select {
	case <-first:
	case <-ctx.Done():
	case <-time.After(firstTime):
	}
}

// Result is what one question led to.
type Result struct {
	Sizes   mailqueue.Sizes
	Failure error // of the source; it is kept like sizes
}

// runOnce asks the source and keeps what it said. The error is about keeping
// it.
func (s *Sampler) runOnce(ctx context.Context) (Result, error) {
	r := ask(ctx, s.Source, sampleTime)
	if ctx.Err() != nil {
		return r, ctx.Err() // it was not the source that failed
	}
	s.Figures.asked(s.NodeID, r.Sizes, r.Failure)
	return r, s.Store.Record(ctx, s.NodeID, s.Kind, r.Sizes, r.Failure)
}

func ask(ctx context.Context, source mailqueue.Source, limit time.Duration) Result {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sizes, err := source.Sizes(ctx)
	return Result{sizes, err}
}

// sayer logs when a source stops answering and when it answers again, once
// each.
type sayer struct {
	log     *slog.Logger
	node    string
	failing bool
}

// heard takes what the source said, and whether that could be kept.
func (s *sayer) heard(ctx context.Context, failure, keeping error) {
	if ctx.Err() != nil {
		return
	}
	cause := failure
	if cause == nil {
		cause = keeping
	}
	switch {
	case cause != nil && !s.failing:
		s.log.Warn("the sizes of a mail queue are not known; will try on", "node", s.node, "error", cause)
	case cause == nil && s.failing:
		s.log.Info("the sizes of a mail queue are known again", "node", s.node)
	}
	s.failing = cause != nil
}
