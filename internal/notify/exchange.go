package notify

import "outrigger/internal/work"

// MaxRequest is how many bytes of a message that did not get through are kept;
// no message is longer.
const MaxRequest = 20 << 10

// Header is a header of an answer that is kept and shown.
type Header struct{ Name, Value string }

// Exchange is what went to and fro with an attempt that did not deliver, beside
// the answer's status and body.
type Exchange struct {
	Headers []Header // of the answer; for those who may read its body
	Request string   // the message as it was sent; empty where it is not kept
	Format  Format   // the message's; empty: not known
	Batch   int64    // the digest that was sent, by its first delivery; 0: a message of its own
}

// Attempt is an attempt at a delivery, as it is kept.
type Attempt struct {
	work.Attempt
	Exchange

	// RequestWithheld: the request is kept, and for administrators only.
	RequestWithheld bool
}

// Show withholds what a reader may not read: headers as the answer, and of a digest,
// which may be about things of others, what was sent.
func (a *Attempt) Show(inside, administers bool) {
	if !inside && !a.Public && len(a.Headers) > 0 {
		a.Headers, a.Withheld = nil, true
	}
	ShowAttempt(&a.Attempt, inside)
	if a.Batch != 0 && a.Request != "" && !administers {
		a.Request, a.RequestWithheld = "", true
	}
}
