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

// Gate is closed after a failure until a time, and counts the failures in a
// row. The zero Gate is open. Its owner stores both members.
type Gate struct {
	Until time.Time // closed before this time
	Step  int       // failures since the last success: what Backoff.Delay takes
}

// Open reports whether work may go on.
func (g *Gate) Open(now time.Time) bool { return !now.Before(g.Until) }

// Close shuts the gate for delay and counts the step. It never opens a gate
// earlier than a former Close said: two requests that failed together may
// carry different waits.
func (g *Gate) Close(now time.Time, delay time.Duration) {
	if until := now.Add(delay); until.After(g.Until) {
		g.Until = until
	}
	g.Step++
}

// Success opens the gate, and the steps start again.
func (g *Gate) Success() { *g = Gate{} }
