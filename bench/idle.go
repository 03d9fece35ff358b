package main

import (
	"context"
	"slices"
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
func (b *bench) idle(ctx context.Context) error {
	p, err := b.node(ctx, loadtest.Settings{})
	if err != nil {
		return err
	}
	var took []time.Duration
	for range starts {
		if _, err := p.Stop(); err != nil {
			return err
		}
		d, err := p.Start(ctx)
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	slices.Sort(took)
	<-time.After(settle)
	resident, err := loadtest.Resident(p.PID())
	if err != nil {
		return err
	}
	b.row("idle: start to ready", millis(took[starts/2]), "under 300 ms")
	b.row("idle: resident memory", mib(resident), "under 40 MiB")
	return nil
}
