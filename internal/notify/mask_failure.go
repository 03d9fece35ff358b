package notify

import (
	"fmt"
	"strings"
	"time"
)

// MaxMaskFailures is how many times a mask may exhaust its budget before it is
// not run any more until it is edited.
const MaxMaskFailures = 3

// MaskFailure says that a mask of a rule took too many steps.
type MaskFailure struct {
	RuleID int64
	Member string // of the rule
	Mask   string // the pattern: where the rule's is another now, it was edited
	Times  int
	Error  string
	At     time.Time // the last time
}

// GivenUp tells whether the mask is not run any more.
func (f *MaskFailure) GivenUp() bool { return f.Times >= MaxMaskFailures }

// KeepMaskFailures has the rule know those of failures that are of the masks that
// it has now.
func (r *Rule) KeepMaskFailures(failures []MaskFailure) {
	r.MaskFailures = nil
	for _, m := range r.maskMembers() {
		for _, f := range failures {
			if f.Member == m.condition.String() && f.Mask == m.pattern {
				r.MaskFailures = append(r.MaskFailures, f)
			}
		}
	}
}

func (r *Rule) maskFailure(m maskMember) *MaskFailure {
	for i := range r.MaskFailures {
		if f := &r.MaskFailures[i]; f.Member == m.condition.String() && f.Mask == m.pattern {
			return f
		}
	}
	return nil
}

// MaskError says what is wrong with the rule's masks: a sentence each; empty:
// nothing.
func (r *Rule) MaskError() string {
	var sentences []string
	for _, f := range r.MaskFailures {
		s := fmt.Sprintf("%s takes too many steps (%d times, the last time %s): events are sent without asking it.",
			f.Member, f.Times, f.At.UTC().Format("2006-01-02 15:04"))
		if f.GivenUp() {
			s += " It is not run any more until you change it."
		}
		sentences = append(sentences, s)
	}
	return strings.Join(sentences, " ")
}
