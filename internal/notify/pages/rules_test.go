package pages

import (
	"net/http/httptest"
	"testing"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// A filter that cannot be read leaves a rule without event types.
func TestARuleWithoutFilterHasItsRow(t *testing.T) {
	row := ruleRowOf(&notify.RuleInfo{Rule: notify.Rule{Name: "odd", Enabled: true}}, notify.SelfHosted, time.Now())
	if row.Events != "none" {
		t.Errorf("its events are %q", row.Events)
	}
}

func TestNumbersOfTheOverviewEnd(t *testing.T) {
	for n, want := range map[int]string{0: "0", notify.MaxCounted - 1: "9,999", notify.MaxCounted: "10,000 or more"} {
		if got := counted(n, notify.MaxCounted); got != want {
			t.Errorf("%d is said as %q, want %q", n, got, want)
		}
	}
}

// A link that names no level leads to a form that its reader may save.
func TestANewRuleWithoutALevel(t *testing.T) {
	p := &Pages{}
	all := identity.Principal{Grants: []identity.Grant{{Permission: identity.Admin}}}
	atl := identity.Principal{Grants: []identity.Grant{{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "main", Project: "ATL"}}}}
	for _, c := range []struct {
		who   *identity.Principal
		query string
		want  notify.Level
	}{{&all, "", notify.Global}, {&atl, "", notify.ProjectLevel}, {&atl, "?level=global", notify.Global}, {&all, "?level=repository", notify.RepositoryLevel}} {
		r := httptest.NewRequest("GET", "/notifications/rules/new"+c.query, nil)
		r = r.WithContext(identity.With(r.Context(), c.who))
		if at, err := p.placeOfQuery(r); err != nil || at.Level != c.want {
			t.Errorf("%q is of the level %q, want %q: %v", c.query, at.Level, c.want, err)
		}
	}
}

func TestEventsAndPlaceOfARuleInItsRow(t *testing.T) {
	var all []notify.EventType
	for _, e := range notify.EventTypes() {
		if e.ComesFrom(notify.SelfHosted) {
			all = append(all, e)
		}
	}
	for _, c := range []struct {
		types []notify.EventType
		want  string
	}{
		{[]notify.EventType{notify.TagCreated}, "Tag created"},
		{[]notify.EventType{notify.PullRequestOpened, notify.PullRequestMerged}, "Pull requests (2)"},
		{[]notify.EventType{notify.PullRequestOpened, notify.BranchCreated, notify.TagCreated}, "Branches and tags (2), pull requests (1)"},
		{all, "every event type"},
		{[]notify.EventType{notify.PipelineStarted, notify.PipelineSucceeded}, "Pipeline started and 1 more"},
		{[]notify.EventType{notify.BranchCreated, notify.PullRequestOpened, notify.CommitCommentAdded}, "Branches and tags (1), pull requests (1), commits (1)"},
		{[]notify.EventType{notify.BranchCreated, notify.PullRequestOpened, notify.RepositoryForked}, "Branches and tags (1), pull requests (1) and 1 more"},
		{[]notify.EventType{notify.BranchCreated, notify.PullRequestOpened, notify.CommitCommentAdded, notify.BuildStatusSet}, "Branches and tags (1), pull requests (1) and 2 more"},
	} {
		if got := grouped(c.types, notify.SelfHosted); got != c.want {
			t.Errorf("%v are said as %q, want %q", c.types, got, c.want)
		}
	}
	r := notify.Rule{Connection: "main"}
	for _, c := range []struct{ project, repository, alone, among string }{
		{"", "", "every project", "main / every project"}, {"ATL", "", "ATL", "main / ATL"}, {"ATL", "api", "ATL / api", "main / ATL / api"},
	} {
		r.ProjectKey, r.RepositoryKey = c.project, c.repository
		if alone, among := ruleWhere(&r, false), ruleWhere(&r, true); alone != c.alone || among != c.among {
			t.Errorf("a rule of %q %q is of %q, among several connections of %q", c.project, c.repository, alone, among)
		}
	}
}
