package notify

import (
	"context"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/notify/branchmask"
)

const (
	// maxTried is how many names are tried at once: with three masks that take
	// too many steps they cost two seconds of a core, which is why masks are tried
	// one after the other for all users, and a few times at once for each.
	maxTried = 20
	// maxTriedName is how long such a name may be, in characters. No platform has
	// one as long.
	maxTriedName = 10_000
)

// TriedMask is what a mask of a rule says of some branch names.
type TriedMask struct {
	Member   string // of the rule
	Deferred bool   // decided a moment after the event has come, not at once
	Long     bool   // that is for the length of the mask or of a name, not for backtracking
	Names    []branchmask.Tried
	Warnings []string // what looks like a mistake in it
}

// TryMasks says what each of the filter's masks makes of branch names, as it does
// of those of events. fault.Invalid names every mask that does not compile;
// fault.RateLimited: who asks has too many trials under way. wrong is what the
// caller has found in the members already.
func (s *Trials) TryMasks(ctx context.Context, f *Filter, names []string, wrong fault.Fields) ([]TriedMask, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if len(names) == 0 || len(names) > maxTried {
		wrong.Add("names", "Give 1 to %d branch names.", maxTried)
	}
	for _, name := range names {
		if name == "" || utf8.RuneCountInString(name) > maxTriedName {
			wrong.Add("names", "Every name needs 1 to %d characters.", maxTriedName)
			break
		}
	}
	members := f.maskMembers()
	if len(members) == 0 {
		member := byBranchMask
		if f.ofCloud() {
			member = byDestinationBranch
		}
		wrong.Add(member.String(), "Give a mask to try.")
	}
	masks := make([]*branchmask.Mask, len(members))
	for i, m := range members {
		var err error
		if masks[i], err = m.compile(); err != nil {
			wrong.Add(m.condition.String(), "%s", err)
		}
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	tried := make([]TriedMask, len(members))
	for i, m := range members {
		tried[i] = TriedMask{
			Member: m.condition.String(), Long: !masks[i].Backtracks(), Warnings: MaskWarnings(m.edition(), m.pattern),
		}
		for _, name := range names {
			if err := s.masks.do(ctx, func() { tried[i].Names = append(tried[i].Names, masks[i].Try([]string{name})...) }); err != nil {
				return nil, err
			}
			tried[i].Deferred = tried[i].Deferred || !masks[i].Quick(name)
		}
	}
	return tried, nil
}
