package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// MaxMaskFailures is how many times a mask may exhaust its budget before it is
// not run any more until it is edited.
const MaxMaskFailures = 3

// MaskFailure says that a mask of a rule took too many steps.
type MaskFailure struct {
	RuleID      int64
	Member      string // of the rule
	Fingerprint string // of the pattern: where the rule's has another now, it was edited
	Times       int
	Error       string
	At          time.Time // the last time
}

// NewMaskFailure says that the pattern in a member of a rule failed.
func NewMaskFailure(rule int64, member, pattern string, err error) MaskFailure {
	return MaskFailure{RuleID: rule, Member: member, Fingerprint: fingerprintMask(pattern), Error: err.Error()}
}

func fingerprintMask(pattern string) string {
	sum := sha256.Sum256([]byte(pattern))
	return hex.EncodeToString(sum[:16])
}

func (f *MaskFailure) is(m maskMember) bool {
	return f.Member == m.condition.String() && f.Fingerprint == fingerprintMask(m.pattern)
}

// givenUp reports whether the mask is not run any more.
func (f *MaskFailure) givenUp() bool { return f.Times >= MaxMaskFailures }

// KeepMaskFailures has the rule know those of failures that are of the masks that
// it has now.
func (r *Rule) KeepMaskFailures(failures []MaskFailure) {
	r.MaskFailures = nil
	for _, m := range r.maskMembers() {
		for _, f := range failures {
			if f.is(m) {
				r.MaskFailures = append(r.MaskFailures, f)
			}
		}
	}
}

func (r *Rule) maskFailure(m maskMember) *MaskFailure {
	for i := range r.MaskFailures {
		if f := &r.MaskFailures[i]; f.is(m) {
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
		s := fmt.Sprintf("“%s” took too many steps on a branch name, %s at %s. Such events are sent without checking it.",
			MemberLabel(f.Member), times(f.Times), f.At.UTC().Format("2006-01-02 15:04 MST"))
		if f.givenUp() {
			s += " It is not run any more until you change it."
		}
		sentences = append(sentences, s)
	}
	return strings.Join(sentences, " ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times, most recently", n)
}
