package playground

import (
	"context"
	"log/slog"
	"time"

	"outrigger/internal/playground/samples"
	"outrigger/internal/work"
)

// Day is a team's working day in a few minutes: every sample event once, and a
// while in which the chat platform takes no messages.
type Day struct {
	Platform *Platform
	Chat     *Chat
	Pause    time.Duration // between two events
	Log      *slog.Logger
}

// In the middle of the day the chat platform is busy for a few events, so that
// messages wait and go out after it.
const (
	busyFrom  = 12
	busyUntil = 18
)

// Play plays it, until it is over or ctx ends. A fault chosen on the page
// meanwhile stays.
func (d *Day) Play(ctx context.Context) {
	for n := range samples.Samples() {
		if work.Sleep(ctx, d.Pause) != nil {
			return
		}
		switch n {
		case busyFrom:
			d.Chat.change(Friendly, Busy)
		case busyUntil:
			d.Chat.change(Busy, Friendly)
		}
		if _, _, err := d.Platform.Next(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("the played platform's event could not be posted", "error", err)
		}
	}
}

// change sets a fault mode where the present one is from.
func (c *Chat) change(from, to FaultMode) {
	c.mu.Lock()
	is := c.mode
	c.mu.Unlock()
	if is == from {
		c.SetFaultMode(to)
	}
}
