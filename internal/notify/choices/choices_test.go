package choices_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/notify/choices"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

// world is a played platform, and a service that asks it.
type world struct {
	*playgroundtest.Bitbucket
	*choices.Service
	now   time.Time
	known []identity.Resource
}

// newWorld has 20,000 repositories, 200 users and a few groups.
func newWorld(t *testing.T) *world {
	t.Helper()
	o := bitbucket.Options{Token: "right", Groups: map[string][]string{"developers": nil, "devops": nil, "sales": nil}}
	for i := range 100 {
		p := bitbucket.Project{Key: fmt.Sprintf("P%02d", i), Name: fmt.Sprintf("Project %02d", i)}
		for j := range 200 {
			p.Repositories = append(p.Repositories, bitbucket.Repository{Slug: fmt.Sprintf("repo-%02d-%03d", i, j)})
		}
		o.Projects = append(o.Projects, p)
	}
	for i := range 200 {
		o.Users = append(o.Users, bitbucket.User{Name: fmt.Sprintf("user%03d", i), DisplayName: "עדה " + fmt.Sprint(i), Inactive: i == 7})
	}
	w := &world{Bitbucket: playgroundtest.NewBitbucket(o), now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(w.Handler())
	t.Cleanup(server.Close)
	clock := func() time.Time { return w.now }
	kinds := map[string]notify.Decoder{"bitbucket-dc": func(key string, _ []byte, _ string) (string, []notify.Event, error) { return key, nil, nil }}
	platforms := notify.NewPlatforms(1, &notify.Connections{
		{Name: "main", Kind: "bitbucket-dc", BaseURL: server.URL, Token: secret.New("right")}, {Name: "mute", Kind: "bitbucket-dc", BaseURL: server.URL},
	}, nil, nil, kinds)
	w.Service = choices.New(choices.Options{
		Platform: client.New(egresstest.Client(t).Trusted(), clock), Platforms: func() *notify.Platforms { return platforms },
		Known: func(context.Context) ([]identity.Resource, error) { return w.known, nil }, Clock: clock,
	})
	return w
}

func as(t *testing.T, name string, grants ...identity.Grant) context.Context {
	t.Helper()
	return identity.With(t.Context(), &identity.Principal{Name: name, Scope: identity.All, Grants: grants})
}

func admin(t *testing.T) context.Context {
	return as(t, "admin", identity.Grant{Permission: identity.Admin})
}

func holds(permission identity.Permission, project, repository string) identity.Grant {
	return identity.Grant{Permission: permission, Resource: identity.Resource{Connection: "main", Project: project, Repository: repository}}
}

// ask returns what was found, in one line.
func (w *world) ask(t *testing.T, ctx context.Context, q choices.Query) (found string, a choices.Answer) {
	t.Helper()
	if q.Connection == "" {
		q.Connection = "main"
	}
	a, err := w.Ask(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]string, len(a.Found))
	for i, f := range a.Found {
		values[i] = f.Value
	}
	return strings.Join(values, " "), a
}

func TestWhatThePlatformHasIsFound(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		q    choices.Query
		want string
	}{
		{choices.Query{Kind: choices.Projects, Text: " p42 "}, "P42"},
		{choices.Query{Kind: choices.Projects, Text: "Project 99"}, "P99"},
		{choices.Query{Kind: choices.Repositories, Text: "repo-41-007"}, "P41/repo-41-007"},
		{choices.Query{Kind: choices.Repositories, Text: "p41/007"}, "P41/repo-41-007"},
		{choices.Query{Kind: choices.Repositories, ProjectKey: "P40", Text: "007"}, "P40/repo-40-007"},
		{choices.Query{Kind: choices.Repositories, Text: "no such"}, ""},
		{choices.Query{Kind: choices.Users, Text: "user00"}, "user000 user001 user002 user003 user004 user005 user006 user008 user009"},
		{choices.Query{Kind: choices.Groups, Text: "DEV"}, "developers devops"},
	} {
		if found, a := w.ask(t, admin(t), c.q); found != c.want || a.More || a.Note != "" {
			t.Errorf("%+v: %q, %+v", c.q, found, a)
		}
	}
}

// Of 20,000 repositories and 200 users 50 are answered, by one question to the platform.
func TestThereIsMoreThanIsAnswered(t *testing.T) {
	w := newWorld(t)
	for _, q := range []choices.Query{{Kind: choices.Repositories, Text: "repo"}, {Kind: choices.Users, Text: "user"}, {Kind: choices.Projects}} {
		if _, a := w.ask(t, admin(t), q); len(a.Found) != 50 && q.Kind != choices.Users || len(a.Found) > 50 || !a.More {
			t.Errorf("%+v: %d answered, more: %t", q, len(a.Found), a.More)
		}
	}
	if n := w.Asked("/repos"); n != 1 {
		t.Errorf("the platform was asked %d times", n)
	}
}

// Who administers a project or a repository finds what is in it, and nothing else.
func TestOnlyWhatOneAdministersIsFound(t *testing.T) {
	w := newWorld(t)
	w.known = []identity.Resource{{Connection: "main", Project: "P09", Repository: "repo-09-001"}, {Connection: "other", Project: "P09", Repository: "repo-09-002"}}
	ofProject := as(t, "ada", holds(identity.ProjectAdmin, "P41", ""))
	ofRepository := as(t, "bob", holds(identity.RepoAdmin, "P09", "repo-09-001"))
	for _, c := range []struct {
		who  context.Context
		q    choices.Query
		want string
	}{
		{ofProject, choices.Query{Kind: choices.Projects, Text: "p"}, "P41"},
		{ofProject, choices.Query{Kind: choices.Repositories, Text: "007"}, "P41/repo-41-007"},
		{ofProject, choices.Query{Kind: choices.Repositories, Text: "P42/007"}, ""},
		{ofProject, choices.Query{Kind: choices.Repositories, ProjectKey: "P42", Text: "007"}, ""},
		{ofRepository, choices.Query{Kind: choices.Projects}, "P09"},
		{ofRepository, choices.Query{Kind: choices.Repositories, Text: "repo"}, "P09/repo-09-001"},
		{ofRepository, choices.Query{Kind: choices.Users, ProjectKey: "P09", RepositoryKey: "repo-09-001", Text: "user010"}, "user010"},
		{ofProject, choices.Query{Kind: choices.Groups, ProjectKey: "P41", Text: "devo"}, "devops"},
	} {
		if found, _ := w.ask(t, c.who, c.q); found != c.want {
			t.Errorf("%+v: %q, want %q", c.q, found, c.want)
		}
	}
	for _, q := range []choices.Query{
		{Kind: choices.Users, Text: "user010"}, {Kind: choices.Users, ProjectKey: "P42", Text: "user010"},
		{Kind: choices.Groups, ProjectKey: "P09", Text: "dev"}, {Kind: choices.Users, ProjectKey: "P09", RepositoryKey: "repo-09-002", Text: "user"},
	} {
		q.Connection = "main"
		if _, err := w.Ask(ofRepository, q); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%+v of others: %v", q, err)
		}
	}
}

func TestPeopleNeedThreeLetters(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"", "us", " u ", "עד"} {
		if found, a := w.ask(t, admin(t), choices.Query{Kind: choices.Users, Text: text}); found != "" || !strings.Contains(a.Note, "3 letters") {
			t.Errorf("%q finds %q: %s", text, found, a.Note)
		}
	}
	if n := w.Asked("/users"); n != 0 {
		t.Errorf("the platform was asked %d times", n)
	}
	if found, a := w.ask(t, admin(t), choices.Query{Kind: choices.Users, Text: "עדה 19"}); !strings.HasPrefix(found, "user019 ") || a.Found[0].Label != "עדה 19" {
		t.Errorf("a name from right to left finds %+v", a)
	}
}

// A platform that fails is said, and not asked again for a while; what is known is
// offered.
func TestAPlatformThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.known = []identity.Resource{{Connection: "main", Project: "ATL", Repository: "canoe"}}
	w.SetFault("/repos", playgroundtest.Fault{Kind: playgroundtest.Broken})
	q := choices.Query{Kind: choices.Repositories, Text: "can"}
	for range 3 {
		if found, a := w.ask(t, admin(t), q); found != "ATL/canoe" || !strings.HasSuffix(a.Note, "Type the name.") {
			t.Errorf("found %q: %q", found, a.Note)
		}
	}
	if n := w.Asked("/repos"); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	q.Connection = "mute"
	if found, a := w.ask(t, admin(t), q); found != "" || !strings.Contains(a.Note, "no account") {
		t.Errorf("without an account: %q, %q", found, a.Note)
	}
	w.SetFault("/repos", playgroundtest.Fault{})
	w.now = w.now.Add(time.Minute)
	if found, a := w.ask(t, admin(t), choices.Query{Kind: choices.Repositories, Text: "repo-41-007"}); found != "P41/repo-41-007" || a.Note != "" {
		t.Errorf("after a minute: %q, %q", found, a.Note)
	}
}

// A platform that hangs keeps who types waiting for a few seconds, once.
func TestAPlatformThatHangs(t *testing.T) {
	w := newWorld(t)
	w.SetFault("/users", playgroundtest.Fault{Kind: playgroundtest.Silent})
	began := time.Now()
	for range 2 {
		if _, a := w.ask(t, as(t, "ada", holds(identity.ProjectAdmin, "P41", "")), choices.Query{Kind: choices.Users, ProjectKey: "P41", Text: "user"}); a.Note != "The platform does not answer at the moment. Type the name." {
			t.Errorf("it says %q", a.Note)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestSearchesAreLimited(t *testing.T) {
	w := newWorld(t)
	q := choices.Query{Kind: choices.Users, Connection: "main", Text: "u"}
	for i := range 61 {
		_, err := w.Ask(admin(t), q)
		if limited := fault.Is(err, fault.RateLimited); limited != (i == 60) {
			t.Fatalf("search %d: %v", i, err)
		}
	}
	if _, err := w.Ask(as(t, "eve", identity.Grant{Permission: identity.Admin}), q); err != nil {
		t.Errorf("another user: %v", err)
	}
	for _, wrong := range []choices.Query{
		{Kind: "secrets", Connection: "main"}, {Kind: choices.Projects}, {Kind: choices.Projects, Connection: "none"},
		{Kind: choices.Projects, Connection: "main", Text: strings.Repeat("x", 256)},
	} {
		if _, err := w.Ask(admin(t), wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
