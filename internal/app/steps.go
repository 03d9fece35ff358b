package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// stopTime is how long a whole stop may take: below the 30 s and more after
// which service managers kill.
const stopTime = 15 * time.Second

// step undoes one thing that a start did.
type step struct {
	name  string
	limit time.Duration
	undo  func(context.Context) error
}

// steps is what a stop has to do, the last first. A start that fails goes back
// through the same steps.
type steps struct {
	list []step
	log  *slog.Logger
}

// add puts a step on top. Call it on the line after what it undoes. limit is
// how long it may take; those of all steps add up to at most stopTime.
func (s *steps) add(name string, limit time.Duration, undo func(context.Context) error) {
	s.list = append(s.list, step{name, limit, undo})
}

// addStop is add for what cannot fail and takes no context.
func (s *steps) addStop(name string, limit time.Duration, stop func()) {
	s.add(name, limit, func(context.Context) error { stop(); return nil })
}

// unwind takes every step, whatever the others answer, and forgets them. When
// ctx ends, each step that is left still begins, with a context that has ended.
func (s *steps) unwind(ctx context.Context) error {
	var errs []error
	for len(s.list) > 0 {
		top := s.list[len(s.list)-1]
		s.list = s.list[:len(s.list)-1]
		began := time.Now()
		if err := top.take(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", top.name, err))
		}
		s.log.Debug("stopped", "step", top.name, "took", time.Since(began))
	}
	return errors.Join(errs...)
}

// take runs the step and leaves it behind when its time is over: what hangs in
// one step must not keep the next from its own.
func (s step) take(ctx context.Context) error {
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
	grace := time.NewTimer(graceTime)
	defer grace.Stop()
	select {
	case err := <-done:
		return err
	case <-grace.C:
		return fmt.Errorf("it did not end within %s", s.limit)
	}
}

// graceTime lets a step that heeds its context end in order after its limit.
const graceTime = 100 * time.Millisecond
