package mailqueue

import (
	"slices"
	"time"

	"outrigger/internal/work"
)

// State is where a message stands with one recipient.
type State string

const (
	Waiting State = "waiting" // to be sent, or being sent
	Sent    State = "sent"    // the smarthost has taken it
	Failed  State = "error"   // given up: in the error queue
	Deleted State = "deleted" // an administrator took it away, others of the message wait or failed
)

// Message is one message of the relay's queues as lists show it. A message
// with no waiting and no failed recipient is removed.
type Message struct {
	ID         int64
	NodeID     string // whose queue it is in
	MessageID  string // the header's, "" where there is none
	Subject    string // decoded
	Sender     string // the envelope's; "" for the null sender
	Recipients []Recipient
	Bytes      int64 // as it was received
	QueuedAt   time.Time
	SendCount  int       // attempts that counted, the most of any recipient's
	DueAt      time.Time // when it is tried next; zero when no recipient is waiting
	LastError  string    // of the latest attempt that failed
}

// Recipient is where a message stands with one of its recipients.
type Recipient struct {
	Address   string
	State     State
	SendCount int
	DueAt     time.Time // zero unless it waits
	LastError string
}

// States lists the queues that the message counts in: Waiting is the mail
// queue, Failed the error queue; it may be both.
func (m *Message) States() []State {
	var states []State
	for _, s := range []State{Waiting, Failed} {
		if slices.ContainsFunc(m.Recipients, func(r Recipient) bool { return r.State == s }) {
			states = append(states, s)
		}
	}
	return states
}

// Attempt is one try at sending a message.
type Attempt struct {
	work.Attempt
	NodeID     string   // the node that tried
	Recipients []string // addresses that it was for
}
