package mailqueue

import (
	"context"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/identity"
)

// RelayQueue is one node's queue as the database has it.
type RelayQueue struct {
	NodeID string `json:"nodeId" doc:"The node whose queue it is."`
	Sizes
	Oldest      time.Time `json:"oldestAt,omitzero" doc:"When the oldest message that waits was queued."`
	OldestError time.Time `json:"-"` // when the oldest message of the error queue failed; zero: there is none

	Paused      bool      `json:"paused" doc:"By an administrator."`
	NoSmarthost bool      `json:"noSmarthost,omitempty" doc:"mail.smarthost is not set on that node, so its mail waits."`
	Used        bool      `json:"-"` // there has been a message in it
	HeldUntil   time.Time `json:"heldUntil,omitzero" doc:"Paused until then: a failure or a limit (mail.provider, mail.rate, mail.quota)."`
	HeldFor     string    `json:"heldFor,omitempty" doc:"The failure or the limit."`
}

// Relay is what administrators do with Outrigger's own queues. Any node answers
// for all of them; nodeID "" means every node. The context has the user: each change,
// and each look at a message, is recorded with AuditEntry in the transaction
// that makes it. Callers check permissions.
//
// A message that does not exist is fault.NotFound, one whose state does not
// allow the operation fault.Conflict.
type Relay interface {
	// Source counts this node's queue.
	Source
	// InFlight counts the messages that this node is sending now.
	InFlight() int

	// Queues returns the queue of every node that has one in the database,
	// ordered by node, those whose process is gone included.
	Queues(ctx context.Context) ([]RelayQueue, error)
	// Messages lists messages, the oldest first.
	Messages(ctx context.Context, f MessageFilter) ([]Message, error)
	// Count says how many messages a filter selects, and when that was, for the
	// question before something is done to them.
	Count(ctx context.Context, f MessageFilter) (n int64, at time.Time, err error)
	// Total counts the messages that a filter selects, up to most. The number is not known
	// if the filter asks for more than a state and a node, and there are too many messages
	// to look at.
	Total(ctx context.Context, f MessageFilter, most int) (n int, known bool, err error)
	// Message returns one, with its attempts.
	Message(ctx context.Context, id int64) (Message, error)
	// Look returns a message's bytes as they are sent, and records who looked.
	Look(ctx context.Context, id int64) ([]byte, error)

	// Resend puts the recipients that failed back into the queue, due now, and counts
	// their attempts anew. It returns fault.Conflict if none failed.
	Resend(ctx context.Context, id int64) error
	// ResendAll does so with all that a filter selects in the error queue, and returns
	// how many messages they are.
	ResendAll(ctx context.Context, f MessageFilter) (int64, error)
	// Flush makes all waiting messages that a filter selects due now, ends a pause after
	// failures, and returns how many messages they are. An administrator's pause stays.
	Flush(ctx context.Context, f MessageFilter) (int64, error)
	// Delete removes a message, for all of its recipients.
	Delete(ctx context.Context, id int64) error
	// DeleteAll removes the recipients that a filter selects, and the messages that have
	// no other waiting or failed recipient. It returns how many messages it changed.
	DeleteAll(ctx context.Context, f MessageFilter) (int64, error)
	// SetPaused pauses sending or resumes it.
	SetPaused(ctx context.Context, nodeID string, paused bool) error
	// Handover moves a node's messages to another and returns how many. The caller has
	// seen that the first is OFFLINE; it returns fault.Conflict if that one sends all the
	// same.
	Handover(ctx context.Context, from, to string) (int64, error)
}

// AuditEntry is an entry of the audit trail about mail, by the user of
// ctx, or by "outrigger" for what the program does by itself.
func AuditEntry(ctx context.Context, action, object, objectID string) audit.Entry {
	return identity.WithActor(ctx, audit.Entry{Who: "outrigger", Area: "mail", Action: action, Object: object, ObjectID: objectID})
}
