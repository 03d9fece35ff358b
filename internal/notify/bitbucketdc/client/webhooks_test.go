package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/secret"
)

func TestProjects(t *testing.T) {
	o := bitbucket.Options{MaxPage: 7}
	for i := range 20 {
		o.Projects = append(o.Projects, bitbucket.Project{ID: int64(i + 1), Key: fmt.Sprintf("P%02d", i), Name: fmt.Sprint("Project ", i)})
	}
	p := play(t, o)
	all, err := p.Projects(t.Context(), p.c)
	if err != nil || len(all) != 20 || all[19] != (notify.ListedProject{ID: 20, Key: "P19", Name: "Project 19"}) {
		t.Errorf("%v, %v", all, err)
	}
}

// An older platform gets the event keys that it knows, and nothing is created
// for those that it refused.
func TestPutWebhook(t *testing.T) {
	for name, c := range map[string]struct {
		unknown []string
		events  int
	}{
		"10.2": {nil, 22},
		"8.7":  {[]string{"project:modified", "repo:secret_detected"}, 20},
		"5.4": {[]string{"project:modified", "repo:secret_detected", "mirror:repo_synchronized", "pr:from_ref_updated",
			"pr:modified", "pr:reviewer:updated"}, 16},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, bitbucket.Options{UnknownEvents: c.unknown, Projects: []bitbucket.Project{{Key: "SHOP"}}})
			made, err := p.PutWebhook(t.Context(), p.c, "SHOP", notify.Webhook{URL: "https://out.example.com/hooks/main/shop", Secret: secret.New("s3cret")})
			if err != nil || made.ID == 0 || len(made.Events) != c.events || !made.Active {
				t.Fatalf("%+v, %v", made, err)
			}
			there := p.platform.Webhooks("SHOP")
			if len(there) != 1 || there[0].Secret != "s3cret" || there[0].URL != made.URL || !slices.Equal(there[0].Events, made.Events) {
				t.Errorf("%+v", there)
			}
			made.Secret = secret.New("another")
			if again, err := p.PutWebhook(t.Context(), p.c, "SHOP", made); err != nil || again.ID != made.ID {
				t.Errorf("%+v, %v", again, err)
			}
			if there := p.platform.Webhooks("SHOP"); len(there) != 1 || there[0].Secret != "another" {
				t.Errorf("changed: %+v", there)
			}
		})
	}
}

func TestWebhooksNeedTheProjectsAdministrator(t *testing.T) {
	p := play(t, bitbucket.Options{
		Users:    []bitbucket.User{{Name: "bot", Password: "right"}},
		Projects: []bitbucket.Project{{Key: "SHOP"}, {Key: "OWN", Admins: []string{"bot"}}},
	})
	p.c.User = "bot"
	if _, err := p.Webhooks(t.Context(), p.c, "SHOP"); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "not permitted") || !Refused(err) {
		t.Errorf("%v", err)
	}
	if _, err := p.Webhooks(t.Context(), p.c, "OWN"); err != nil {
		t.Error(err)
	}
}

func TestHealth(t *testing.T) {
	p := play(t, bitbucket.Options{Projects: []bitbucket.Project{{Key: "SHOP"}}})
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	id := p.platform.PutWebhook(bitbucket.Webhook{
		Project: "SHOP", Successes: 7, Failures: 2, Errors: 1, LastSuccess: at, LastFailure: at.Add(time.Minute), LastAnswer: "503",
	})
	h, err := p.Health(t.Context(), p.c, "SHOP", id)
	if err != nil || h.Successes != 7 || h.Failures != 3 || !h.Failing() || h.Answer != "503" || h.LastSuccess.Sub(at) > time.Second {
		t.Errorf("%+v, %v", h, err)
	}
	fresh := p.platform.PutWebhook(bitbucket.Webhook{Project: "SHOP"})
	if h, err := p.Health(t.Context(), p.c, "SHOP", fresh); err != nil || h != (notify.WebhookHealth{}) || h.Failing() {
		t.Errorf("never called: %+v, %v", h, err)
	}
}

func TestBuilds(t *testing.T) {
	p := play(t, bitbucket.Options{MaxPage: 1})
	const commit = "a8c5de1f8f8a7e7d4f0a1b2c3d4e5f6a7b8c9d0e"
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	p.platform.SetBuild(commit, bitbucket.Build{State: "INPROGRESS", Key: "unit", URL: "https://ci.example.com/1", Added: at})
	p.platform.SetBuild(commit, bitbucket.Build{State: "FAILED", Key: "e2e", Name: "End to end", Ref: "refs/heads/main", URL: "https://ci.example.com/2", Description: "2 failed", Added: at})
	all, err := p.Builds(t.Context(), p.c, commit)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	want := notify.PlatformBuild{Ref: "refs/heads/main", At: at, Build: notify.Build{
		Commit: commit, Key: "e2e", Name: "End to end", State: "FAILED", Description: "2 failed", URL: "https://ci.example.com/2",
	}}
	if got := all[0]; !got.At.Equal(at) || got.Build != want.Build || got.Ref != want.Ref {
		t.Errorf("%+v", got)
	}
}

func TestMoment(t *testing.T) {
	want := time.Date(2026, 8, 19, 17, 27, 55, 266e6, time.UTC)
	for _, text := range []string{"1787160475266", `"2026-08-19T17:27:55.266Z"`, `"2026-08-19T19:27:55.266+0200"`} {
		var m moment
		if err := m.UnmarshalJSON([]byte(text)); err != nil || !m.Equal(want) {
			t.Errorf("%s: %v, %v", text, m, err)
		}
	}
	var m moment
	if err := m.UnmarshalJSON([]byte(`"soon"`)); err != nil || !m.IsZero() {
		t.Errorf("%v, %v", m, err)
	}
}
