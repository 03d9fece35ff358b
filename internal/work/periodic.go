package work

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// PeriodicWorker does the same again and again in the background, one round after
// another. The zero value has not begun.
type PeriodicWorker struct {
	stop context.CancelFunc
	done chan struct{} // closed when the last round has ended

	once sync.Once
	wake Signal
}

// Start has the first round begin after a pause, and each further one after the
// pause that the round before it gives. The rounds outlive ctx; Stop cancels
// their own.
func (r *PeriodicWorker) Start(ctx context.Context, first time.Duration, round func(ctx context.Context) (pause time.Duration)) {
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.done = make(chan struct{})
	go r.loop(ctx, first, round)
}

// StartEvery is Start with one pause before each round. A round that fails is logged, as
// what could not be done; the next one tries again.
func (r *PeriodicWorker) StartEvery(
	ctx context.Context, pause time.Duration, log *slog.Logger, failure string, round func(ctx context.Context) (done int, err error),
) {
	r.Start(ctx, pause, func(ctx context.Context) time.Duration {
		if _, err := round(ctx); err != nil && ctx.Err() == nil {
			log.Warn(failure+"; will try again", "in", pause, "error", err)
		}
		return pause
	})
}

// Stop cancels the round that is under way and waits for its end.
func (r *PeriodicWorker) Stop() {
	if r.stop == nil {
		return
	}
	r.stop()
	<-r.done
}

// Wake ends the present pause, or the next one.
func (r *PeriodicWorker) Wake() { r.woken().Set() }

func (r *PeriodicWorker) woken() Signal {
	r.once.Do(func() { r.wake = NewSignal() })
	return r.wake
}

func (r *PeriodicWorker) loop(ctx context.Context, pause time.Duration, round func(ctx context.Context) time.Duration) {
	defer close(r.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.woken():
		case <-time.After(pause):
		}
		if ctx.Err() != nil { // a pause of 0 is over too
			return
		}
		pause = round(ctx)
	}
}
