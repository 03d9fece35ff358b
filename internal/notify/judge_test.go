package notify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/notify/branchmask"
)

// scripted answers what a test says, by condition.
type scripted map[Condition]Answer

func (s scripted) Mask(c Condition, _ *branchmask.Mask, _ string) Answer { return s[c] }
func (s scripted) InGroups(c Condition, _ []string, _ string) Answer     { return s[c] }

func compiled(t *testing.T, r Rule) *CompiledRule {
	t.Helper()
	r.Connection, r.Enabled = "dc", true
	if r.EventTypes == nil {
		r.EventTypes = []EventType{BranchUpdated}
	}
	c, err := CompileRule(&r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const backtracking = `(?=rel)release/.*` // look-ahead is not linear

func TestJudgeWithoutAnswersLeavesOpenWhatItCannotTell(t *testing.T) {
	push := pushTo("ATL", "canoe", "release/1.2", "ada")
	cases := []struct {
		name   string
		filter Filter
		want   Judgement
	}{
		{"a mask that needs backtracking", Filter{BranchMask: backtracking},
			Judgement{Verdict: Undecided, Open: Conditions(0).With(byBranchMask)}},
		{"two open conditions", Filter{IgnoredBranchMask: backtracking, Groups: []string{"devs"}},
			Judgement{Verdict: Undecided, Open: Conditions(0).With(byIgnoredBranchMask).With(byGroups)}},
		{"a later no decides", Filter{BranchMask: backtracking, Users: []string{"grace"}},
			Judgement{Verdict: Refused, No: byUsers}},
		{"an earlier no decides", Filter{EventTypes: []EventType{TagCreated}, IgnoredGroups: []string{"bots"}},
			Judgement{Verdict: Refused, No: byEventTypes}},
		{"the first of two is named", Filter{Branches: []string{"main"}, Users: []string{"grace"}},
			Judgement{Verdict: Refused, No: byBranches}},
		{"nothing is open", Filter{BranchMask: "release/.*"}, Judgement{Verdict: Taken}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := compiled(t, Rule{Filter: c.filter}).Judge(push, nil); got != c.want {
				t.Errorf("judged %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestJudgeWithAnswers(t *testing.T) {
	push := pushTo("ATL", "canoe", "release/1.2", "ada")
	all := Filter{BranchMask: backtracking, IgnoredBranchMask: backtracking, Groups: []string{"devs"}, IgnoredGroups: []string{"bots"}}
	met := scripted{byBranchMask: Yes, byIgnoredBranchMask: No, byGroups: Yes, byIgnoredGroups: No}
	with := func(c Condition, a Answer) scripted {
		s := scripted{}
		for k, v := range met {
			s[k] = v
		}
		s[c] = a
		return s
	}
	only := func(c Condition) Conditions { return Conditions(0).With(c) }
	cases := []struct {
		name    string
		answers scripted
		want    Judgement
	}{
		{"all met", met, Judgement{Verdict: Taken}},
		{"another branch", with(byBranchMask, No), Judgement{Verdict: Refused, No: byBranchMask}},
		{"an ignored branch", with(byIgnoredBranchMask, Yes), Judgement{Verdict: Refused, No: byIgnoredBranchMask}},
		{"in none of the groups", with(byGroups, No), Judgement{Verdict: Refused, No: byGroups}},
		{"in an ignored group", with(byIgnoredGroups, Yes), Judgement{Verdict: Refused, No: byIgnoredGroups}},
		{"a mask over its budget", with(byBranchMask, Unanswered), Judgement{Verdict: Taken, Unanswered: only(byBranchMask)}},
		{"an ignored mask over its budget", with(byIgnoredBranchMask, Unanswered), Judgement{Verdict: Taken, Unanswered: only(byIgnoredBranchMask)}},
		{"a platform that does not answer", with(byIgnoredGroups, Unanswered), Judgement{Verdict: Taken, Unanswered: only(byIgnoredGroups)}},
		{"not answered yet", with(byGroups, Unknown), Judgement{Verdict: Undecided, Open: only(byGroups)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := compiled(t, Rule{Filter: all}).Judge(push, c.answers); got != c.want {
				t.Errorf("judged %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestNobodyIsInNoGroup(t *testing.T) {
	push := pushTo("ATL", "canoe", "main", "")
	if got := compiled(t, Rule{Filter: Filter{Groups: []string{"devs"}}}).Judge(push, nil); got.No != byGroups || got.Verdict != Refused {
		t.Errorf("an event that no user caused was judged %+v by groups", got)
	}
	if got := compiled(t, Rule{Filter: Filter{IgnoredGroups: []string{"devs"}}}).Judge(push, nil); got.Verdict != Taken {
		t.Errorf("an event that no user caused was judged %+v by ignored groups", got)
	}
}

func TestMatchKeepsWhatIsUndecided(t *testing.T) {
	rules := []*Rule{
		{ID: 1, Connection: "dc", Enabled: true, Filter: Filter{EventTypes: []EventType{BranchUpdated}}},
		{ID: 2, Connection: "dc", Enabled: true, Filter: Filter{EventTypes: []EventType{BranchUpdated}, BranchMask: backtracking}},
		{ID: 3, Connection: "dc", Enabled: true, Filter: Filter{EventTypes: []EventType{TagCreated}, BranchMask: backtracking}},
	}
	set, _ := new(RuleSet).Next(1, rules)
	got := set.Match(pushTo("ATL", "canoe", "main", "ada"), nil)
	want := []Match{{Rule: rules[0]}, {Rule: rules[1], Open: Conditions(0).With(byBranchMask)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReasons(t *testing.T) {
	push := pushTo("ATL", "canoe", "release/1.2", "ada")
	pr := pushTo("ATL", "canoe", "main", "ada")
	pr.Types, pr.PullRequest = []EventType{PullRequestOpened, PullRequestRescoped}, &PullRequest{ID: 1}
	pr.SourceBranch, pr.Reviewers = "feature/x", []User{{Name: "grace"}, {Name: "joan"}}
	both := []EventType{BranchUpdated, PullRequestOpened}
	cases := []struct {
		rule  Rule
		event *Event
		want  Reason
	}{
		{Rule{ProjectKey: "PAC"}, push, Reason{"projectKey", "PAC", "ATL", ""}},
		{Rule{ProjectKey: "ATL", RepositoryKey: "hull"}, push, Reason{"repositoryKey", "hull", "canoe", ""}},
		{Rule{Filter: Filter{Projects: []string{"PAC"}}}, push, Reason{"projects", "PAC", "ATL/canoe", ""}},
		{Rule{Filter: Filter{Repositories: []RepositoryRef{{"ATL", "hull"}}}}, push, Reason{"repositories", "ATL/hull", "ATL/canoe", ""}},
		{Rule{Filter: Filter{EventTypes: []EventType{TagCreated, TagDeleted}}}, pr, Reason{"eventTypes", "TAG_CREATED, TAG_DELETED", "PULL_REQUEST_OPENED, PULL_REQUEST_RESCOPED", ""}},
		{Rule{Filter: Filter{Branches: []string{"main", "next"}}}, push, Reason{"branches", "main, next", "release/1.2", ""}},
		{Rule{Filter: Filter{BranchMask: "main"}}, push, Reason{"branchMask", "main", "release/1.2", ""}},
		{Rule{Filter: Filter{IgnoredBranchMask: "release/.*"}}, push, Reason{"ignoredBranchMask", "not release/.*", "release/1.2", ""}},
		{Rule{Filter: Filter{SourceBranchMask: "hotfix/.*", EventTypes: both}}, pr, Reason{"sourceBranchMask", "hotfix/.*", "feature/x", ""}},
		{Rule{Filter: Filter{Users: []string{"grace"}}}, push, Reason{"users", "grace", "ada", ""}},
		{Rule{Filter: Filter{IgnoredUsers: []string{"Ada"}}}, push, Reason{"ignoredUsers", "not Ada", "ada", ""}},
		{Rule{Filter: Filter{Reviewers: []string{"ada"}, EventTypes: both}}, pr, Reason{"reviewers", "ada", "grace, joan", ""}},
		{Rule{Filter: Filter{Groups: []string{"devs"}}}, push, Reason{"groups", "devs", "ada", ""}},
		{Rule{Filter: Filter{IgnoredGroups: []string{"bots"}}}, push, Reason{"ignoredGroups", "not bots", "ada", ""}},
	}
	for _, c := range cases {
		t.Run(c.want.Member, func(t *testing.T) {
			rule := compiled(t, c.rule)
			j := rule.Judge(c.event, scripted{byGroups: No, byIgnoredGroups: Yes})
			if j.Verdict != Refused {
				t.Fatalf("judged %+v", j)
			}
			if got := rule.Reason(j, c.event); got != c.want {
				t.Errorf("reason %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestJudgeOfARuleThatIsNotIndexed(t *testing.T) {
	push := pushTo("ATL", "canoe", "main", "ada")
	other := Rule{Connection: "other", Enabled: true, Filter: Filter{EventTypes: []EventType{BranchUpdated}}}
	disabled := Rule{Connection: "dc", Filter: Filter{EventTypes: []EventType{BranchUpdated}}}
	broken := Rule{Connection: "dc", Enabled: true, Filter: Filter{EventTypes: []EventType{BranchUpdated}, BranchMask: "("}}
	for member, r := range map[string]*Rule{"connection": &other, "enabled": &disabled, "branchMask": &broken} {
		c, _ := CompileRule(r)
		j := c.Judge(push, nil)
		if got := c.Reason(j, push); j.Verdict != Refused || got.Member != member || got.Wants+got.Says == "" {
			t.Errorf("judged %+v because of %+v, want a refusal by %s", j, got, member)
		}
	}
}

// The rules that took a rename still have the keys from before it.
func TestJudgeOfARenameLooksAtBothKeys(t *testing.T) {
	e := &Event{
		Types: []EventType{RepositoryFieldEdited}, Connection: "dc",
		Project: Project{Key: "ATL"}, Repository: Repository{Key: "kayak"},
		Changes: []Change{{Field: "slug", Old: "canoe", New: "kayak"}},
	}
	for repository, want := range map[string]Verdict{"canoe": Taken, "kayak": Taken, "hull": Refused} {
		c := compiled(t, Rule{ProjectKey: "ATL", RepositoryKey: repository, Filter: Filter{EventTypes: e.Types}})
		if got := c.Judge(e, nil).Verdict; got != want {
			t.Errorf("a rule of %s judged %v, want %v", repository, got, want)
		}
	}
}

func TestAReasonNamesTheFirstOfALongList(t *testing.T) {
	var f Filter
	for range maxListed + 3 {
		f.Branches = append(f.Branches, "b")
	}
	push := pushTo("ATL", "canoe", "main", "ada")
	c := compiled(t, Rule{Filter: f})
	got := c.Reason(c.Judge(push, nil), push).Wants
	if want := "b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b and 3 more"; got != want {
		t.Errorf("it wants %q", got)
	}
}

// What keeps a rule from taking any event is said in sentences: there is nothing
// that it wants of the event.
func TestReasonsThatAreNoneOfTheEvents(t *testing.T) {
	push := pushTo("ATL", "canoe", "main", "ada")
	broken, _ := CompileRule(&Rule{Filter: Filter{EventTypes: []EventType{BranchUpdated}, BranchMask: "release/("}})
	paused := compiled(t, Rule{Paused: true})
	for want, c := range map[string]*CompiledRule{
		"The rule takes no events, because its branch mask is not valid: ":                                             broken,
		"The rule's account was revoked in Outrigger. The rule takes no events until the account is authorised again.": paused,
	} {
		got := c.Reason(c.Judge(push, nil), push)
		if !strings.HasPrefix(got.Says, want) || got.Wants != "" || got.Has != "" {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}
