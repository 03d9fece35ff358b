// Package work holds the words of durable work: an attempt, the backoff after
// a failed one, what Retry-After asks for, the gate that stays closed
// meanwhile, and the loop over shards that the nodes of a cluster divide. It
// has no table of its own: chat delivery, mail and migration keep theirs.
package work

import "time"

// Backoff is how long to wait after each failure in a row.
type Backoff struct {
	Steps  []time.Duration // the last one repeats
	Jitter float64         // up to this part of the step comes on top, so that many do not come back at once
}

// Delay is how long to wait after failure number step, counted from 0: never
// less than the step. rnd gives numbers from 0 to below 1, as math/rand/v2's
// Float64 does.
func (b Backoff) Delay(step int, rnd func() float64) time.Duration {
	if len(b.Steps) == 0 {
		return 0
	}
	delay := b.Steps[min(max(step, 0), len(b.Steps)-1)]
	if b.Jitter > 0 {
		delay += time.Duration(rnd() * b.Jitter * float64(delay))
	}
	return delay
}
