package notify

import (
	"outrigger/internal/fault"
	"outrigger/internal/notify/branchmask"
)

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
	t.Names = append(t.Names, t.mask.Try([]string{name})...)
	t.Deferred = t.Deferred || !t.mask.Quick(name)
}
