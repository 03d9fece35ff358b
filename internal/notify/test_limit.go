package notify

import (
	"time"

	"outrigger/internal/fault"
)

// Reopened is what became of what waited on a channel that was opened.
type Reopened struct{ Waiting, Cancelled int }

// TestsAMinute is how many test messages a user sends in a minute, on all nodes
// together.
const TestsAMinute = 10

// TooManyTests is the answer to one more, which is allowed after a time.
func TooManyTests(wait time.Duration) error {
	return fault.TooOften(wait, "You sent %d test messages within a minute. Wait a moment.", TestsAMinute)
}
