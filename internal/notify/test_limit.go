package notify

import (
	"time"

	"outrigger/internal/fault"
)

// TestsAMinute is how many test messages a user may send in a minute, on all nodes
// together.
const TestsAMinute = 10

// TooManyTests is the error for one more, which is allowed after wait.
func TooManyTests(wait time.Duration) error {
	return fault.TooOften(wait, "You sent %d test messages within a minute. Wait a moment.", TestsAMinute)
}
