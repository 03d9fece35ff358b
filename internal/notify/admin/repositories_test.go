package admin

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// knownPlaces is a RepositoryStore with things in it.
type knownPlaces struct {
	rules     *notify.RuleSet
	platforms *notify.Platforms
	reports   []notify.ReportInfo
}

func (s *knownPlaces) Rules() *notify.RuleSet       { return s.rules }
func (s *knownPlaces) Platforms() *notify.Platforms { return s.platforms }

func (s *knownPlaces) PageReports(_ context.Context, p notify.ReportPage) ([]notify.ReportInfo, error) {
	var found []notify.ReportInfo
	for _, r := range s.reports {
		if len(found) < p.Limit && p.Visible(&r.Report) {
			found = append(found, r)
		}
	}
	return found, nil
}

func TestAdministeredRepositories(t *testing.T) {
	places := func(rules int) *knownPlaces {
		s := &knownPlaces{
			platforms: notify.NewPlatforms(1, &notify.Connections{{Name: "dc"}}, nil, []*notify.Hook{{Connection: "dc", Name: "hook", Scope: notify.Scope{ProjectKey: "ATL", RepositoryKey: "hooked"}}, {Connection: "dc", Name: "all"}}, nil),
			reports:   []notify.ReportInfo{{Report: notify.Report{Connection: "dc", ProjectKey: "PAC", RepositoryKey: "reported"}}},
		}
		list := []*notify.Rule{{ID: 1, Connection: "dc", Enabled: true}, {ID: 2, Connection: "dc", ProjectKey: "ATL", Enabled: true},
			{ID: 3, Connection: "dc", ProjectKey: "atl", RepositoryKey: "Hooked", Enabled: true}}
		for i := range rules {
			list = append(list, &notify.Rule{ID: int64(10 + i), Connection: "dc", ProjectKey: "ATL", RepositoryKey: fmt.Sprintf("ruled-%03d", i), Enabled: true})
		}
		s.rules, _ = new(notify.RuleSet).Next(1, list)
		return s
	}
	at := func(project, repository string) identity.Resource {
		return identity.Resource{Connection: "dc", Project: project, Repository: repository}
	}
	for name, c := range map[string]struct {
		grant identity.Grant
		want  []identity.Resource
	}{
		"an administrator": {identity.Grant{Permission: identity.Admin},
			[]identity.Resource{at("ATL", "hooked"), at("ATL", "ruled-000"), at("PAC", "reported")}},
		"a project's":      {identity.Grant{Permission: identity.ProjectAdmin, Resource: at("PAC", "")}, []identity.Resource{at("PAC", "reported")}},
		"a repository's":   {identity.Grant{Permission: identity.RepoAdmin, Resource: at("NEW", "granted")}, []identity.Resource{at("NEW", "granted")}},
		"another platform": {identity.Grant{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "cloud", Project: "ATL"}}, []identity.Resource{}},
	} {
		ctx := identity.With(t.Context(), &identity.Principal{Name: "x", Grants: []identity.Grant{c.grant}})
		got, err := (&Repositories{Store: places(1)}).Administered(ctx)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	admin := identity.With(t.Context(), &identity.Principal{Name: "x", Grants: []identity.Grant{{Permission: identity.Admin}}})
	if got, err := (&Repositories{Store: places(3 * maxKnown)}).Administered(admin); err != nil || len(got) != maxKnown {
		t.Errorf("%d of many: %v", len(got), err)
	}
}
