package outbox

import (
	"context"
	"time"

	"outrigger/internal/notify"
)

// pollEvery is the fallback for what no commit of this node announced:
// deliveries that other nodes wrote, channels that were opened there.
const pollEvery = time.Second

// expireEvery is how often what waits too long is looked for: limits of days
// and thousands need no more.
const expireEvery = 30 * time.Second

func (b *Outbox) poll(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	expire := time.NewTicker(expireEvery)
	defer expire.Stop()
	failing := false
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-b.gained:
			err = b.wakeChannels(ctx, b.takeFresh())
		case <-tick.C:
			if err = b.wakeChannels(ctx, b.Holding()); err == nil {
				err = b.releaseUndecided(ctx)
			}
		case <-expire.C:
			_, err = b.Queue.Expire(ctx, b.Holding(), b.Limits)
		}
		if err != nil && ctx.Err() == nil && !failing {
			b.Log.Error("waiting deliveries could not be read; will try on", "error", err)
		}
		failing = err != nil
	}
}

// takeFresh returns the shards that this node got since it was last asked: a node
// that starts gets all of them at once, and reads what waits on them together.
func (b *Outbox) takeFresh() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := b.fresh
	b.fresh = nil
	return fresh
}

// Holding returns the shards whose channels this node works on.
func (b *Outbox) Holding() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var held []int
	for n, s := range b.held {
		if s != nil {
			held = append(held, n)
		}
	}
	return held
}

// releaseUndecided lets go out what should long have been decided. What was left
// undecided before this node had the shard gets its time again.
func (b *Outbox) releaseUndecided(ctx context.Context) error {
	var long []int
	b.mu.Lock()
	for n, s := range b.held {
		if s != nil && b.Clock().Sub(s.since) >= notify.DecideWithin {
			long = append(long, n)
		}
	}
	b.mu.Unlock()
	n, err := b.Queue.ReleaseUndecided(ctx, long, notify.DecideWithin)
	if n > 0 {
		b.Log.Warn("deliveries go out undecided: nothing decided about them in time", "deliveries", n)
	}
	return err
}

// wakeChannels starts every channel of the shards on which something waits.
func (b *Outbox) wakeChannels(ctx context.Context, shards []int) error {
	waiting, err := b.Queue.Pending(ctx, shards)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		if c := b.find(p.ChannelID); c != nil {
			c.wake(p)
		}
	}
	return nil
}
