package notify

import (
	"fmt"
	"strings"
	"time"
)

// DecideWithin is how long a delivery may wait for its rules to be decided; then
// it goes out without. Nothing that is asked takes nearly as long, so that it
// is reached only where nothing decides.
const DecideWithin = time.Minute

// Decision is what came of a rule of which the event alone did not tell whether
// it takes the event. It is kept as long as the event.
type Decision struct {
	RuleID int64
	Taken  bool
	Member string // of the rule, that said no; empty where it was taken
	Note   string // why it was taken although something could not be asked
}

// Settlement is what was decided about a delivery: all of its undecided rules or
// some of them.
type Settlement struct {
	Delivery  *Delivery
	Decisions []Decision
	// Event takes the place of the delivery's event where a webhook changed many
	// refs and its rules take fewer of them; nil: it stays as it is.
	Event *Event
}

// OverdueNote is what a delivery says that went out undecided.
const OverdueNote = "Outrigger could not check the filters of its rule in time."

// NoteUnanswered says that the rule took an event although conditions could not
// be asked; empty where there are none.
func (r *Rule) NoteUnanswered(conditions Conditions) string {
	if conditions == 0 {
		return ""
	}
	var labels []string
	for _, c := range conditions.List() {
		labels = append(labels, "“"+MemberLabel(c.String())+"”")
	}
	return fmt.Sprintf("Sent although %s of the rule “%s” could not be checked.", strings.Join(labels, " and "), r.Name)
}

// Decide judges an event of which conditions were open when it came. The rule's
// keys are not asked again: a rename may have moved them since. Of an event about
// many refs it gives what is left of it where the rule takes fewer, else nil.
func (c *CompiledRule) Decide(e *Event, a Answers) (Judgement, *Event) {
	if c.broken != nil {
		return Judgement{Verdict: Refused, No: c.brokenBy}, nil
	}
	if e.Refs == nil || len(e.Refs.Candidates) == 0 {
		return c.decide(e, a), nil
	}
	var all Judgement
	var names []string
	for _, name := range e.Refs.Candidates {
		one := *e
		one.Branch = name
		j := c.decide(&one, a)
		all.Open |= j.Open
		all.Unanswered |= j.Unanswered
		switch j.Verdict {
		case Refused:
			all.No = j.No
		default:
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 0:
		return Judgement{Verdict: Refused, No: all.No}, nil
	case all.Open != 0:
		all.Verdict = Undecided
		return all, nil
	}
	all.Verdict = Taken
	return all, e.narrow(names)
}

func (c *CompiledRule) decide(e *Event, a Answers) (j Judgement) {
	s := newSubject(e)
	c.ask(c.filters, &s, a, &j)
	return j
}
