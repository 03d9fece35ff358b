package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"outrigger/internal/loadtest"
)

const (
	// slowChannels is how many channels there are; the first one is slow.
	slowChannels = 1000
	// slowAnswer is just under the 10 s after which sending gives up, so that
	// there is always a request under way to the slow channel.
	slowAnswer = 9 * time.Second
	// slowShare of the full speed is far from where queues grow on their own,
	// which would drown what is measured here.
	slowShare = 0.25
	// slowRate is the load where no full speed was measured before.
	slowRate = 1000
)

// slow measures what one slow channel does to the others.
func (b *bench) slow(ctx context.Context) {
	_, node := b.receiver(ctx, loadtest.Settings{}, slowChannels)
	load, sink := node.load, node.sink
	rate := cmp.Or(b.rate*slowShare, slowRate)
	node.run(ctx, warmUp, rate)
	var without, with []time.Duration
	for range rounds {
		began := time.Now()
		node.run(ctx, b.took/rounds, rate)
		without = append(without, loadtest.Ways(load, sink, []int{0}, began)...)

		sink.Set(0, loadtest.Answer{Delay: slowAnswer})
		began = time.Now()
		posting, cancel := context.WithTimeout(ctx, b.took/rounds)
		load.Run(posting, rate)
		cancel()
		sink.Set(0, loadtest.Answer{})
		node.arrived(ctx) // also what waited on the slow one
		with = append(with, loadtest.Ways(load, sink, []int{0}, began)...)
	}
	alone, beside := loadtest.Quantile(without, 0.99), loadtest.Quantile(with, 0.99)
	b.row(fmt.Sprintf("one slow channel among %d: the others' p99 at %.0f/s", slowChannels, rate),
		fmt.Sprintf("%s, without it %s", millis(beside), millis(alone)), "")
	b.row("one slow channel: times the run without it", fmt.Sprintf("%.2f", float64(beside)/float64(alone)), "at most 1.20")
}
