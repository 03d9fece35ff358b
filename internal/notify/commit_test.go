package notify

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/secret"
)

// Commits are noted where a rule takes builds of the repository; of those that
// a push or a merge ended with the platform is asked.
func TestNameCommits(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	hash := func(n int) string { return fmt.Sprintf("%040x", n) }
	push := *pushTo("ATL", "canoe", "main", "ada")
	push.Ref, push.Commits = &RefChange{Name: "main", To: hash(1)}, []Commit{{ID: hash(1)}, {ID: hash(2)}, {ID: "short"}}
	merge := *pushTo("ATL", "canoe", "main", "ada")
	merge.PullRequest = &PullRequest{MergeCommit: hash(3)}
	comment := *pushTo("ATL", "canoe", "", "ada")
	comment.Comment = &Comment{Commit: hash(4)}
	gone := *pushTo("ATL", "canoe", "main", "ada")
	gone.Ref = &RefChange{Name: "main", From: hash(5)}
	elsewhere := push
	elsewhere.Project.Key = "PAC"
	asked := at.Add(firstAsk)
	for name, c := range map[string]struct {
		rule  Rule
		token string
		want  map[string]time.Time
	}{
		"a rule for the project": {Rule{ProjectKey: "atl"}, "t", map[string]time.Time{"ATL" + hash(1): asked, "ATL" + hash(2): {}, "ATL" + hash(3): asked, "ATL" + hash(4): {}}},
		"for the repository":     {Rule{ProjectKey: "ATL", RepositoryKey: "Canoe"}, "", map[string]time.Time{"ATL" + hash(1): {}, "ATL" + hash(2): {}, "ATL" + hash(3): {}, "ATL" + hash(4): {}}},
		"for another repository": {Rule{ProjectKey: "ATL", RepositoryKey: "hull"}, "t", nil},
		"narrowed to a project":  {Rule{Filter: Filter{Projects: []string{"PAC"}}}, "t", map[string]time.Time{"PAC" + hash(1): asked, "PAC" + hash(2): {}}},
		"of another connection":  {Rule{Connection: "other"}, "t", nil},
	} {
		t.Run(name, func(t *testing.T) {
			rule := c.rule
			rule.ID, rule.Enabled, rule.EventTypes = 1, true, []EventType{BuildStatusSet}
			if rule.Connection == "" {
				rule.Connection = "dc"
			}
			rules, _ := new(RuleSet).Next(1, []*Rule{&rule})
			rules.Platforms = NewPlatforms(1, &Connections{{Name: "dc", Kind: "bitbucket-dc", Token: secret.New(c.token)}}, nil, nil, nil)
			r := &Receipt{Connection: "dc", ReceivedAt: at, Events: []Event{push, merge, comment, gone, elsewhere, push}}
			r.Match(rules)
			got := map[string]time.Time{}
			for _, n := range r.Commits {
				got[n.At.ProjectKey+n.Hash] = n.DueAt
			}
			if fmt.Sprint(got) != fmt.Sprint(nonNil(c.want)) || len(got) != len(r.Commits) {
				t.Errorf("named %v, want %v", r.Commits, c.want)
			}
		})
	}
	many := &Receipt{Connection: "dc", ReceivedAt: at}
	for n := range 10 * maxNamed {
		e := push
		e.Ref, e.Commits = &RefChange{Name: fmt.Sprint(n), To: hash(n)}, nil
		many.Events = append(many.Events, e)
	}
	rules, _ := new(RuleSet).Next(1, []*Rule{{ID: 1, Enabled: true, Connection: "dc", Filter: Filter{EventTypes: []EventType{BuildStatusSet}}}})
	rules.Platforms = NewPlatforms(1, &Connections{{Name: "dc", Kind: "bitbucket-dc"}}, nil, nil, nil)
	if many.Match(rules); len(many.Commits) != maxNamed {
		t.Errorf("named %d of one webhook", len(many.Commits))
	}
	rules.Platforms = NewPlatforms(1, &Connections{{Name: "dc", Kind: KindBitbucketCloud}}, nil, nil, nil)
	if many.Match(rules); len(many.Commits) != 0 {
		t.Errorf("named %d of the cloud edition, which tells of builds by itself", len(many.Commits))
	}
}

func nonNil(m map[string]time.Time) map[string]time.Time {
	if m == nil {
		return map[string]time.Time{}
	}
	return m
}
