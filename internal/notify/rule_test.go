package notify

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/fault"
)

// What no platform has as a key is refused, in each place where keys are.
func TestKeysOfRules(t *testing.T) {
	for field, rule := range map[string]Rule{
		"projectKey":    {ProjectKey: "bad key!!"},
		"repositoryKey": {ProjectKey: "ATL", RepositoryKey: "a/b"},
		"projects":      {Filter: Filter{Projects: []string{"ATL", "A\tB"}}},
		"repositories":  {Filter: Filter{Repositories: []RepositoryRef{{ProjectKey: "ATL", RepositoryKey: "a b"}}}},
	} {
		rule.Name, rule.Format, rule.EventTypes = "x", Auto, []EventType{PullRequestOpened}
		err := rule.Validate()
		if e := fault.As(err); e == nil || len(e.Fields) != 1 || e.Fields[0].Name != field || !strings.Contains(e.Fields[0].Message, "keys have no spaces and no slashes") {
			t.Errorf("%s: %v", field, err)
		}
	}
	fine := Rule{Name: "x", Format: Auto, ProjectKey: "~josé.m-1", RepositoryKey: "a_b.c", Filter: Filter{EventTypes: []EventType{PullRequestOpened}}}
	if err := fine.Validate(); err != nil {
		t.Error(err)
	}
}

// The platform is asked about each group for every user who causes an event.
func TestARuleNamesOnlySoManyGroups(t *testing.T) {
	for n, want := range map[int]string{maxGroups: "", maxGroups + 1: "groups ignoredGroups"} {
		r := Rule{Name: "x", Connection: "dc", Format: Auto, Filter: Filter{EventTypes: []EventType{BranchUpdated}}}
		for i := range n {
			r.Groups = append(r.Groups, fmt.Sprint("g", i))
			r.IgnoredGroups = append(r.IgnoredGroups, fmt.Sprint("h", i))
		}
		got := ""
		if err := r.Validate(); err != nil {
			for i, f := range fault.As(err).Fields {
				if i > 0 {
					got += " "
				}
				got += f.Name
			}
		}
		if got != want {
			t.Errorf("%d groups: %q, want %q", n, got, want)
		}
	}
}
