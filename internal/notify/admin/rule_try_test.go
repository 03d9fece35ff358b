package admin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// group has its members; asking for another group fails.
type group map[string]bool

func (g group) MemberOf(_ context.Context, connection, user string, groups []string) (bool, error) {
	if connection != "dc" || groups[0] != "devs" {
		return false, fault.New(fault.Unavailable, "The platform does not answer.")
	}
	return g[user], nil
}

func tryable(t *testing.T, r notify.Rule) *notify.CompiledRule {
	t.Helper()
	r.Connection, r.Enabled = "dc", true
	r.EventTypes = []notify.EventType{notify.BranchUpdated}
	c, err := notify.CompileRule(&r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pushOf(branch, user string) *notify.Event {
	return &notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Connection: "dc", Branch: branch,
		Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "canoe"}, Actor: notify.User{Name: user},
	}
}

func TestATrialAsksForGroups(t *testing.T) {
	for _, c := range []struct {
		filter notify.Filter
		user   string
		want   notify.RuleOutcome
		note   string
	}{
		{notify.Filter{Groups: []string{"devs"}}, "ada", notify.RuleTook, ""},
		{notify.Filter{Groups: []string{"devs"}}, "bob", notify.RuleRefused, ""},
		{notify.Filter{IgnoredGroups: []string{"devs"}}, "ada", notify.RuleRefused, ""},
		{notify.Filter{Groups: []string{"ops"}}, "ada", notify.RuleTook, "Sent although “Only events of members of these groups” of the rule “x” could not be checked."},
	} {
		rule := tryable(t, notify.Rule{Name: "x", Filter: c.filter})
		e := notify.LoggedEvent{Event: pushOf("main", c.user)}
		a := &trialAnswers{Trials: &Trials{Memberships: group{"ada": true}}, ctx: t.Context(), connection: "dc"}
		if got := rule.Try(e, a); got.Outcome != c.want || got.Note != c.note {
			t.Errorf("%+v of %s: %s, note %q", c.filter, c.user, got.Outcome, got.Note)
		}
	}
}

// Once the time of a trial is up, nothing is run any more.
func TestATrialEndsInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rule := tryable(t, notify.Rule{Name: "x", Filter: notify.Filter{BranchMask: `(?=rel)release/.*`}})
	a := &trialAnswers{Trials: &Trials{}, ctx: ctx, connection: "dc"}
	if got := rule.Try(notify.LoggedEvent{Event: pushOf("main", "ada")}, a); got.Outcome != notify.RuleTook || got.Note == "" {
		t.Errorf("%+v", got)
	}
}

// Of a webhook about many refs a rule takes those that its mask takes.
func TestATrialOfManyRefs(t *testing.T) {
	e := notify.LoggedEvent{Event: pushOf("", "ada")}
	e.Event.Refs = &notify.Refs{Count: 30, Names: []string{"a-1", "b-2"}}
	for mask, want := range map[string]notify.RuleOutcome{"b-.*": notify.RuleTook, "c-.*": notify.RuleRefused} {
		rule := tryable(t, notify.Rule{Filter: notify.Filter{BranchMask: mask}})
		got := rule.Try(e, &trialAnswers{Trials: &Trials{}, ctx: t.Context()})
		if got.Outcome != want || want == notify.RuleRefused && got.Reason != (notify.Reason{Member: "branchMask", Wants: mask, Has: "a-1, b-2"}) {
			t.Errorf("%s: %+v", mask, got)
		}
	}
}

// Masks are tried one after the other, for all users together: a request may
// cost two seconds of a core, and needs no permission.
func TestMasksAreTriedOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trials := new(Trials)
		hungry, names := &notify.Filter{BranchMask: `(?=rel)release/.*`}, []string{strings.Repeat("a", maxTriedName), "main"}
		release, answers := make(chan struct{}), make(chan error)
		go func() { answers <- trials.masks.Do(t.Context(), func() { <-release }) }()
		synctest.Wait()
		try := func(user string) {
			ctx := identity.With(t.Context(), &identity.Principal{Name: user})
			go func() {
				tried, err := trials.TryMasks(ctx, hungry, names, nil)
				if err == nil && len(tried[0].Names) != len(names) {
					t.Errorf("%s was told of %d names", user, len(tried[0].Names))
				}
				answers <- err
			}()
		}
		for range triesAtOnce {
			try("ada")
		}
		synctest.Wait()
		select {
		case err := <-answers:
			t.Fatalf("a mask was tried while another was: %v", err)
		default:
		}
		try("ada")
		if err := <-answers; !fault.Is(err, fault.RateLimited) {
			t.Errorf("one more of the same user: %v", err)
		}
		try("bob")
		close(release)
		for range triesAtOnce + 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		try("ada")
		if err := <-answers; err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
