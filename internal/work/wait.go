package work

import (
	"context"
	"time"
)

// Sleep waits. It returns the cause of ctx's end if that comes before.
func Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// Signal wakes one goroutine that receives from it. Calls of Set before it does are one.
type Signal chan struct{}

// NewSignal makes a Signal that is not set.
func NewSignal() Signal { return make(Signal, 1) }

// Set does not block.
func (s Signal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}
