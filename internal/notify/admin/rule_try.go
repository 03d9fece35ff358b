package admin

import (
	"context"
	"time"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/branchmask"
)

// Trial is what a rule, saved or not, would have made of the last events of its
// connection, project or repository.
type Trial struct {
	Taken  int
	Events []notify.TriedEvent // the newest first
}

// triedEvents is how many events a rule is tried on.
const triedEvents = 50

// trialTime is how long a trial may run masks and ask the platform for groups: the
// caller waits for it. What was not answered by then counts as met.
const trialTime = 5 * time.Second

// Trials tries rules before they are saved.
type Trials struct {
	Rules       *Rules
	Events      *Events
	Memberships notify.Memberships

	masks    limit.OneAtATime // for all users: at most one core
	underWay limit.Concurrent[string]
}

// triesAtOnce is how many trials a user may have under way: a form that changes
// begins one before it gives up the last.
const triesAtOnce = 3

// begin counts a trial of the caller until done is called. fault.RateLimited: there
// are too many.
func (s *Trials) begin(ctx context.Context) (done func(), err error) {
	done, ok := s.underWay.Acquire(identity.From(ctx).Ref(), triesAtOnce)
	if !ok {
		return nil, fault.TooOften(time.Second, "%d of your rules or masks are being tried already. Wait for them.", triesAtOnce)
	}
	return done, nil
}

// Try judges the last events by a rule as it is typed. Its name, its webhook URL
// and whether it is enabled are not looked at. The permissions and the errors are those of
// Rules.Save, and fault.RateLimited; wrong is what the caller has found in the
// members already.
func (s *Trials) Try(ctx context.Context, draft notify.Rule, wrong fault.Fields) (Trial, error) {
	draft, err := s.Rules.checkDraft(ctx, draft, wrong)
	if err != nil {
		return Trial{}, err
	}
	done, err := s.begin(ctx)
	if err != nil {
		return Trial{}, err
	}
	defer done()
	c, err := notify.CompileRule(&draft)
	if err != nil {
		return Trial{}, fault.New(fault.Invalid, "%s", err)
	}
	page, err := s.Events.List(ctx, notify.EventFilter{
		Connection: draft.Connection, Project: draft.ProjectKey, Repository: draft.RepositoryKey, Understood: true, Limit: triedEvents,
	})
	if err != nil {
		return Trial{}, err
	}
	asking, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	a := &trialAnswers{Trials: s, ctx: asking, connection: draft.Connection}
	trial := Trial{Events: make([]notify.TriedEvent, 0, len(page.Events))}
	for _, e := range page.Events {
		if e.Event == nil { // cannot be read
			continue
		}
		tried := c.Try(e, a)
		if tried.Outcome == notify.RuleTook {
			trial.Taken++
		}
		trial.Events = append(trial.Events, tried)
	}
	return trial, nil
}

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

// checkDraft returns a draft with its place, as far as its filters go, if the caller may
// save it.
func (s *Rules) checkDraft(ctx context.Context, draft notify.Rule, wrong fault.Fields) (notify.Rule, error) {
	draft = draft.Trimmed()
	draft.Enabled, draft.Format, draft.ChannelName = true, notify.Auto, ""
	if draft.Name == "" {
		draft.Name = "a new rule"
	}
	if draft.ID > 0 {
		stored, err := s.Get(ctx, draft.ID)
		if err != nil {
			return draft, err
		}
		draft.Connection, draft.ProjectKey, draft.RepositoryKey = stored.Connection, stored.ProjectKey, stored.RepositoryKey
	} else if err := s.place(ctx, &draft, &wrong); err != nil {
		return draft, err
	}
	s.completeCloud(&draft)
	if err := s.checkMembers(&draft, &wrong); err != nil {
		return draft, err
	}
	return draft, wrong.Err()
}

// trialAnswers runs masks and asks for groups at once.
type trialAnswers struct {
	*Trials
	ctx        context.Context
	connection string
	spent      notify.Conditions // masks that took too many steps: not run again
}

// Mask is of Answers.
func (a *trialAnswers) Mask(c notify.Condition, mask *branchmask.Mask, branch string) notify.Answer {
	if a.spent&notify.Conditions(0).With(c) != 0 || a.ctx.Err() != nil {
		return notify.Unanswered
	}
	var matches bool
	var err error
	if a.masks.Do(a.ctx, func() { matches, err = mask.Match(branch) }) != nil {
		return notify.Unanswered
	}
	if err != nil {
		a.spent = a.spent.With(c)
		return notify.Unanswered
	}
	return notify.AnswerOf(matches)
}

// InGroups is of Answers.
func (a *trialAnswers) InGroups(_ notify.Condition, groups []string, user string) notify.Answer {
	in, err := a.Memberships.MemberOf(a.ctx, a.connection, user, groups)
	if err != nil {
		return notify.Unanswered
	}
	return notify.AnswerOf(in)
}
