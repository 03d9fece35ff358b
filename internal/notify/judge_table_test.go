package notify_test

import (
	"slices"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/branchmask"
	"outrigger/internal/notify/card/sample"
)

// oneGroup answers that every user is in the group "devs" and in no other, and
// runs masks.
type oneGroup struct{}

func (oneGroup) InGroups(_ notify.Condition, groups []string, _ string) notify.Answer {
	if slices.Contains(groups, "devs") {
		return notify.Yes
	}
	return notify.No
}

func (oneGroup) Mask(_ notify.Condition, mask *branchmask.Mask, branch string) notify.Answer {
	if yes, err := mask.Match(branch); yes && err == nil {
		return notify.Yes
	}
	return notify.No
}

// What events of the types have, for filters to look at.
const (
	everything = 1 << iota
	branch     // a branch or tag
	review     // a pull request with its source branch and reviewers
	user       // a user who caused it
	repository // a repository: those of a whole project have none
)

func has(t notify.EventType) int {
	h := everything | user | repository
	switch t {
	case notify.BranchCreated, notify.BranchUpdated, notify.BranchDeleted, notify.TagCreated, notify.TagUpdated, notify.TagDeleted, notify.FileEdited:
		h |= branch
	case notify.PullRequestOpened, notify.PullRequestRescoped, notify.PullRequestFieldEdited, notify.PullRequestTargetChanged,
		notify.PullRequestReviewersUpdated, notify.PullRequestApproved, notify.PullRequestUnapproved, notify.PullRequestChangesRequested,
		notify.PullRequestChangesRequestRemoved, notify.PullRequestMerged, notify.PullRequestDeclined, notify.PullRequestDeleted,
		notify.PullRequestCommentAdded, notify.PullRequestCommentEdited, notify.PullRequestCommentDeleted,
		notify.PullRequestCommentResolved, notify.PullRequestCommentReopened:
		h |= branch | review
	case notify.BuildStatusSet, notify.PipelineStarted, notify.PipelineSucceeded, notify.PipelineFailed, notify.PipelineStopped:
		h = h&^user | branch
	case notify.RepositoryMirrorSynchronized:
		h &^= user
	case notify.ProjectFieldEdited:
		h &^= repository
	}
	return h
}

// filterCases are, for every filter, a rule that it lets events pass by, and
// one that it refuses them by where they have what it looks at.
var filterCases = []struct {
	member       string
	looksAt      int
	fits, misses notify.Rule
	// absent says that an event without what the filter looks at is refused,
	// not passed.
	absent bool
}{
	{"connection", everything, of(notify.Filter{}), notify.Rule{Connection: "other"}, false},
	{"projectKey", everything, notify.Rule{ProjectKey: "atl"}, notify.Rule{ProjectKey: "PAC"}, false},
	{"repositoryKey", repository, notify.Rule{ProjectKey: "ATL", RepositoryKey: "Engine"}, notify.Rule{ProjectKey: "ATL", RepositoryKey: "hull"}, true},
	{"projects", everything, of(notify.Filter{Projects: []string{"PAC", "atl"}}), of(notify.Filter{Projects: []string{"PAC"}}), false},
	{"repositories", repository, of(notify.Filter{Repositories: refs("PAC/engine", "ATL/engine")}), of(notify.Filter{Repositories: refs("PAC/engine", "ATL/hull")}), true},
	{"branches", branch, of(notify.Filter{Branches: []string{"main", "v2.1.0", "refs/heads/feature/carry_all_wheels"}}), of(notify.Filter{Branches: []string{"mai", "MAIN", "v2"}}), false},
	{"branchMask", branch, of(notify.Filter{BranchMask: `main|v\d.*|feature/.*`}), of(notify.Filter{BranchMask: "mai|v|feature"}), false},
	{"branchMask", branch, of(notify.Filter{BranchMask: `(?=[mvf]).*`}), of(notify.Filter{BranchMask: "(?=x).*"}), false},
	{"ignoredBranchMask", branch, of(notify.Filter{IgnoredBranchMask: "mai|v|feature"}), of(notify.Filter{IgnoredBranchMask: `main|v\d.*|feature/.*`}), false},
	{"ignoredBranchMask", branch, of(notify.Filter{IgnoredBranchMask: "(?=x).*"}), of(notify.Filter{IgnoredBranchMask: "(?=[mvf]).*"}), false},
	{"sourceBranchMask", review, of(notify.Filter{SourceBranchMask: "feature/.*"}), of(notify.Filter{SourceBranchMask: "main"}), false},
	{"sourceBranchMask", review, of(notify.Filter{SourceBranchMask: "(?=f).*"}), of(notify.Filter{SourceBranchMask: "(?=m).*"}), false},
	{"destinationBranchFilter", branch, of(notify.Filter{DestinationBranchFilter: `ain|^v\d|heels$`}), of(notify.Filter{DestinationBranchFilter: `^(mai|v|feature)$`}), false},
	{"destinationBranchFilter", branch, of(notify.Filter{DestinationBranchFilter: "^(?=[mvf])"}), of(notify.Filter{DestinationBranchFilter: "^(?=x)"}), false},
	{"users", user, of(notify.Filter{Users: []string{"joan", "ADA", "Grace"}}), of(notify.Filter{Users: []string{"joan"}}), true},
	{"ignoredUsers", user, of(notify.Filter{IgnoredUsers: []string{"joan"}}), of(notify.Filter{IgnoredUsers: []string{"ADA", "Grace"}}), false},
	{"reviewers", review, of(notify.Filter{Reviewers: []string{"joan", "ALAN_T"}}), of(notify.Filter{Reviewers: []string{"joan", "ada"}}), false},
	{"groups", user, of(notify.Filter{Groups: []string{"ops", "devs"}}), of(notify.Filter{Groups: []string{"ops"}}), true},
	{"ignoredGroups", user, of(notify.Filter{IgnoredGroups: []string{"ops"}}), of(notify.Filter{IgnoredGroups: []string{"ops", "devs"}}), false},
}

func of(f notify.Filter) notify.Rule { return notify.Rule{Filter: f} }

func refs(paths ...string) (list []notify.RepositoryRef) {
	for _, p := range paths {
		list = append(list, notify.RepositoryRef{ProjectKey: p[:3], RepositoryKey: p[4:]})
	}
	return list
}

// refusedBy judges the event by a rule that selects its type, and returns the
// member that refused it; "" where the rule takes it. A RuleSet must agree.
func refusedBy(t *testing.T, r notify.Rule, e *notify.Event, types ...notify.EventType) string {
	t.Helper()
	r.ID, r.Enabled, r.EventTypes = 1, true, types
	if r.Connection == "" {
		r.Connection = e.Connection
	}
	c, err := notify.CompileRule(&r)
	if err != nil {
		t.Fatal(err)
	}
	set, _ := new(notify.RuleSet).Next(1, []*notify.Rule{&r})
	matched := set.Match(e, nil)
	j := c.Judge(e, oneGroup{})
	if j.Verdict == notify.Undecided {
		t.Fatalf("undecided because of %v", j.Open.List())
	}
	if j.Verdict == notify.Taken {
		if len(matched) != 1 {
			t.Errorf("%+v takes %s, and the set does not match it", r.Filter, e.Types[0])
		}
		return ""
	}
	if len(matched) == 1 && matched[0].Open == 0 {
		t.Errorf("%+v refuses %s, and the set matches it", r.Filter, e.Types[0])
	}
	return c.Reason(j, e).Member
}

func TestEveryFilterAgainstEveryEventType(t *testing.T) {
	for _, eventType := range notify.EventTypes() {
		t.Run(eventType.String(), func(t *testing.T) {
			e := sample.Event(eventType)
			if got := refusedBy(t, of(notify.Filter{}), &e, eventType); got != "" {
				t.Errorf("a rule of this type alone refuses it by %s", got)
			}
			others := slices.DeleteFunc(notify.EventTypes(), func(o notify.EventType) bool { return slices.Contains(e.Types, o) })
			if got := refusedBy(t, of(notify.Filter{}), &e, others...); got != "eventTypes" {
				t.Errorf("a rule of all other types refuses it by %q", got)
			}
			for _, c := range filterCases {
				present := has(eventType)&c.looksAt != 0
				for rule, want := range map[*notify.Rule]string{&c.fits: "", &c.misses: c.member} {
					if !present {
						want = ""
						if c.absent {
							want = c.member
						}
					}
					if got := refusedBy(t, *rule, &e, eventType); got != want {
						t.Errorf("%+v: refused by %q, want %q", rule, got, want)
					}
				}
			}
		})
	}
}

// Each filter is named although others, which come later, say no as well; and
// never for one that comes before it.
func TestTheFirstFilterThatSaysNoIsNamed(t *testing.T) {
	e := sample.Event(notify.PullRequestOpened)
	order := []struct {
		member string
		spoil  func(*notify.Rule)
	}{
		{"connection", func(r *notify.Rule) { r.Connection = "other" }},
		{"projects", func(r *notify.Rule) { r.Projects = []string{"PAC"} }},
		{"authorization", func(r *notify.Rule) { r.Paused = true }},
		{"eventTypes", func(r *notify.Rule) { r.EventTypes = []notify.EventType{notify.BranchCreated} }},
		{"branches", func(r *notify.Rule) { r.Branches = []string{"next"} }},
		{"branchMask", func(r *notify.Rule) { r.BranchMask = "next" }},
		{"ignoredBranchMask", func(r *notify.Rule) { r.IgnoredBranchMask = "main" }},
		{"sourceBranchMask", func(r *notify.Rule) { r.SourceBranchMask = "main" }},
		{"destinationBranchFilter", func(r *notify.Rule) { r.DestinationBranchFilter = "next" }},
		{"users", func(r *notify.Rule) { r.Users = []string{"joan"} }},
		{"ignoredUsers", func(r *notify.Rule) { r.IgnoredUsers = []string{"ada"} }},
		{"reviewers", func(r *notify.Rule) { r.Reviewers = []string{"joan"} }},
		{"groups", func(r *notify.Rule) { r.Groups = []string{"ops"} }},
		{"ignoredGroups", func(r *notify.Rule) { r.IgnoredGroups = []string{"devs"} }},
	}
	for i := range order {
		r := notify.Rule{Connection: "git", Enabled: true, Filter: notify.Filter{EventTypes: []notify.EventType{notify.PullRequestOpened}}}
		for _, o := range order[i:] {
			o.spoil(&r)
		}
		c, err := notify.CompileRule(&r)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Reason(c.Judge(&e, oneGroup{}), &e).Member; got != order[i].member {
			t.Errorf("refused by %q, want %q", got, order[i].member)
		}
	}
}
