package notify

import "time"

// TroubleAfter is how long a channel may fail before people are told.
const TroubleAfter = 5 * time.Minute

// RetryMode says what becomes of the messages that wait on a channel that is tried
// again.
type RetryMode string

const (
	RetryAll    RetryMode = "all"    // all go out, as digests where they are many
	RetryRecent RetryMode = "recent" // those of the last 24 h go out
	RetryNone   RetryMode = "none"   // only what comes from now on
)

// RetryModes lists all modes, in the order in which people are asked.
func RetryModes() []RetryMode { return []RetryMode{RetryAll, RetryRecent, RetryNone} }

// Reopened counts what waited on a channel that was opened again: what goes out now, and
// what was cancelled.
type Reopened struct{ Waiting, Cancelled int }
