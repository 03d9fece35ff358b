package notify

import (
	"outrigger/internal/fault"
	"outrigger/internal/notify/branchmask"
)

// TriedEvent is an event and what the rule would have made of it.
type TriedEvent struct {
	LoggedEvent
	Outcome RuleOutcome // RuleTook or RuleRefused
	Reason  Reason      // of RuleRefused
	Note    string      // which filters could not be asked, and count as met
}

// Try judges one event. Of an event about many refs it takes part of them where
// it takes any.
func (c *CompiledRule) Try(e LoggedEvent, a Answers) TriedEvent {
	tried := TriedEvent{LoggedEvent: e, Outcome: RuleTook}
	j := c.Judge(e.Event, a)
	reason := Reason{}
	if j.Verdict == Refused {
		reason = c.Reason(j, e.Event)
	} else if refs := e.Event.Refs; refs != nil {
		j, reason = c.judgeNames(e.Event, refs.Names, a)
	}
	if j.Verdict == Refused {
		tried.Outcome, tried.Reason = RuleRefused, reason
	}
	tried.Note = c.NoteUnanswered(j.Unanswered)
	return tried
}

// judgeNames judges an event about many refs by those of them that are named: it
// is refused, for the reason of the first, where all of them are.
func (c *CompiledRule) judgeNames(e *Event, names []string, a Answers) (j Judgement, reason Reason) {
	if len(names) == 0 {
		return Judgement{Verdict: Taken}, reason
	}
	for i, name := range names {
		one := *e
		one.Branch = name
		of := c.Judge(&one, a)
		if of.Verdict != Refused {
			return of, Reason{}
		}
		if i == 0 {
			j, reason = of, c.Reason(of, &one)
		}
	}
	reason.Has = listed(names)
	return j, reason
}

// TriedMask is what a mask of a rule says of some branch names.
type TriedMask struct {
	Member   string // of the rule
	Deferred bool   // decided a moment after the event has come, not at once
	Long     bool   // that is for the length of the mask or of a name, not for backtracking
	Names    []branchmask.Tried
	Warnings []string // what looks like a mistake in it
}

// MaskTrial tries a mask of a rule on branch names, as it is tried on those of
// events.
type MaskTrial struct {
	TriedMask
	mask *branchmask.Mask
}

// MaskTrials makes a trial for each of the filter's masks. It notes in wrong every
// mask that does not compile, and that there is none.
func (f *Filter) MaskTrials(wrong *fault.Fields) []*MaskTrial {
	members := f.maskMembers()
	if len(members) == 0 {
		member := byBranchMask
		if f.OfCloud() {
			member = byDestinationBranch
		}
		wrong.Add(member.String(), "Give a mask to try.")
	}
	var trials []*MaskTrial
	for _, m := range members {
		mask, err := m.compile()
		if err != nil {
			wrong.Add(m.condition.String(), "%s", err)
			continue
		}
		trials = append(trials, &MaskTrial{mask: mask, TriedMask: TriedMask{
			Member: m.condition.String(), Long: !mask.Backtracks(), Warnings: MaskWarnings(m.edition(), m.pattern),
		}})
	}
	return trials
}

// Try adds what the mask says of a branch name.
func (t *MaskTrial) Try(name string) {
	t.Names = append(t.Names, t.mask.Try(name))
	t.Deferred = t.Deferred || !t.mask.Quick(name)
}
