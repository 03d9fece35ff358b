package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// stopTime is how long all steps of a stop may take together. With graceTime
// for each it stays within 15 s, well below the time after which service
// managers kill.
const stopTime = 13900 * time.Millisecond

// handOverTime is that of a stop for which a successor waits, within 8 s: clients
// that connect meanwhile wait, and a webhook waits for hookPatience at most.
const handOverTime = 6900 * time.Millisecond

// How long each step may take. Together they stay within stopTime, so that no
// step can take the time of another.
const (
	pagesLimit = 100 * time.Millisecond // only tells streams to end
	watchLimit = 100 * time.Millisecond // only closes a channel
	// What is on its way to a chat platform may take 10 s, to the smarthost 5;
	// cut off, it goes out once more after the next start. Questions to a
	// platform are cut off at once.
	sendingLimit     = 5500 * time.Millisecond
	mailClientsLimit = time.Second             // messages that are coming in
	samplesLimit     = 150 * time.Millisecond  // a question to a source is cut off
	lastSampleLimit  = 200 * time.Millisecond  // one statement
	threadsLimit     = 300 * time.Millisecond  // a slice takes 20 ms
	retentionLimit   = 150 * time.Millisecond  // a slice takes 20 ms
	clusterLimit     = 500 * time.Millisecond  // one statement
	leasesLimit      = 750 * time.Millisecond  // one statement
	requestsLimit    = 1500 * time.Millisecond // answers that take longer are cut off
	databaseLimit    = 1500 * time.Millisecond
	listenerLimit    = time.Second // idle connections; requests were drained
)

// step undoes one thing that a start did.
type step struct {
	name  string
	limit time.Duration
	undo  func(context.Context) error
}

// steps is what a stop has to do, the last first. A start that fails goes back
// through the same steps.
type steps struct {
	list  []step
	log   *slog.Logger
	grace time.Duration // of each step after its limit
}

// add puts a step on top. Call it on the line after what it undoes. limit is
// how long it may take.
func (s *steps) add(name string, limit time.Duration, undo func(context.Context) error) {
	s.list = append(s.list, step{name, limit, undo})
}

// addStop is add for what cannot fail and takes no context.
func (s *steps) addStop(name string, limit time.Duration, stop func()) {
	s.add(name, limit, func(context.Context) error { stop(); return nil })
}

// unwind takes every step, whatever the others answer, and forgets them. When
// ctx ends, each step that is left still begins, with a context that has ended.
// The limits are those of a stop within stopTime; in less, each has its share.
func (s *steps) unwind(ctx context.Context, within time.Duration) error {
	var errs []error
	for len(s.list) > 0 {
		top := s.list[len(s.list)-1]
		s.list = s.list[:len(s.list)-1]
		top.limit = top.limit * (within / time.Millisecond) / (stopTime / time.Millisecond)
		began := time.Now()
		if err := top.take(ctx, s.grace); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", top.name, err))
		}
		s.log.Debug("stopped", "step", top.name, "took", time.Since(began))
	}
	return errors.Join(errs...)
}

// take runs the step and leaves it behind when its time is over: what hangs in
// one step must not keep the next from its own.
func (s step) take(ctx context.Context, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.undo(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// It may have ended at the same moment.
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case err := <-done:
		return err
	case <-over.C:
		return fmt.Errorf("it did not end within %s", s.limit)
	}
}

// graceTime lets a step that heeds its context end in order after its limit.
const graceTime = 50 * time.Millisecond

// endings are stops that wait for answers of others. They go on at the same
// time: one after the other they would take longer than a stop may.
type endings struct{ stops []func() }

// endTogether puts a stop among those that end at the same time. Where it is
// the first, its step is put on top.
func (a *App) endTogether(stop func()) {
	if len(a.sending.stops) == 0 {
		a.steps.addStop("what is on its way", sendingLimit, a.sending.end)
	}
	a.sending.stops = append(a.sending.stops, stop)
}

func (e *endings) end() {
	var all sync.WaitGroup
	for _, stop := range e.stops {
		all.Go(stop)
	}
	all.Wait()
}
