package notify

import (
	"slices"
	"time"

	"outrigger/internal/fault"
)

// Outcome says what became of a webhook.
type Outcome string

const (
	Understood Outcome = "understood"     // it held at least one event
	Silent     Outcome = "silent"         // understood, and no rule can take it
	UnknownKey Outcome = "unknown"        // an event key that this program does not know
	Unreadable Outcome = "not_understood" // kept with its body

	// Reported is not of a webhook: it is what an activity report said.
	Reported Outcome = "report"
)

// Receipt is one verified webhook on its way into the store.
type Receipt struct {
	Connection string
	Hook       string // the name of the one it came in by; "" is the connection's own
	HookID     int64  // of the hook that verified it
	Key        string
	RequestID  string // empty: none was given
	Address    string // of the sender, for the audit trail
	AnswerID   string // the id of our answer, likewise
	ReceivedAt time.Time
	Outcome    Outcome
	Reason     string
	Events     []Event
	Build      *PlatformBuild // of who may tell it, and that came in by no hook; nil: it is a webhook
	Digest     []byte         // of the body, the same for the same body
	Body       []byte         // kept where it is Unreadable

	// Set by Accept: EventID is that of its first event; Duplicate where it was there before, so that nothing was
	// written, and DuplicateOf the event that it was then; Undecided where the
	// database did not answer in time, so that it may be committed yet. Until that
	// is closed the receipt, Body included, must be left alone.
	EventID     int64
	Duplicate   bool
	DuplicateOf int64
	Undecided   <-chan struct{}

	// Set by Match, by the rules of one generation.
	Generation  int64
	Verifier    *Hook       // the hook that it came in by, as it is now
	Refusal     error       // it may not be taken
	withheld    bool        // it is kept, and nothing is delivered
	connectedAt time.Time   // when the connection was made; zero for one of the file
	Kept        []Event     // what is stored: Events, or what many of them were gathered to
	Matched     [][]Match   // of each in Kept
	Deliveries  []*Delivery // one for each event in Kept, channel and format

	Commits []NamedCommit // that it names, each once

	// Encoded is Kept as it is stored; the store sets it.
	Encoded [][]byte
}

// Match judges the webhook by its hook, finds the rules of its events and plans
// the deliveries.
func (r *Receipt) Match(rules *RuleSet) {
	r.Generation = rules.Generation
	r.Matched = r.Matched[:0]
	r.Deliveries = r.Deliveries[:0]
	if r.judge(rules.Platforms); r.Refusal != nil {
		return
	}
	switch {
	case r.Outcome == Silent:
		r.Kept = nil
	case r.GroupsRefs():
		r.groupRefs(rules)
	default:
		r.matchEach(rules)
	}
	r.plan(rules.Generation)
	r.hold(rules)
	r.nameCommits(rules)
}

// matchEach finds the rules of every event by itself.
func (r *Receipt) matchEach(rules *RuleSet) {
	r.Kept = r.Events
	for i := range r.Events {
		e := &r.Events[i]
		var matched []Match
		if !r.withheld {
			matched = rules.Match(e, nil)
			if by, ok := e.KeyChange(); ok && r.Verifier.Scope.Holds(by.From) {
				matched = rules.matchOld(e, by, matched)
			}
		}
		r.Matched = append(r.Matched, matched)
	}
}

// plan makes one delivery of each event, channel and format. It waits to be sent as soon as
// one rule takes the event, and is undecided while none is known to.
func (r *Receipt) plan(generation int64) {
	for i, matched := range r.Matched {
		first := len(r.Deliveries)
	rules:
		for _, match := range matched {
			for _, d := range r.Deliveries[first:] {
				if d.ChannelID == match.ChannelID && d.Format == match.Format {
					d.add(match)
					continue rules
				}
			}
			d := &Delivery{
				EventID: int64(i), ChannelID: match.ChannelID, Format: match.Format,
				State: Deciding, Event: &r.Kept[i], Generation: generation,
			}
			d.add(match)
			r.Deliveries = append(r.Deliveries, d)
		}
	}
}

// add makes the delivery one of a further rule.
func (d *Delivery) add(m Match) {
	d.Rules = append(d.Rules, m.ID)
	if m.Open != 0 {
		d.Undecided = append(d.Undecided, m.ID)
		return
	}
	d.State = Waiting
	d.AddNote(m.NoteUnanswered(m.Unanswered))
}

// hold has what comes in quiet hours wait for their end, as far as it is decided
// which rules take it.
func (r *Receipt) hold(rules *RuleSet) {
	for _, d := range r.Deliveries {
		if d.State == Waiting {
			d.HeldUntil = rules.HeldUntil(d.takers(), d.Event, r.ReceivedAt)
		}
	}
}

// takers are the rules of the delivery but for those that are undecided.
func (d *Delivery) takers() []int64 {
	if len(d.Undecided) == 0 {
		return d.Rules
	}
	return slices.DeleteFunc(slices.Clone(d.Rules), func(id int64) bool { return slices.Contains(d.Undecided, id) })
}

// judge holds the events to the scope of the hook, as it is now: it may have
// been deleted or moved since it verified them.
func (r *Receipt) judge(p *Platforms) {
	r.Refusal, r.withheld, r.connectedAt = nil, false, time.Time{}
	if r.Build != nil {
		if p != nil {
			if c := p.Connections.Find(r.Connection); c != nil {
				r.connectedAt = c.CreatedAt
				return
			}
		}
		r.Refusal = fault.New(fault.NotFound, "There is no connection %q.", r.Connection)
		return
	}
	var c *Connection
	if r.Verifier, c = p.Hook(r.Connection, r.Hook); c != nil {
		r.connectedAt = c.CreatedAt
	}
	if r.Verifier == nil || r.Verifier.ID != r.HookID {
		r.Refusal = fault.New(fault.NotFound, "The connection %q has no hook %q.", r.Connection, r.Hook)
		return
	}
	for i := range r.Events {
		e := &r.Events[i]
		switch r.Verifier.judge(e) {
		case outside:
			r.Refusal = fault.New(fault.Forbidden, "This hook is for %s; %s needs a hook of its own.", r.Verifier.Scope,
				Scope{e.Project.Key, e.Repository.Key})
			return
		case withheld:
			r.withheld = true
		}
	}
}

// Written reports whether the webhook is new, and taken.
func (r *Receipt) Written() bool { return !r.Duplicate && r.Refusal == nil }

// withheldReason is kept with an event that is not delivered.
const withheldReason = "Its repository or project has a new key that no administrator has confirmed for this hook yet. Nothing is " +
	"delivered until then."

// Why is the reason that is kept with the webhook.
func (r *Receipt) Why() string {
	if r.withheld && r.Reason == "" {
		return withheldReason
	}
	return r.Reason
}

// HasKeyChange reports whether an event of the webhook says that keys changed.
func (r *Receipt) HasKeyChange() bool {
	for i := range r.Events {
		if _, ok := r.Events[i].KeyChange(); ok {
			return true
		}
	}
	return false
}
