package notify

import (
	"time"

	"outrigger/internal/fault"
)

// ChannelState says whether a channel is tried at all.
type ChannelState string

const (
	Open   ChannelState = "open"   // messages go out, perhaps after a pause
	Broken ChannelState = "broken" // messages wait, and one is tried from time to time; Reason says why
)

// unreachableAfter is how long a channel may go without a 2xx, while
// messages are tried, before it is shown as unreachable. Probing goes on.
const unreachableAfter = 24 * time.Hour

// TroubleAfter is how long a channel may fail before people are told.
const TroubleAfter = 5 * time.Minute

// Shards is into how many shards channels are divided; each shard is held
// by one node at a time.
const Shards = 64

// Channel is a place in a chat to which rules and reports send, with its webhook
// URL, which may be replaced by another one, and how it fares. The URL itself stays
// in the store; what is here may be shown.
type Channel struct {
	ID          int64
	Version     int64  // counts saves; starts at 1
	Named       string // what the channel itself is called; "": nothing
	Format      Format // of messages for rules and reports whose own is auto
	Fingerprint string // of the present webhook URL
	Host        string
	Mask        string // the URL with its secret parts masked

	State        ChannelState
	Reason       string    // why it is broken, in the platform's words where everyone may read them
	Inside       string    // Reason with the platform's words, for administrators alone; empty: Reason is all
	BrokenAt     time.Time // zero when it is not
	GateUntil    time.Time // nothing is sent before; zero when open. Of a broken channel: the next probe
	GateStep     int       // how many times the gate closed since the last 2xx
	GateReason   string    // why the gate closed last; empty after a 2xx
	GateInside   string    // what Inside is to Reason
	Rejected     int       // messages refused in a row
	Refused      int       // answers in a row that say that the channel itself is wrong
	Suspect      int64     // the message that was set aside last and is not yet known to be alone in its trouble; 0: none
	FailingSince time.Time // the first failure since the last 2xx; zero when there is none
	LastOKAt     time.Time // the last 2xx; zero: never
	Idle         bool      // it failed last, and nothing waits on it

	Waiting int // messages that wait, where the query counted them; of a list, MaxListed is that many or more
}

// Pending is a channel on which something waits.
type Pending struct {
	ChannelID int64
	GateUntil time.Time // zero when the gate is open
	Queued    bool      // something is to be sent now: from the queue, or set aside and due
	Released  bool      // quiet hours have ended for something that waits
}

// unreachable reports whether the channel has been failing for too long.
func (c *Channel) unreachable(now time.Time) bool {
	return !c.FailingSince.IsZero() && now.Sub(c.FailingSince) >= unreachableAfter
}

// ShardOf is the shard that a channel belongs to. Ids are given in turn, so
// they spread evenly by themselves.
func ShardOf(channelID int64) int { return int(channelID % Shards) }

// ChannelStatus is how a channel fares, in one word and one sentence.
type ChannelStatus struct {
	State  string    // open, waiting, unreachable or broken
	Reason string    // in the platform's words; empty when open
	Since  time.Time // when it began to fail
	Until  time.Time // when it is tried again
}

// Status says how the channel fares. One that is tried again by hand is waiting,
// with the reason that it had, until it takes a message.
func (c *Channel) Status(now time.Time) ChannelStatus {
	switch {
	case c.State == Broken:
		return ChannelStatus{State: "broken", Reason: c.Reason, Since: c.BrokenAt, Until: c.GateUntil}
	case c.Idle && !c.GateUntil.After(now): // what it would take now is not known, and asked with the next message
	case c.unreachable(now):
		return ChannelStatus{State: "unreachable", Reason: c.GateReason, Since: c.FailingSince, Until: c.GateUntil}
	case c.GateStep > 0 || c.Refused > 0 || c.GateReason != "":
		return ChannelStatus{State: "waiting", Reason: c.GateReason, Since: c.FailingSince, Until: c.GateUntil}
	}
	return ChannelStatus{State: string(Open)}
}

// Backlog is how much waits.
type Backlog struct {
	Waiting  int
	Deciding int            // whether these wait as well is not decided yet
	Oldest   time.Time      // since when the oldest has waited; zero when nothing waits
	Channels map[string]int // that rules use, by state: open, waiting, unreachable, broken
}

// Rank orders channels: broken, failing, others.
func (c *Channel) Rank() int {
	switch {
	case c.State == Broken:
		return 2
	case !c.FailingSince.IsZero():
		return 1
	}
	return 0
}

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

// TestsAMinute is how many test messages a user may send in a minute, on all nodes
// together.
const TestsAMinute = 10

// TooManyTests is the error for one more, which is allowed after wait.
func TooManyTests(wait time.Duration) error {
	return fault.TooOften(wait, "You sent %d test messages within a minute. Wait a moment.", TestsAMinute)
}
