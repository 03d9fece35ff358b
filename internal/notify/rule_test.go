package notify

import (
	"outrigger/internal/fault"
	"strings"
	"testing"
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
