package main

import (
	"context"
	"time"

	"outrigger/internal/loadtest"
)

const (
	// starts are how many times a node starts again; the median counts.
	starts = 5
	// settle is how long a node rests before its memory is read.
	settle = 10 * time.Second
)

// idle measures a node that has nothing to do.
func (b *bench) idle(ctx context.Context) {
	p := b.node(ctx, loadtest.Settings{})
	var took []time.Duration
	for range starts {
		must(p.Stop())
		took = append(took, must(p.Start(ctx)))
	}
	<-time.After(settle)
	b.row("idle: start to ready", millis(median(took)), "under 300 ms")
	b.row("idle: resident memory", mib(must(loadtest.Resident(p.PID()))), "under 40 MiB")
}
