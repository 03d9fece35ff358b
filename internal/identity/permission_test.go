package identity

import (
	"testing"

	"pgregory.net/rapid"

	"outrigger/internal/fault"
)

func TestMay(t *testing.T) {
	var (
		everywhere Resource
		alpha      = Resource{"git", "ALPHA", ""}
		api        = Resource{"git", "ALPHA", "api"}
	)
	for _, c := range []struct {
		name   string
		grant  Permission
		where  Resource
		asked  Permission
		at     Resource
		wanted bool
	}{
		{"SYS_ADMIN is everything", SysAdmin, everywhere, SysAdmin, everywhere, true},
		{"SYS_ADMIN is everything", SysAdmin, everywhere, RepoAdmin, api, true},
		{"ADMIN is not SYS_ADMIN", Admin, everywhere, SysAdmin, everywhere, false},
		{"ADMIN is ADMIN", Admin, everywhere, Admin, everywhere, true},
		{"ADMIN has every project", Admin, everywhere, ProjectAdmin, alpha, true},
		{"ADMIN has every repository", Admin, everywhere, RepoAdmin, api, true},
		{"PROJECT_ADMIN is not ADMIN", ProjectAdmin, alpha, Admin, everywhere, false},
		{"PROJECT_ADMIN of the project", ProjectAdmin, alpha, ProjectAdmin, alpha, true},
		{"PROJECT_ADMIN has its repositories", ProjectAdmin, alpha, RepoAdmin, api, true},
		{"keys have no case", ProjectAdmin, alpha, RepoAdmin, Resource{"git", "alpha", "API"}, true},
		{"connections have", ProjectAdmin, alpha, ProjectAdmin, Resource{"Git", "ALPHA", ""}, false},
		{"another project", ProjectAdmin, alpha, ProjectAdmin, Resource{"git", "BETA", ""}, false},
		{"another connection", ProjectAdmin, alpha, ProjectAdmin, Resource{"other", "ALPHA", ""}, false},
		{"no project", ProjectAdmin, alpha, ProjectAdmin, everywhere, false},
		{"REPO_ADMIN of the repository", RepoAdmin, api, RepoAdmin, api, true},
		{"REPO_ADMIN is not PROJECT_ADMIN", RepoAdmin, api, ProjectAdmin, alpha, false},
		{"another repository", RepoAdmin, api, RepoAdmin, Resource{"git", "ALPHA", "web"}, false},
		{"the same slug elsewhere", RepoAdmin, api, RepoAdmin, Resource{"git", "BETA", "api"}, false},
		{"no repository", RepoAdmin, api, RepoAdmin, alpha, false},
		{"an unknown permission", Permission("ROOT"), everywhere, RepoAdmin, api, false},
	} {
		p := &Principal{Grants: []Grant{{Permission: c.grant, Resource: c.where}}}
		if p.May(c.asked, c.at) != c.wanted {
			t.Errorf("%s: %s at %v, asked for %s at %v, is %v", c.name, c.grant, c.where, c.asked, c.at, !c.wanted)
		}
	}
	if (*Principal)(nil).May(RepoAdmin, api) || (&Principal{}).May(RepoAdmin, api) {
		t.Error("nobody may something")
	}
}

// TestWiderIncludesNarrower: who may more at a place may also less there.
func TestWiderIncludesNarrower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"", "a", "A", "b"})
		where := func() Resource {
			return Resource{key.Draw(t, "connection"), key.Draw(t, "project"), key.Draw(t, "repository")}
		}
		p := &Principal{}
		for range rapid.IntRange(0, 3).Draw(t, "grants") {
			p.Grants = append(p.Grants, Grant{Permission: rapid.SampledFrom(Permissions()).Draw(t, "permission"), Resource: where()})
		}
		at := where()
		for i, wider := range Permissions() {
			for _, narrower := range Permissions()[i:] {
				// A repository that is not named is no repository.
				if named := narrower != RepoAdmin || at.Repository != "" || p.May(Admin, at); named && p.May(wider, at) && !p.May(narrower, at) {
					t.Fatalf("%v may %s at %v, but not %s", p.Grants, wider, at, narrower)
				}
			}
		}
	})
}

func TestRequire(t *testing.T) {
	at := Resource{Connection: "c", Project: "P"}
	nobody, ann := t.Context(), With(t.Context(), &Principal{Name: "ann"})
	boss := With(t.Context(), &Principal{Name: "boss", Grants: []Grant{{Permission: SysAdmin}}})
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{Require(nobody, ProjectAdmin, at), fault.Unauthenticated},
		{Require(ann, ProjectAdmin, at), fault.Forbidden},
		{Require(boss, ProjectAdmin, at), ""},
		{Missing(boss, "There is no rule %d.", 5), fault.NotFound},
		{Missing(ann, "There is no rule %d.", 5), fault.Forbidden},
	} {
		if fault.CodeOf(c.err) != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
	if foreign, missing := Require(ann, ProjectAdmin, at), Missing(ann, "There is none."); foreign.Error() != missing.Error() {
		t.Errorf("who may not see it can tell what is foreign (%v) from what is missing (%v)", foreign, missing)
	}
}
