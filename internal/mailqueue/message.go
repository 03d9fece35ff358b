package mailqueue

import (
	"context"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
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
	ID         int64       `json:"id" doc:"Names it in /mail/messages/{id}."`
	NodeID     string      `json:"nodeId" doc:"Whose queue it is in."`
	MessageID  string      `json:"messageId,omitempty" doc:"Its header Message-ID."`
	Subject    string      `json:"subject" doc:"Of the header, decoded."`
	Sender     string      `json:"sender" doc:"Of the envelope; empty for what must not be answered."`
	Recipients []Recipient `json:"recipients" doc:"Where it stands with each of them."`
	Bytes      int64       `json:"bytes" doc:"The size of the message in bytes."` // as it was received
	QueuedAt   time.Time   `json:"queuedAt" doc:"When the relay took it."`
	SendCount  int         `json:"sendCount" doc:"Attempts that counted, the most of any recipient."`
	States     []State     `json:"states" enum:"waiting,sent,error,deleted" doc:"The queues that it counts in."`
	DueAt      time.Time   `json:"dueAt,omitzero" doc:"When it is tried next."` // zero when no recipient is waiting
	LastError  string      `json:"lastError,omitempty" doc:"Of the latest attempt that failed."`
	Attempts   []Attempt   `json:"attempts,omitempty" doc:"The oldest first; lists have none."`
}

// Recipient is where a message stands with one of its recipients.
type Recipient struct {
	Address   string    `json:"address" doc:"The recipient's address in the envelope."`
	State     State     `json:"state" enum:"waiting,sent,error,deleted" doc:"error: given up, in the mail error queue."`
	SendCount int       `json:"sendCount" doc:"Attempts for this recipient that counted."`
	DueAt     time.Time `json:"dueAt,omitzero" doc:"When it is tried next; absent unless it waits."`
	LastError string    `json:"lastError,omitempty" doc:"Why the latest attempt failed; absent where none did."`
}

// StatesOf lists the queues that a message counts in for its recipients: Waiting
// is the mail queue, Failed the error queue; it may be both.
func StatesOf(recipients []Recipient) (states []State) {
	for _, s := range []State{Waiting, Failed} {
		if slices.ContainsFunc(recipients, func(r Recipient) bool { return r.State == s }) {
			states = append(states, s)
		}
	}
	return states
}

// Attempt is one try at sending a message.
type Attempt struct {
	At         time.Time `json:"at" doc:"When it was made."`
	NodeID     string    `json:"nodeId" doc:"Who tried."`
	Recipients []string  `json:"recipients" doc:"Whom it was about."`
	Status     int       `json:"status,omitempty" doc:"The SMTP code; absent when no answer came."`
	Answer     string    `json:"answer,omitempty" doc:"The words after the SMTP code."`
	Seconds    float64   `json:"seconds" doc:"How long it took, in seconds."`
	Error      string    `json:"error,omitempty" doc:"Why no answer came."`
}

// ParseMessageID reads the id of a message in an address.
func ParseMessageID(ctx context.Context, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, identity.Missing(ctx, "There is no message %q.", text)
	}
	return id, nil
}

// HideMissing answers for a message that does not exist what the caller would
// be told about one that is not for them.
func HideMissing(ctx context.Context, err error) error {
	if fault.Is(err, fault.NotFound) {
		return identity.Missing(ctx, "%s", fault.As(err).Message)
	}
	return err
}
