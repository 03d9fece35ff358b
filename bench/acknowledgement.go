package main

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/loadtest"
)

// quietRates are loads, in events a second, that leave a node time to spare.
var quietRates = []float64{100, 500, 2000}

// acknowledgements measures how long senders wait, and messages take: at half of
// the rate that a node was measured with, and at quiet rates.
func (b *bench) acknowledgements(ctx context.Context, name string, node *subject) error {
	half := time.Now()
	if err := b.run(ctx, node, b.took, node.rate()/2); err != nil {
		return err
	}
	answers, ways := node.load.Answers(half), loadtest.Ways(node.load, node.sink, nil, half)
	sync, err := b.disk()
	if err != nil {
		return err
	}
	b.row(name+": p99 of the acknowledgement at half that rate",
		fmt.Sprintf("%s (a bare sync of the disk %s)", millis(loadtest.Quantile(answers, 0.99)), millis(sync)), "under 50 ms")
	b.row(name+": p99 of the arrival at half that rate", millis(loadtest.Quantile(ways, 0.99)), "")
	for _, rate := range quietRates {
		began := time.Now()
		if err := b.run(ctx, node, b.took, rate); err != nil {
			return err
		}
		answers := node.load.Answers(began)
		b.row(fmt.Sprintf("%s: acknowledgement at %.0f/s", name, rate),
			fmt.Sprintf("p50 %s, p99 %s", millis(loadtest.Quantile(answers, 0.5)), millis(loadtest.Quantile(answers, 0.99))), "")
	}
	return nil
}
