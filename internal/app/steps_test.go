package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestStepsLastFirst(t *testing.T) {
	var order []string
	s := steps{log: discard(), grace: graceTime}
	note := func(name string, err error) func(context.Context) error {
		return func(context.Context) error { order = append(order, name); return err }
	}
	s.add("one", time.Second, note("one", nil))
	s.add("two", time.Second, note("two", errors.New("broken")))
	s.addStop("three", time.Second, func() { order = append(order, "three") })
	err := s.unwind(t.Context(), stopTime)
	if !slices.Equal(order, []string{"three", "two", "one"}) {
		t.Errorf("the order was %v", order)
	}
	if err == nil || err.Error() != "stop two: broken" {
		t.Errorf("got %v", err)
	}
	if err := s.unwind(t.Context(), stopTime); err != nil || len(order) != 3 {
		t.Errorf("a second unwind did something: %v, %v", order, err)
	}
}

// A step that hangs is left behind after its limit, and named; one that heeds
// its context is not.
func TestStepsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		ended := false
		s := steps{log: discard(), grace: graceTime}
		s.addStop("last", time.Second, func() { ended = true })
		s.addStop("deaf", 3*time.Second, func() { <-hang })
		s.add("slow", 2*time.Second, func(ctx context.Context) error { <-ctx.Done(); return nil })
		began := time.Now()
		err := s.unwind(t.Context(), stopTime)
		if err == nil || err.Error() != "stop deaf: it did not end within 3s" {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 5*time.Second+graceTime || !ended {
			t.Errorf("it took %v, and the step below ended: %v", took, ended)
		}
		close(hang)
	})
}

// In less than the time of a stop, each step has its share.
func TestStepsShareLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := steps{log: discard(), grace: graceTime}
		for _, limit := range []time.Duration{time.Second, 3 * time.Second} {
			s.add("slow", limit, func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
		began := time.Now()
		if err := s.unwind(t.Context(), stopTime/4); err != nil || time.Since(began) != time.Second {
			t.Errorf("it took %v: %v", time.Since(began), err)
		}
	})
}

// When the whole time is over, the steps that are left still begin.
func TestStepsAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := 0
	s := steps{log: discard(), grace: graceTime}
	for range 3 {
		s.add("step", time.Second, func(ctx context.Context) error { began++; return ctx.Err() })
	}
	if err := s.unwind(ctx, stopTime); !errors.Is(err, context.Canceled) || began != 3 {
		t.Errorf("%d steps began: %v", began, err)
	}
}
