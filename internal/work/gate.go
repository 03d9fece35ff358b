package work

import "time"

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
