package relay

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
)

// job is a message on its way: what sending it needs, and the recipients whose
// turn it is.
type job struct {
	id         int64
	sender     string // "" for the null sender
	trace      string // how it came: the Received: line up to the id
	queuedAt   time.Time
	size       int64
	eightBit   bool // needs 8BITMIME
	utf8       bool // needs SMTPUTF8
	openEnd    bool // its last line has no CRLF: needs CHUNKING
	recipients recipients
	turn       []int  // which of them are due
	body       []byte // compressed; empty when it is in parts
	plain      []byte // the message itself, where it is at hand
	parts      int

	// The dispatch's own:
	state jobState
	again bool // it was due again while it was held
	probe bool // it is to show whether others are refused too
}

// message is the job as the smarthost gets it, but for its content.
func (j *job) message(turn []int) *smtpclient.Message {
	m := &smtpclient.Message{Sender: j.sender, EightBit: j.eightBit, UTF8: j.utf8, OpenEnd: j.openEnd, Recipients: make([]string, len(turn))}
	for i, n := range turn {
		m.Recipients[i] = j.recipients[n].Address
	}
	return m
}

// recipient is how a message stands with one of its recipients, as it is stored.
type recipient struct {
	Address  string          `json:"to"`
	State    mailqueue.State `json:"state,omitempty"`    // "" is mailqueue.Waiting
	Since    int64           `json:"since,omitempty"`    // microseconds: when it was put back into the queue; 0: never
	Due      int64           `json:"due,omitempty"`      // microseconds: when it is tried again; 0: at once
	Attempts int             `json:"attempts,omitempty"` // that counted, since then
	Answer   string          `json:"answer,omitempty"`   // to the last one, or why there was none
}

func (r *recipient) waits() bool { return r.State == "" }

type recipients []recipient

// encode is the recipients as they are stored.
func (list recipients) encode() string {
	b, _ := json.Marshal(list) // strings and integers always encode
	return string(b)
}

func decodeRecipients(text []byte) (list recipients, err error) {
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("decoding recipients: %w", err)
	}
	return list, nil
}

// due lists those whose turn it is.
func (list recipients) due(now time.Time) (turn []int) {
	for i := range list {
		if r := &list[i]; r.waits() && r.Due <= db.Micros(now) {
			turn = append(turn, i)
		}
	}
	return turn
}

// tried reports whether there was an attempt at the message.
func (list recipients) tried() bool {
	return slices.ContainsFunc(list, func(r recipient) bool { return r.Answer != "" || r.Attempts > 0 })
}

// jobState is where a message is that the database need not be asked for.
type jobState int

const (
	away     jobState = iota // not in memory
	arriving                 // being committed
	ready                    // due
	inFlight                 // being sent
	doubted                  // refused, and perhaps committed all the same
)

// outcome is what an attempt led to for one recipient.
type outcome struct {
	state  mailqueue.State
	delay  time.Duration // for Waiting: until the next try
	counts bool          // it was an attempt
	status int           // the smarthost's code, 0 when there was no answer
	answer string        // the smarthost's words
	err    string        // why there was no answer, or what it does not offer
}

// text is the outcome in one sentence for lists.
func (o *outcome) text() string {
	if o.err != "" {
		return o.err
	}
	return o.answer
}

// apply has a recipient stand as the outcome says.
func (o *outcome) apply(r *recipient, now time.Time) {
	r.State, r.Due, r.Answer = o.state, 0, o.text()
	if o.counts {
		r.Attempts++
	}
	if o.state == mailqueue.Waiting {
		r.State, r.Due = "", db.Micros(now.Add(o.delay))
	}
}

// result is an attempt at a message, to be kept.
type result struct {
	*job
	at       time.Time
	took     time.Duration
	outcomes []outcome // one for each recipient whose turn it was
	bounce   *arrival  // for the sender; nil: none
	lease    string
	fence    int64
}

// done reports whether every recipient of the attempt has it.
func (r *result) done() bool {
	return !slices.ContainsFunc(r.outcomes, func(o outcome) bool { return o.state != mailqueue.Sent })
}
