package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/notify"
)

const (
	hash      = "9e8c7d6b5a49382716059483726150f4e3d2c1b0"
	buildPath = "/hooks/dc/builds/projects/ATL/repos/canoe/commits/" + hash
	shortPath = "/hooks/dc/builds/" + hash
	someBuild = `{"key":"CANOE","state":"FAILED","name":"Canoe #41","url":"https://ci.example.com/41","ref":"refs/heads/main",
		"buildNumber":"41","duration":12,"lastUpdated":1763800000000,"parent":"P","testResults":{"failed":3},"dateAdded":1763800000000}`
)

func (s *server) buildRule(keys string) {
	s.t.Helper()
	s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(
		`{"name":"builds","webhookUrl":"https://chat.example.com/flow/invoke?sig=very-secret","eventTypes":["BUILD_STATUS_SET"]%s}`, keys)))
}

// delivered are the builds of which messages wait, the last first.
func (s *server) builds() (list []notify.Event) {
	s.t.Helper()
	waiting, err := s.store.ListDeliveries(s.t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range waiting {
		if d.Event.Build != nil {
			list = append(list, *d.Event)
		}
	}
	return list
}

func TestPostBuild(t *testing.T) {
	s := newServer(t)
	s.buildRule("")
	s.want(202, s.do("POST", buildPath, "repo", someBuild))
	s.want(202, s.do("POST", buildPath, "repo", someBuild))
	s.want(202, s.do("POST", strings.Replace(buildPath, "ATL", "atl", 1), "project", strings.Replace(someBuild, "Canoe #41", "Canoe #42", 1)))
	list := s.builds()
	if len(list) != 1 {
		t.Fatalf("%d messages of one key and state", len(list))
	}
	e := list[0]
	want := notify.Build{Commit: hash, Key: "CANOE", Name: "Canoe #41", State: "FAILED", URL: "https://ci.example.com/41"}
	if *e.Build != want || e.Branch != "main" || e.Project.Key != "ATL" || e.Repository.Key != "canoe" || e.Connection != "dc" || e.At.IsZero() {
		t.Errorf("%+v %+v", e, *e.Build)
	}
	s.want(202, s.do("POST", buildPath, "repo", strings.Replace(someBuild, "FAILED", "SUCCESSFUL", 1)))
	s.want(202, s.do("POST", buildPath, "repo", strings.Replace(someBuild, "CANOE", "HULL", 1)))
	if n := len(s.builds()); n != 3 {
		t.Errorf("%d messages after another state and another key", n)
	}
	for i, run := range []string{
		`"url":"https://ci.example.com/42","buildNumber":"41","dateAdded":1763800000000`, `"url":"https://ci.example.com/42","buildNumber":42,"dateAdded":1763800000000`,
		`"buildNumber":"43","dateAdded":1763800000000`, `"buildNumber":"43","dateAdded":"2026-11-22T10:00:00Z"`, `"dateAdded":1`,
	} {
		next := `{"key":"HULL","state":"FAILED",` + run + "}"
		s.want(202, s.do("POST", buildPath, "repo", next))
		s.want(202, s.do("POST", buildPath, "repo", next))
		if n := len(s.builds()); n != 4+i {
			t.Errorf("%d messages after %s", n, run)
		}
	}
}

func TestPostBuildRefuses(t *testing.T) {
	s := newServer(t)
	s.buildRule("")
	s.want(401, s.do("POST", buildPath, "", someBuild))
	for path, user := range map[string]string{
		buildPath: "nobody", strings.Replace(buildPath, "canoe", "hull", 1): "repo",
		strings.Replace(buildPath, "ATL", "PAC", 1): "project", strings.Replace(buildPath, "/dc/", "/other/", 1): "repo",
	} {
		s.want(403, s.do("POST", path, user, someBuild))
	}
	s.want(404, s.do("POST", strings.Replace(buildPath, "/dc/", "/other/", 1), "root", someBuild))
	s.want(415, s.do("POST", buildPath, "repo", someBuild, "Content-Type", "text/plain"))
	for body, want := range map[string]string{
		`{"key":"K","state":"BROKEN"}`:                                                  "state",
		`{"state":"FAILED"}`:                                                            "key",
		`{"key":"K","state":"FAILED","url":"javascript:alert(1)"}`:                      "url",
		`{"key":"K","state":"FAILED","status":"x"}`:                                     "status",
		`{"key":"` + strings.Repeat("k", 256) + `","state":"none"}`:                     "state key",
		`{"key":"K","state":"FAILED","buildNumber":"` + strings.Repeat("4", 256) + `"}`: "buildNumber",
		`[]`: "",
	} {
		if got := fields(s.want(400, s.do("POST", buildPath, "repo", body))); got != want {
			t.Errorf("%s: fields %q, want %q", body, got, want)
		}
	}
	if got := fields(s.want(400, s.do("POST", strings.Replace(buildPath, hash, "main", 1), "repo", someBuild))); got != "commit" {
		t.Errorf("fields %q", got)
	}
	for _, key := range []string{"a%00b", "a%FFb"} {
		s.want(400, s.do("POST", strings.Replace(buildPath, "canoe", key, 1), "root", someBuild))
	}
	if n := len(s.builds()); n != 0 {
		t.Errorf("%d messages of what was refused", n)
	}
}

// The short form is for commits that events named, of repositories of who asks.
func TestPostBuildOfANamedCommit(t *testing.T) {
	s := newServer(t)
	s.buildRule("")
	s.want(404, s.do("POST", shortPath, "root", someBuild))
	push := notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Connection: "dc", Branch: "next", Ref: &notify.RefChange{Name: "next", To: hash},
		Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "canoe"},
	}
	elsewhere := push
	elsewhere.Repository.Key = "hull"
	r := &notify.Receipt{Connection: "dc", Key: "repo:refs_changed", RequestID: "push", ReceivedAt: time.Now(), Outcome: notify.Understood}
	r.Events = []notify.Event{push, elsewhere}
	if err := s.store.Accept(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	s.want(404, s.do("POST", shortPath, "nobody", someBuild))
	s.want(202, s.do("POST", shortPath, "repo", strings.Replace(someBuild, `"ref":"refs/heads/main",`, "", 1)))
	list := s.builds()
	if len(list) != 1 || list[0].Repository.Key != "canoe" || list[0].Branch != "next" {
		t.Fatalf("%+v", list)
	}
	s.want(202, s.do("POST", shortPath, "project", someBuild))
	if list = s.builds(); len(list) != 2 || list[0].Repository.Key != "hull" {
		t.Errorf("both repositories: %+v", list)
	}
}

// The cloud platform itself tells of every build status: one that was posted
// here too would be told of twice.
func TestPostBuildOfTheCloudEdition(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := cloudServer(t, d)
		for _, path := range []string{buildPath, shortPath} {
			if answer := s.want(400, s.do("POST", strings.Replace(path, "/dc/", "/cloud/", 1), "root", someBuild)); !strings.Contains(fmt.Sprint(answer["message"]), "by webhook") {
				t.Errorf("answered %v", answer)
			}
		}
	})
}
