package work

import (
	"context"
	"sync"
	"time"
)

// Rounds does the same again and again in the background, one round after
// another. The zero value has not begun.
type Rounds struct {
	stop    context.CancelFunc
	through chan struct{} // closed when the last round has ended

	once sync.Once
	wake chan struct{}
}

// Start has the first round begin after a pause, and each further one after the
// pause that the round before it gives. The rounds outlive ctx; Stop cancels
// their own.
func (r *Rounds) Start(ctx context.Context, first time.Duration, round func(ctx context.Context) (pause time.Duration)) {
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.through = make(chan struct{})
	go r.loop(ctx, first, round)
}

// Stop cancels the round that is under way and waits for its end.
func (r *Rounds) Stop() {
	if r.stop == nil {
		return
	}
	r.stop()
	<-r.through
}

// Wake ends the present pause, or the next one.
func (r *Rounds) Wake() {
	select {
	case r.woken() <- struct{}{}:
	default:
	}
}

func (r *Rounds) woken() chan struct{} {
	r.once.Do(func() { r.wake = make(chan struct{}, 1) })
	return r.wake
}

func (r *Rounds) loop(ctx context.Context, pause time.Duration, round func(ctx context.Context) time.Duration) {
	defer close(r.through)
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
