package main

import (
	"context"
	"errors"
	"time"
)

const (
	// warmUp fills caches and pools, and is not measured.
	warmUp = 2 * time.Second
	// rounds are taken in turn, by what is compared.
	rounds = 4
)

// meter counts what a program does, and the time that it takes.
type meter struct {
	work func(ctx context.Context, about time.Duration) int // what it did: of events, messages, answers
	cpu  func() (time.Duration, error)                      // that it has used so far

	done       int
	took, used time.Duration // used is processor time
}

func (m *meter) rate() float64       { return float64(m.done) / m.took.Seconds() }
func (m *meter) each() time.Duration { return m.used / time.Duration(max(m.done, 1)) }

// inTurn has each program work for b.took altogether, a round each in turn, so that
// a machine that becomes slower on its own slows all.
func (b *bench) inTurn(ctx context.Context, all ...*meter) {
	for _, m := range all {
		m.work(ctx, warmUp)
		m.done, m.took, m.used = 0, 0, 0
	}
	for range rounds {
		for _, m := range all {
			before, began := must(m.cpu()), time.Now()
			m.done += m.work(ctx, b.took/rounds)
			m.took += time.Since(began)
			m.used += must(m.cpu()) - before
			if m.done == 0 {
				check(errors.New("nothing was done"))
			}
		}
	}
}
