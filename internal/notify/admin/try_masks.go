package admin

import (
	"context"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
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

// TryMasks says what each of the filter's masks makes of branch names, as it does
// of those of events. fault.Invalid names every mask that does not compile;
// fault.RateLimited: the caller has too many trials under way. wrong is what the
// caller has found in the members already.
func (s *Trials) TryMasks(ctx context.Context, f *notify.Filter, names []string, wrong fault.Fields) ([]notify.TriedMask, error) {
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
	trials := f.MaskTrials(&wrong)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	tried := make([]notify.TriedMask, len(trials))
	for i, trial := range trials {
		for _, name := range names {
			if err := s.masks.Do(ctx, func() { trial.Try(name) }); err != nil {
				return nil, err
			}
		}
		tried[i] = trial.TriedMask
	}
	return tried, nil
}
