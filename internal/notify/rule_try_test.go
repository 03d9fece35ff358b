package notify

import (
	"context"
	"testing"

	"outrigger/internal/fault"
)

// group has its members; asking for another group fails.
type group map[string]bool

func (g group) MemberOf(_ context.Context, connection, user string, groups []string) (bool, error) {
	if connection != "dc" || groups[0] != "devs" {
		return false, fault.New(fault.Unavailable, "The platform does not answer.")
	}
	return g[user], nil
}

func tryable(t *testing.T, r Rule) *CompiledRule {
	t.Helper()
	r.Connection, r.Enabled = "dc", true
	r.EventTypes = []EventType{BranchUpdated}
	c, err := CompileRule(&r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pushOf(branch, user string) *Event {
	return &Event{
		Types: []EventType{BranchUpdated}, Connection: "dc", Branch: branch,
		Project: Project{Key: "ATL"}, Repository: Repository{Key: "canoe"}, Actor: User{Name: user},
	}
}

func TestATrialAsksForGroups(t *testing.T) {
	for _, c := range []struct {
		filter Filter
		user   string
		want   RuleOutcome
		note   string
	}{
		{Filter{Groups: []string{"devs"}}, "ada", RuleTook, ""},
		{Filter{Groups: []string{"devs"}}, "bob", RuleRefused, ""},
		{Filter{IgnoredGroups: []string{"devs"}}, "ada", RuleRefused, ""},
		{Filter{Groups: []string{"ops"}}, "ada", RuleTook, "Sent although “Only events of members of these groups” of the rule “x” could not be checked."},
	} {
		rule := tryable(t, Rule{Name: "x", Filter: c.filter})
		e := LoggedEvent{Event: pushOf("main", c.user)}
		a := &trialAnswers{Trials: &Trials{Memberships: group{"ada": true}}, ctx: t.Context(), connection: "dc"}
		if got := rule.try(e, a); got.Outcome != c.want || got.Note != c.note {
			t.Errorf("%+v of %s: %s, note %q", c.filter, c.user, got.Outcome, got.Note)
		}
	}
}

// Once the time of a trial is up, nothing is run any more.
func TestATrialEndsInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rule := tryable(t, Rule{Name: "x", Filter: Filter{BranchMask: `(?=rel)release/.*`}})
	a := &trialAnswers{Trials: &Trials{}, ctx: ctx, connection: "dc"}
	if got := rule.try(LoggedEvent{Event: pushOf("main", "ada")}, a); got.Outcome != RuleTook || got.Note == "" {
		t.Errorf("%+v", got)
	}
}

// Of a webhook about many refs a rule takes those that its mask takes.
func TestATrialOfManyRefs(t *testing.T) {
	e := LoggedEvent{Event: pushOf("", "ada")}
	e.Event.Refs = &Refs{Count: 30, Names: []string{"a-1", "b-2"}}
	for mask, want := range map[string]RuleOutcome{"b-.*": RuleTook, "c-.*": RuleRefused} {
		rule := tryable(t, Rule{Filter: Filter{BranchMask: mask}})
		got := rule.try(e, &trialAnswers{Trials: &Trials{}, ctx: t.Context()})
		if got.Outcome != want || want == RuleRefused && got.Reason != (Reason{"branchMask", mask, "a-1, b-2", ""}) {
			t.Errorf("%s: %+v", mask, got)
		}
	}
}
