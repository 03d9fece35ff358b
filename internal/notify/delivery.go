package notify

import (
	"slices"
	"strings"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/work"
)

// DeliveryState is where a delivery stands.
type DeliveryState string

const (
	Deciding  DeliveryState = "deciding"  // has its place in the queue; whether any rule takes its event is not known yet
	Waiting   DeliveryState = "waiting"   // has its place in the channel's queue
	Delivered DeliveryState = "delivered" // the chat platform answered 2xx
	Failed    DeliveryState = "failed"    // given up; Reason says why
	Cancelled DeliveryState = "cancelled" // no enabled rule wanted it any more when its turn came
)

// DeliveryStates lists the states that a list of deliveries can be filtered by.
func DeliveryStates() []DeliveryState {
	return []DeliveryState{Deciding, Waiting, Delivered, Failed, Cancelled}
}

// A delivery keeps its first and last attempts: how the trouble began and how it
// stands. Those between are counted.
const (
	FirstAttempts = 10
	LastAttempts  = 40
)

// Delivery is one message on its way to one channel.
type Delivery struct {
	ID         int64
	EventID    int64
	ChannelID  int64
	Format     Format  // teams or slack
	Rules      []int64 // what it is for: rules, or one report (see OfReport)
	Undecided  []int64 // those of Rules that may yet refuse the event, where its reader asked
	ToChannel  bool    // none of Rules is left; it was put back for the channel itself
	State      DeliveryState
	Reason     string
	Inside     string // Reason with the platform's words, for administrators alone; empty: Reason is all
	Note       string // what of its rules could not be asked, so that it is sent without; empty: nothing
	Attempts   int    // how many there were, kept or not
	Errors5xx  int    // answers of 500 and above that count against this message
	CreatedAt  time.Time
	QueuedAt   time.Time // when it was put back into the queue by hand; zero: never
	DueAt      time.Time // when it is tried again beside the queue; zero while it is in the queue
	Beside     int       // how often it was tried beside the queue
	Batch      int64     // the digest that it is sent in, by its first delivery; 0: none
	HeldUntil  time.Time // the end of the quiet hours that it came in, also after that; zero: it came in none
	FinishedAt time.Time // zero while it waits
	Event      *Event    // nil where what is stored cannot be read

	// Generation is that of the rules by which it was put on its channel, as
	// far as its reader knows: a later one may have moved it.
	Generation int64

	Last *work.Attempt // the one that delivered; nil where that is not known
}

// Destination is where the delivery goes, and in which format.
func (d *Delivery) Destination() Destination { return Destination{d.ChannelID, d.Format} }

// AddNote adds a sentence to the note, once however many rules give it.
func (d *Delivery) AddNote(sentence string) {
	if !strings.Contains(d.Note, sentence) {
		d.Note = strings.TrimPrefix(d.Note+" "+sentence, " ")
	}
}

// NoteFact is the name of the fact that has a delivery's note.
const NoteFact = "Note"

// Noted is the event as its message says it: with the note, and where the
// platform does not say when it happened, at the time it came in.
func (d *Delivery) Noted() *Event {
	if d.Note == "" && !d.Event.At.IsZero() {
		return d.Event
	}
	e := *d.Event
	if e.At.IsZero() {
		e.At = d.CreatedAt
	}
	if d.Note != "" {
		e.Facts = append(slices.Clip(e.Facts), Fact{Name: NoteFact, Value: d.Note})
	}
	return &e
}

// Held reports whether quiet hours hold it back at a time.
func (d *Delivery) Held(at time.Time) bool { return d.State == Waiting && d.HeldUntil.After(at) }

// Result is what one attempt at a message led to, ready to be kept.
type Result struct {
	Deliveries []*Delivery // the one, or the members of a digest: the result is every member's
	State      DeliveryState
	Reason     string
	Inside     string        // as of a Delivery
	Attempt    *work.Attempt // nil where nothing was sent
	Exchange   *Exchange     // of an attempt that did not deliver; nil: nothing is kept

	Counts bool      // the attempt counts against the message
	Aside  bool      // it is tried beside the queue from now on
	DueAt  time.Time // then
	Back   int64     // the message that was set aside goes back to the head of the queue; 0: none
	// Channel, where not nil, is the channel's new standing.
	Channel *Channel
	// Fingerprint is that of the webhook URL that answered; "": none was asked.
	Fingerprint string

	Lease string // the shard's lease and its fence
	Fence int64
}

// Why messages were not sent.
const (
	cancelledReason = "No enabled rule takes it any more."
	// UnusedReason is of a message for the channel itself.
	UnusedReason          = "No rule or report uses the channel any more."
	cancelledReportReason = "The report was disabled or deleted."
	// ReplacedReason is of a report's message that still waited when the next one
	// was due.
	ReplacedReason = "A newer report replaced it."
)

// CancelledReason is why a delivery is not sent that no enabled rule or report of
// these wants any more.
func CancelledReason(rules []int64) string {
	if len(rules) > 0 && rules[0] < 0 {
		return cancelledReportReason
	}
	return cancelledReason
}

// DeliveryFilter narrows a list of deliveries; zero members ask nothing.
// REST, the console and the command line share it.
type DeliveryFilter struct {
	RuleID    int64
	ReportID  int64
	ChannelID int64
	State     DeliveryState
	// Project and Repository are keys of the event, compared without case.
	Project    string
	Repository string
	Places     []identity.Resource // only events about one of these, or something in one; nil: any
	// Among is among how many deliveries, that the rest of the filter lets through, those
	// of a project, repository or places are looked for; 0: the caller does that.
	Among  int
	Since  time.Time // created then or later
	IDs    []int64   // these and no others; nil: any
	Before int64     // deliveries with a lower id only: the page after it
	Limit  int       // at most 1,000

	// The question that a redelivery or cancellation answers: when it was asked, and how
	// many deliveries it was about. What ended later, or has come to wait later, is left
	// alone, and more than so many are fault.Conflict. Zero: nothing was asked.
	AsOf  time.Time
	Count int
}

// AtPlace reports whether the filter asks for a project or repository.
func (f *DeliveryFilter) AtPlace() bool { return f.Project != "" || f.Repository != "" }

// Limits bound what waits.
type Limits struct {
	MaxAge     time.Duration // a message waits no longer
	MaxWaiting int           // so many wait on a channel
}

// Affected is what became of a wish to redeliver or to cancel.
type Affected struct {
	Done      int  // put back into the queue of their channel, or cancelled
	ToChannel int  // of those put back, for the channel itself, since their rules are deleted
	Skipped   int  // no enabled rule wants them any more, or nothing uses the channel of deleted ones
	Forbidden int  // who asked sees them, and does not administer all their rules
	More      bool // there may be more of them
}

// Outdate leaves of a result what holds where the channel has got another webhook URL
// since: a 2xx, and that it was tried.
func (r *Result) Outdate() {
	r.Channel, r.Back, r.Aside, r.Counts = nil, 0, false, false
	if r.State != Delivered {
		r.State = Waiting
	}
}

// Counters are a delivery's counters with this attempt.
func (r *Result) Counters(d *Delivery) (attempts, errors5xx int) {
	attempts, errors5xx = d.Attempts, d.Errors5xx
	if r.Attempt != nil {
		attempts++
	}
	if r.Counts {
		errors5xx++
	}
	return attempts, errors5xx
}
