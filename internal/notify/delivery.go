package notify

import (
	"time"

	"outrigger/internal/work"
)

// DeliveryState is where a delivery stands.
type DeliveryState string

const (
	Waiting   DeliveryState = "waiting"   // has its place in the channel's queue
	Delivered DeliveryState = "delivered" // the chat platform answered 2xx
	Failed    DeliveryState = "failed"    // given up; Reason says why
	Cancelled DeliveryState = "cancelled" // no enabled rule wanted it any more when its turn came
)

// DeliveryStates lists the states that a list of deliveries can be filtered by.
func DeliveryStates() []DeliveryState {
	return []DeliveryState{Waiting, Delivered, Failed, Cancelled}
}

// Delivery is one message on its way to one channel.
type Delivery struct {
	ID         int64
	EventID    int64
	ChannelID  int64
	Format     Format // teams or slack
	Rules      []int64
	State      DeliveryState
	Reason     string
	Attempts   int
	Errors5xx  int // answers of 500 and above that this message got
	CreatedAt  time.Time
	FinishedAt time.Time // zero while it waits
	Event      *Event    // nil where what is stored cannot be read

	// Generation is that of the rules by which it was put on its channel, as
	// far as whoever read it knows: a later one may have moved it.
	Generation int64

	last work.Attempt // the one that delivered
}

// Result is what one attempt at a delivery led to, ready to be kept.
type Result struct {
	Delivery *Delivery
	State    DeliveryState // Waiting: to be tried again
	Reason   string
	Attempt  *work.Attempt // nil where nothing was sent

	// SetAside is a delivery that fails because the one after it was taken.
	SetAside *Delivery
	// Probe says that the delivery was tried in place of the one before it,
	// so that a server error is the channel's and does not count against it.
	Probe bool
	// Channel, where not nil, is the channel's new standing.
	Channel *Channel

	Lease string // the shard's lease and its fence
	Fence int64
}

// SetAsideReason is why a message failed that alone got 5xx.
const SetAsideReason = "The chat platform answered this message with a server error 5 times or more, and took the next one."

// CancelledReason is why a message was not sent.
const CancelledReason = "No enabled rule wants it any more."

// DeliveryFilter narrows a list of deliveries; zero members ask nothing.
// REST, the console and the command line share it.
type DeliveryFilter struct {
	RuleID    int64
	ChannelID int64
	State     DeliveryState
	Before    int64 // deliveries with a lower id only: the page after it
	Limit     int   // at most 1,000
}
