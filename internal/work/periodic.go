package work

import (
	"context"
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
