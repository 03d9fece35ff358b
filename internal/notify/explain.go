package notify

import (
	"slices"

	"outrigger/internal/identity"
)

// RuleOutcome is what a rule made of an event.
type RuleOutcome string

const (
	RuleTook      RuleOutcome = "taken"
	RuleRefused   RuleOutcome = "refused"   // Reason says why
	RuleDisabled  RuleOutcome = "disabled"  // at that moment
	RuleUndecided RuleOutcome = "undecided" // it is being decided
	RuleOtherRefs RuleOutcome = "other"     // of a webhook about many refs, it took others
	RuleWithheld  RuleOutcome = "withheld"  // it would have taken the event, which is not delivered
)

// RuleVerdict is a rule as it was when an event came, and what it made of it.
type RuleVerdict struct {
	RuleVersion
	Outcome  RuleOutcome
	Reason   Reason    // of RuleRefused
	Revoked  bool      // the reason is an account that is still revoked
	Note     string    // what else there is to say
	Delivery *Delivery // of RuleTook; nil where it is not kept any more
}

// Explanation says of an event which rules took it and why the others did not.
type Explanation struct {
	Event LoggedEvent
	// Rules that could concern it, those of its repository first, then its
	// project's, then the global ones, as far as the caller administers them.
	Rules []RuleVerdict
	// Hidden counts the others of the page, and HiddenTook those of them that took it.
	Hidden, HiddenTook int
	// Elsewhere counts the rules of other projects and repositories, up to some
	// thousand: MaxElsewhere stands for that and more.
	Elsewhere  int
	Deliveries []DeliveryInfo // as far as who asks may see them

	Next *VersionCursor // of the next page; nil on the last
}

// MaxElsewhere bounds the count of rules that cannot concern an event: it tells
// a few from very many.
const MaxElsewhere = 10_000

// CursorOf is the place of a rule in the list.
func (q *VersionQuery) CursorOf(v *RuleVersion) *VersionCursor {
	at := Scope{v.ProjectKey, v.RepositoryKey}.Folded()
	return &VersionCursor{Place: slices.Index(q.Places, at), Rule: v.ID}
}

func (x *Explanation) Judge(rules []RuleVersion, deliveries []*Delivery, decisions []Decision, who *identity.Principal) {
	for i := range rules {
		v := RuleVerdict{RuleVersion: rules[i]}
		if !v.decided(&x.Event, deliveries, decisions) {
			v.judge(&x.Event, deliveries)
		}
		if who.May(v.Access()) {
			x.Rules = append(x.Rules, v)
			continue
		}
		x.Hidden++
		if v.Outcome == RuleTook {
			x.HiddenTook++
		}
	}
}

// judge finds what the rule made of the event. Where it has a delivery, that
// says so; of an event about many refs it is all that does.
func (v *RuleVerdict) judge(e *LoggedEvent, deliveries []*Delivery) {
	for _, d := range deliveries {
		if slices.Contains(d.Rules, v.ID) {
			v.Delivery = d
		}
	}
	if !v.Enabled {
		v.Outcome = RuleDisabled
		return
	}
	c, _ := CompileRule(&v.Rule) // a rule that cannot be used says so by refusing
	j := c.Judge(e.Event, nil)
	if e.Event.Refs != nil && j.Verdict != Refused && v.Delivery == nil {
		v.judgeRefs(c, e.Event)
		return
	}
	switch {
	case v.Delivery != nil:
		v.Outcome = RuleTook
	case j.Verdict == Refused:
		v.Outcome, v.Reason = RuleRefused, c.Reason(j, e.Event)
	case e.Withheld():
		v.Outcome = RuleWithheld
	case j.Verdict == Undecided:
		v.Outcome = RuleUndecided
	case e.Rules == 0:
		v.Outcome, v.Note = RuleWithheld, outOfScopeNote
	default:
		v.Outcome = RuleTook
	}
}

// decided reports whether the rule was, or is to be, decided after the event had
// come, and says what is known of that.
func (v *RuleVerdict) decided(e *LoggedEvent, deliveries []*Delivery, decisions []Decision) bool {
	for _, d := range decisions {
		if d.RuleID != v.ID {
			continue
		}
		if d.Taken {
			v.judge(e, deliveries)
			v.Outcome, v.Reason, v.Note = RuleTook, Reason{}, d.Note
			return true
		}
		if d.Member == byEnabled.String() {
			v.Outcome, v.Note = RuleDisabled, disabledNote
			return true
		}
		c, _ := CompileRule(&v.Rule)
		v.Outcome, v.Reason = RuleRefused, c.Reason(Judgement{No: conditionOf(d.Member)}, e.Event)
		if e.Event.Refs != nil && v.Reason.Says == "" {
			v.Reason.Has = listed(e.Event.Refs.Names)
		}
		return true
	}
	for _, d := range deliveries {
		if slices.Contains(d.Undecided, v.ID) {
			v.Outcome = RuleUndecided
			return true
		}
	}
	return false
}

// disabledNote is about a rule that was disabled, or deleted, in the meantime.
const disabledNote = "It was disabled before its filters were evaluated."

// outOfScopeNote is about a rename that a rule with the old keys would have taken.
const outOfScopeNote = "The event came through a hook whose scope does not include what the rule is about."

// judgeRefs says why a rule has no message about these of many refs, though
// nothing but their names can have kept it from them: by the names that are
// known.
func (v *RuleVerdict) judgeRefs(c *CompiledRule, e *Event) {
	v.Outcome = RuleOtherRefs
	if j, reason := c.judgeNames(e, e.Refs.Names, nil); j.Verdict == Refused {
		v.Outcome, v.Reason = RuleRefused, reason
	}
}
