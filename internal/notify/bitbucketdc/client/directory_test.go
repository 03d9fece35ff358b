package client

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
)

// directory is that of a platform where ann administers the project ATL, the
// repository of another through a group, and annabel nothing.
func directory(t *testing.T) (*played, *Directory) {
	t.Helper()
	p := play(t, bitbucket.Options{
		MaxPage: 2,
		Users: []bitbucket.User{
			{Name: "annabel", Password: "annabel's"}, {Name: "joann", Password: "joann's"}, {Name: "ann", Password: "ann's"},
			{Name: "root", Password: "root's", Permission: "SYS_ADMIN"},
		},
		Groups: map[string][]string{"devs": {"ann"}},
		Projects: []bitbucket.Project{
			{Key: "ATL", ID: 1, Admins: []string{"ann"}, Repositories: []bitbucket.Repository{{Slug: "canoe", ID: 1}, {Slug: "raft", ID: 2}}},
			{Key: "PAC", ID: 2, Repositories: []bitbucket.Repository{{Slug: "vault", ID: 3, Admins: []string{"@devs"}}, {Slug: "reef", ID: 4}}},
		},
	})
	return p, &Directory{Client: p.Client, Connection: func() *notify.Connection { return p.c }}
}

func add(p *played, u bitbucket.User) {
	p.platform.Change(func(o *bitbucket.Options) { o.Users = append(o.Users, u) })
}

func addProject(p *played, made bitbucket.Project) {
	p.platform.Change(func(o *bitbucket.Options) { o.Projects = append(o.Projects, made) })
}

func grant(permission identity.Permission, project, repository string) identity.Grant {
	return identity.Grant{Permission: permission, Resource: identity.Resource{Connection: "main", Project: project, Repository: repository}}
}

func TestDirectory(t *testing.T) {
	p, d := directory(t)
	found, err := d.SignIn(t.Context(), "ANN", "ann's")
	want := []identity.Grant{grant(identity.ProjectAdmin, "ATL", ""), grant(identity.RepoAdmin, "PAC", "vault")}
	if err != nil || found.Name != "ann" || found.More || !slices.Equal(found.Candidates, want) {
		t.Fatalf("ann is %+v, %v", found, err)
	}
	present := func(name string, want ...identity.Grant) {
		t.Helper()
		if got, err := d.CurrentGrants(t.Context(), name, found.Candidates); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has %v, %v; want %v", name, got, err, want)
		}
	}
	present("ann", want...)
	present("annabel")
	present("root", grantOf(identity.Admin))
	p.platform.Change(func(o *bitbucket.Options) { o.Groups["devs"] = nil })
	present("ann", want[0])
	p.platform.Change(func(o *bitbucket.Options) { o.Groups["devs"] = []string{"ann"} })
	p.platform.Move("ATL", "IND") // the old key is 404
	present("ann", want[1])
	for _, name := range []string{"ANN", "an", "nobody"} {
		if got, err := d.CurrentGrants(t.Context(), name, found.Candidates); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s has %v, %v", name, got, err)
		}
	}
	if n := p.platform.Asked("/admin/"); n != 0 {
		t.Errorf("%d calls that refuse tokens", n)
	}
}

func grantOf(permission identity.Permission) identity.Grant {
	return identity.Grant{Permission: permission}
}

// A wrong password is no reason to ask nothing more of the platform, and the
// next attempt is judged for itself.
func TestDirectoryRefusesWrongPasswords(t *testing.T) {
	_, d := directory(t)
	for range 2 {
		for name, password := range map[string]string{"ann": "annabel's", "nobody": "ann's"} {
			if found, err := d.SignIn(t.Context(), name, password); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
		}
	}
	if _, err := d.SignIn(t.Context(), "ann", "ann's"); err != nil {
		t.Error(err)
	}
	if _, err := d.CurrentGrants(t.Context(), "ann", nil); err != nil {
		t.Error(err)
	}
}

// Whose password was right is not known where names differ in case only.
func TestDirectoryRefusesNamesThatDifferInCase(t *testing.T) {
	p, d := directory(t)
	add(p, bitbucket.User{Name: "Ann", Password: "the other Ann's", Permission: "ADMIN"})
	for _, name := range []string{"ann", "Ann", "ANN"} {
		if found, err := d.SignIn(t.Context(), name, "ann's"); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if got, err := d.CurrentGrants(t.Context(), "ann", nil); err != nil || len(got) != 0 {
		t.Errorf("ann has what Ann has: %v, %v", got, err)
	}
}

// What is between here and the platform may answer to any password: nobody is let
// in by an answer that is not to the user.
func TestDirectoryBelievesAnswersToTheUserOnly(t *testing.T) {
	for name, c := range map[string]struct {
		between func(w http.ResponseWriter, r *http.Request, platform http.Handler)
		code    fault.Code
		says    string
	}{
		"signs in by itself": {func(w http.ResponseWriter, r *http.Request, platform http.Handler) {
			r.SetBasicAuth("joann", "joann's")
			platform.ServeHTTP(w, r)
		}, fault.Unauthenticated, `to "joann" (X-AUSERNAME) where it was asked as "ann"`},
		"signs in with a token": {func(w http.ResponseWriter, r *http.Request, platform http.Handler) {
			r.Header.Set("Authorization", "Bearer right")
			platform.ServeHTTP(w, r)
		}, fault.Unavailable, "not to whom (X-AUSERNAME)"},
		"removes the header": {func(w http.ResponseWriter, r *http.Request, platform http.Handler) {
			r.SetBasicAuth("ann", "ann's")
			platform.ServeHTTP(withoutUser{w}, r)
		}, fault.Unavailable, "not to whom (X-AUSERNAME)"},
	} {
		p, d := directory(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.between(w, r, p.platform.Handler()) }))
		defer server.Close()
		d.Connection().BaseURL = server.URL
		if found, err := d.SignIn(t.Context(), "ann", "any"); !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	p, d := directory(t)
	for _, name := range []string{"j. ö%/ann", "ann"} { // names are escaped, and have no case
		p.platform.Change(func(o *bitbucket.Options) { o.Users = append(o.Users[:2], bitbucket.User{Name: name, Password: "its"}) })
		if found, err := d.SignIn(t.Context(), strings.ToUpper(name), "its"); err != nil || found.Name != name {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

// withoutUser takes X-AUSERNAME out of an answer.
type withoutUser struct{ http.ResponseWriter }

func (w withoutUser) WriteHeader(status int) {
	w.Header().Del("X-AUSERNAME")
	w.ResponseWriter.WriteHeader(status)
}

// Who is not active on the platform is refused here, and has nothing.
func TestDirectoryRefusesInactiveUsers(t *testing.T) {
	p, d := directory(t)
	p.platform.Change(func(o *bitbucket.Options) { o.User("ann").Inactive = true })
	if found, err := d.SignIn(t.Context(), "ann", "ann's"); !fault.Is(err, fault.Unauthenticated) || !strings.Contains(err.Error(), "not active") {
		t.Errorf("signs in as %+v, %v", found, err)
	}
	if got, err := d.CurrentGrants(t.Context(), "ann", []identity.Grant{grant(identity.ProjectAdmin, "ATL", "")}); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("has %v, %v", got, err)
	}
}

// A failure of the platform does not pass for a wrong password, and gives no
// permission.
func TestDirectoryFaults(t *testing.T) {
	candidates := []identity.Grant{grant(identity.ProjectAdmin, "ATL", "")}
	for _, kind := range []playgroundtest.Kind{
		playgroundtest.Inventing, playgroundtest.Repeating, playgroundtest.Standing, playgroundtest.Ragged, playgroundtest.Forbidding, playgroundtest.Withholding, playgroundtest.Throttling,
		playgroundtest.Broken, playgroundtest.Proxied, playgroundtest.Garbling, playgroundtest.Redirecting, playgroundtest.Dropping,
	} {
		for _, at := range []string{"/users", "/projects", "/repos"} {
			t.Run(fmt.Sprintf("%s %s", kind, at), func(t *testing.T) {
				p, d := directory(t)
				for i := range 3 { // lists of several pages
					addProject(p, bitbucket.Project{Key: fmt.Sprint("P", i), Admins: []string{"ann"}})
					p.platform.Change(func(o *bitbucket.Options) { o.Project("PAC").Repository("reef").Admins = []string{"ann"} })
				}
				add(p, bitbucket.User{Name: "hannah"})
				p.platform.SetFault("GET /rest/api/latest"+at, playgroundtest.Fault{Kind: kind})
				if found, err := d.SignIn(t.Context(), "ann", "ann's"); err == nil && at == "/users" || err != nil && !fault.Is(err, fault.Unavailable) {
					t.Errorf("signs in as %+v, %v", found, err)
				}
				if at != "/users" {
					return
				}
				if got, err := d.CurrentGrants(t.Context(), "nobody", candidates); !fault.Is(err, fault.Unavailable) {
					t.Errorf("has %v, %v", got, err)
				}
			})
		}
	}
}

// Half of 60 projects are lost: few requests find out which.
func TestDirectoryAsksAboutManyAtOnce(t *testing.T) {
	p, d := directory(t)
	for i := range 60 {
		addProject(p, bitbucket.Project{Key: fmt.Sprintf("P%02d", i), Admins: []string{"joann"}})
	}
	found, err := d.SignIn(t.Context(), "joann", "joann's")
	if err != nil || len(found.Candidates) != 60 {
		t.Fatalf("%d candidates, %v", len(found.Candidates), err)
	}
	before := p.platform.Asked("permission.1")
	if got, err := d.CurrentGrants(t.Context(), "joann", found.Candidates); err != nil || len(got) != 60 {
		t.Errorf("%d, %v", len(got), err)
	}
	if n := p.platform.Asked("permission.1") - before; n != 5 { // licence, ADMIN, 3 times 25
		t.Errorf("%d requests for all", n)
	}
	for i := 30; i < 60; i++ {
		p.platform.Change(func(o *bitbucket.Options) { o.Project(fmt.Sprintf("P%02d", i)).Admins = nil })
	}
	if got, err := d.CurrentGrants(t.Context(), "joann", found.Candidates); err != nil || !slices.Equal(got, found.Candidates[:30]) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestDirectoryHasAnEnd(t *testing.T) {
	p, d := directory(t)
	for i := range maxCandidates + 1 {
		addProject(p, bitbucket.Project{Key: fmt.Sprintf("P%03d", i), Admins: []string{"joann"}})
	}
	found, err := d.SignIn(t.Context(), "joann", "joann's")
	if err != nil || !found.More || len(found.Candidates) != maxCandidates {
		t.Errorf("%d candidates, more %t, %v", len(found.Candidates), found.More, err)
	}
}

// A platform that hangs is given up when the time of who asks is over.
func TestDirectoryHangs(t *testing.T) {
	p, d := directory(t)
	p.platform.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Silent})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.SignIn(ctx, "ann", "ann's"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("signing in: %v", err)
	}
	if _, err := d.CurrentGrants(ctx, "ann", nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("her rights: %v", err)
	}
}
