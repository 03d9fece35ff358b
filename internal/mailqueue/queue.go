// Package mailqueue is the wing that answers how many messages wait in the
// outgoing mail queue and in its error queue, per node. It has the words and
// the decisions: sizes, node states, verdicts, filters, who may do what. Its SQL
// is in store, its REST API in api, its part of the console in pages.
//
// The numbers come from a Source: Outrigger's own relay, the local Postfix, the
// host application's JMX figures, or another server of the same API, each in
// a package below this one.
package mailqueue

import (
	"context"
)

// Sizes are the two numbers of a mail queue.
type Sizes struct {
	Size      int64 `json:"size" doc:"Messages in the mail queue."`
	ErrorSize int64 `json:"errorSize" doc:"Messages in the mail error queue."`
}

// Source is where the numbers of one node come from.
type Source interface {
	// Sizes reads them now. A source that does not answer is
	// fault.Unavailable with a message that names it: never old numbers.
	Sizes(ctx context.Context) (Sizes, error)
}

// SourceRelay is the name of the source that lies in the database, and is
// counted there instead of being sampled.
const SourceRelay = "relay"
