package notify

import (
	"fmt"
	"testing"
)

func pushTo(project, repository, branch, user string) *Event {
	return &Event{
		Types: []EventType{BranchUpdated}, Connection: "dc", Branch: branch,
		Project: Project{Key: project}, Repository: Repository{Key: repository}, Actor: User{Name: user},
	}
}

func TestRuleSetMatch(t *testing.T) {
	push := pushTo("ATL", "canoe", "release/1.2", "ada")
	cases := []struct {
		name  string
		rule  Rule
		event *Event
		want  bool
	}{
		{"a global rule takes every repository", Rule{}, push, true},
		{"another connection's rule does not", Rule{Connection: "other"}, push, false},
		{"a disabled rule does not", Rule{Enabled: false, Name: "disabled"}, push, false},
		{"another event type does not", Rule{Filter: Filter{EventTypes: []EventType{TagCreated}}}, push, false},
		{"a project's rule takes its project, without case", Rule{ProjectKey: "atl"}, push, true},
		{"a project's rule takes no other", Rule{ProjectKey: "PAC"}, push, false},
		{"a repository's rule takes its repository, without case", Rule{ProjectKey: "ATL", RepositoryKey: "CANOE"}, push, true},
		{"a repository's rule takes no other", Rule{ProjectKey: "ATL", RepositoryKey: "hull"}, push, false},
		{"a repository's rule does not take the same slug elsewhere", Rule{ProjectKey: "PAC", RepositoryKey: "canoe"}, push, false},
		{"narrowed to this project", Rule{Filter: Filter{Projects: []string{"PAC", "atl"}}}, push, true},
		{"narrowed to another project", Rule{Filter: Filter{Projects: []string{"PAC"}}}, push, false},
		{"narrowed to this repository", Rule{Filter: Filter{Repositories: []RepositoryRef{{"atl", "Canoe"}}}}, push, true},
		{"narrowed to another repository", Rule{Filter: Filter{Repositories: []RepositoryRef{{"ATL", "hull"}}}}, push, false},
		{"projects and repositories are one list of places", Rule{Filter: Filter{Projects: []string{"PAC"}, Repositories: []RepositoryRef{{"ATL", "canoe"}}}}, push, true},
		{"this user, without case", Rule{Filter: Filter{Users: []string{"Ada"}}}, push, true},
		{"another user", Rule{Filter: Filter{Users: []string{"grace"}}}, push, false},
		{"an ignored user", Rule{Filter: Filter{IgnoredUsers: []string{"ADA"}}}, push, false},
		{"this branch", Rule{Filter: Filter{Branches: []string{"main", "release/1.2"}}}, push, true},
		{"this branch, typed as a ref", Rule{Filter: Filter{Branches: []string{"refs/heads/release/1.2"}}}, push, true},
		{"another branch", Rule{Filter: Filter{Branches: []string{"release"}}}, push, false},
		{"branches have case", Rule{Filter: Filter{Branches: []string{"Release/1.2"}}}, push, false},
		{"a mask must match the whole name", Rule{Filter: Filter{BranchMask: "release/.*"}}, push, true},
		{"a part of the name is not enough", Rule{Filter: Filter{BranchMask: "release"}}, push, false},
		{"an event with no branch passes a list", Rule{Filter: Filter{Branches: []string{"main"}}}, pushTo("ATL", "canoe", "", "ada"), true},
		{"an event with no branch passes a mask", Rule{Filter: Filter{BranchMask: "main"}}, pushTo("ATL", "canoe", "", "ada"), true},
		{"an event of a whole project meets no repository's rule", Rule{ProjectKey: "ATL", RepositoryKey: "canoe"}, pushTo("ATL", "", "", "ada"), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := c.rule
			r.ID = 1
			r.Enabled = r.Name != "disabled"
			if r.Connection == "" {
				r.Connection = "dc"
			}
			if r.EventTypes == nil {
				r.EventTypes = []EventType{BranchUpdated}
			}
			set, broken := new(RuleSet).Next(1, []*Rule{&r})
			if len(broken) > 0 {
				t.Fatal(broken)
			}
			if got := len(set.Match(c.event, nil)) == 1; got != c.want {
				t.Errorf("matched: %v, want %v", got, c.want)
			}
		})
	}
}

func TestRuleIsMatchedOnce(t *testing.T) {
	r := &Rule{ID: 1, Connection: "dc", Enabled: true, Filter: Filter{
		EventTypes: []EventType{BranchUpdated}, Projects: []string{"ATL"},
		Repositories: []RepositoryRef{{"ATL", "canoe"}, {"ATL", "canoe"}},
	}}
	set, _ := new(RuleSet).Next(1, []*Rule{r})
	if got := set.Match(pushTo("ATL", "canoe", "main", "ada"), nil); len(got) != 1 {
		t.Errorf("matched %d times, want once", len(got))
	}
}

func TestUnknownMaskMatchesNothing(t *testing.T) {
	r := &Rule{ID: 7, Connection: "dc", Enabled: true, Filter: Filter{EventTypes: []EventType{BranchUpdated}, BranchMask: "("}}
	set, broken := new(RuleSet).Next(1, []*Rule{r})
	if broken[7] == nil {
		t.Error("the broken mask is not reported")
	}
	if got := set.Match(pushTo("ATL", "canoe", "main", "ada"), nil); len(got) != 0 {
		t.Error("a rule whose mask does not compile took an event")
	}
}

// tenThousand are enabled rules of 2,000 repositories, five each, by a mask or
// by a list of branches.
func tenThousand(filter func(n int) Filter) *RuleSet {
	var rules []*Rule
	for repo := range 2000 {
		for n := range 5 {
			rules = append(rules, &Rule{
				ID: int64(len(rules) + 1), Connection: "dc", Enabled: true, ProjectKey: fmt.Sprintf("P%d", repo/20),
				RepositoryKey: fmt.Sprintf("repo-%d", repo), ChannelID: int64(n + 1),
				Filter: filter(n),
			})
		}
	}
	set, _ := new(RuleSet).Next(1, rules)
	return set
}

func byMask(n int) Filter {
	return Filter{EventTypes: []EventType{BranchUpdated, PullRequestOpened}, BranchMask: fmt.Sprintf("release/%d.*", n)}
}

func byList(n int) Filter {
	return Filter{EventTypes: []EventType{BranchUpdated, PullRequestOpened}, Branches: []string{fmt.Sprintf("release/%d.1", n)}}
}

// withBacktracking has every tenth rule ask for another user too, and its mask
// need backtracking.
func withBacktracking(set *RuleSet) *RuleSet {
	var rules []*Rule
	for id, c := range set.byID {
		r := *c.Rule
		if id%10 == 0 {
			r.BranchMask, r.Users = `(?!main$).*`, []string{"grace"}
		}
		rules = append(rules, &r)
	}
	next, _ := new(RuleSet).Next(2, rules)
	return next
}

// BenchmarkMatchBacktracking is the same where a tenth of the masks need
// backtracking, for an event that those rules do not take anyway.
func BenchmarkMatchBacktracking(b *testing.B) {
	set := withBacktracking(tenThousand(byMask))
	e := pushTo("P50", "repo-1007", "release/3.1", "ada")
	if matches := set.Match(e, nil); len(matches) != 1 || matches[0].Open != 0 {
		b.Fatalf("matches: %+v", matches)
	}
	b.ReportAllocs()
	for b.Loop() {
		set.Match(e, nil)
	}
}

// What is undecided is only what nothing else refuses.
func TestMatchLeavesNothingOpenThatAnotherFilterRefuses(t *testing.T) {
	set := withBacktracking(tenThousand(byMask))
	for repo := range 2000 {
		e := pushTo(fmt.Sprintf("P%d", repo/20), fmt.Sprintf("repo-%d", repo), "release/3.1", "ada")
		if matches := set.Match(e, nil); len(matches) != 1 || matches[0].Open != 0 {
			t.Fatalf("%s: %+v", e.Repository.Key, matches)
		}
	}
}

// BenchmarkMatch10000 is one event against 10,000 enabled rules.
func BenchmarkMatch10000(b *testing.B) {
	set := tenThousand(byMask)
	e := pushTo("P50", "repo-1007", "release/3.1", "ada")
	if n := len(set.Match(e, nil)); n != 1 {
		b.Fatalf("%d rules match, want 1", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		set.Match(e, nil)
	}
}

func TestMatchAllocatesForMatchesOnly(t *testing.T) {
	few, _ := new(RuleSet).Next(1, []*Rule{{
		ID: 1, Connection: "dc", Enabled: true, ProjectKey: "P50", RepositoryKey: "repo-1007",
		Filter: byList(3),
	}})
	e := pushTo("P50", "repo-1007", "release/3.1", "ada")
	many := tenThousand(byList) // regular expressions take their memory from a pool
	allocs := func(s *RuleSet) float64 { return testing.AllocsPerRun(100, func() { s.Match(e, nil) }) }
	if one, all := allocs(few), allocs(many); all > one {
		t.Errorf("%v allocations against 10,000 rules, %v against 1", all, one)
	}
}
