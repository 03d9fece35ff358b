package api

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
)

const eventsURL = "/rest/mtbs/1.0/configuration/events"

// took puts an event into the log, as if a webhook had brought it.
func (s *server) took(key string, outcome notify.Outcome, events ...notify.Event) {
	s.t.Helper()
	r := &notify.Receipt{Connection: "dc", Key: key, RequestID: key, ReceivedAt: time.Now(), Outcome: outcome, Events: events, Digest: []byte(key)}
	if outcome == notify.Unreadable {
		r.Reason, r.Body = "there is no actor", []byte(`{"odd":true}`)
	}
	if err := s.store.Accept(s.t.Context(), r); err != nil {
		s.t.Fatal(err)
	}
}

func push(project, repository, branch string) notify.Event {
	return notify.Event{
		Types: []notify.EventType{notify.BranchUpdated}, Key: "repo:refs_changed", Connection: "dc", Branch: branch,
		Project: notify.Project{Key: project}, Repository: notify.Repository{Key: repository}, Actor: notify.User{Name: "ada"},
	}
}

// fill makes a rule of each level, and takes events of several places.
func (s *server) fill() {
	s.t.Helper()
	s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"branchMask":"release/.*"`)))
	s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"projectKey":"ATL","repositoryKey":"canoe"`)))
	s.took("canoe", notify.Understood, push("ATL", "canoe", "main"))
	s.took("kayak", notify.Understood, push("ATL", "kayak", "main"))
	s.took("pacific", notify.Understood, push("PAC", "canoe", "main"))
	s.took("garbled", notify.Unreadable)
}

func keysOf(v map[string]any) string {
	var keys []string
	items, _ := v["items"].([]any)
	for _, item := range items {
		keys = append(keys, fmt.Sprint(item.(map[string]any)["key"]))
	}
	return strings.Join(keys, " ")
}

func (s *server) idOf(key string) int {
	s.t.Helper()
	items, _ := s.want(200, s.do("GET", eventsURL, "admin", ""))["items"].([]any)
	for _, item := range items {
		if e := item.(map[string]any); e["key"] == key {
			return int(e["id"].(float64))
		}
	}
	s.t.Fatalf("no event %q", key)
	return 0
}

func TestEventsAreListed(t *testing.T) {
	s := newServer(t)
	s.fill()
	for query, want := range map[string]string{
		"":                                     "garbled pacific kayak canoe",
		"?connection=dc&projectKey=atl":        "kayak canoe",
		"?projectKey=ATL&repositoryKey=CANOE":  "canoe",
		"?projectKey=ATL&repositorySlug=kayak": "kayak",
		"?outcome=taken":                       "canoe",
		"?outcome=not_taken":                   "pacific kayak",
		"?outcome=not_understood":              "garbled",
		"?eventType=BRANCH_UPDATED":            "pacific kayak canoe",
		"?eventType=TAG_CREATED":               "",
		"?since=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)): "",
		"?until=2026-01-01T00:00:00Z": "",
	} {
		if got := keysOf(s.want(200, s.do("GET", eventsURL+query, "admin", ""))); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	var pages []string
	query := "?limit=3"
	for {
		page := s.want(200, s.do("GET", eventsURL+query, "admin", ""))
		pages = append(pages, keysOf(page))
		if page["next"] == nil {
			break
		}
		query = "?limit=3&after=" + page["next"].(string)
	}
	if got := strings.Join(pages, "|"); got != "garbled pacific kayak|canoe" {
		t.Errorf("pages %q", got)
	}
	all := s.want(400, s.do("GET", eventsURL+"?outcome=lost&eventType=NONE&since=yesterday&until=never", "admin", ""))
	if got := fields(all); got != "since until outcome eventType" {
		t.Errorf("refused %q", got)
	}
	s.want(400, s.do("GET", eventsURL+"?repositoryKey=canoe", "admin", ""))
	s.want(400, s.do("GET", eventsURL+"?after=eA", "admin", ""))
}

func TestWhoMaySeeEvents(t *testing.T) {
	s := newServer(t)
	s.fill()
	canoe, kayak, pacific, garbled := s.idOf("canoe"), s.idOf("kayak"), s.idOf("pacific"), s.idOf("garbled")
	one := func(id int) string { return fmt.Sprintf("%s/%d", eventsURL, id) }
	const gone = 999
	for _, c := range []struct {
		path                               string
		root, admin, project, repo, nobody int
	}{
		{eventsURL, 200, 200, 403, 403, 403},
		{eventsURL + "?projectKey=ATL", 200, 200, 200, 403, 403},
		{eventsURL + "?projectKey=ATL&repositoryKey=canoe", 200, 200, 200, 200, 403},
		{eventsURL + "?projectKey=ATL&repositoryKey=kayak", 200, 200, 200, 403, 403},
		{eventsURL + "?projectKey=PAC", 200, 200, 403, 403, 403},
		{one(canoe), 200, 200, 200, 200, 403},
		{one(kayak), 200, 200, 200, 403, 403},
		{one(pacific), 200, 200, 403, 403, 403},
		{one(garbled), 200, 200, 403, 403, 403},
		{one(gone), 404, 403, 403, 403, 403},
		{eventsURL + "/x", 404, 403, 403, 403, 403},
		{one(canoe) + "/explain", 200, 200, 200, 200, 403},
		{one(kayak) + "/explain", 200, 200, 200, 403, 403},
		{one(pacific) + "/explain", 200, 200, 403, 403, 403},
		{one(garbled) + "/explain", 200, 200, 403, 403, 403},
		{one(gone) + "/explain", 404, 403, 403, 403, 403},
	} {
		for user, want := range map[string]int{"root": c.root, "admin": c.admin, "project": c.project, "repo": c.repo, "nobody": c.nobody, "": 401} {
			if got := s.do("GET", c.path, user, "").Code; got != want {
				t.Errorf("%s as %q: %d, want %d", c.path, user, got, want)
			}
		}
	}
}

func TestAnEventThatWasNotUnderstoodShowsItsBody(t *testing.T) {
	s := newServer(t)
	s.fill()
	e := s.want(200, s.do("GET", fmt.Sprintf("%s/%d", eventsURL, s.idOf("garbled")), "admin", ""))
	if e["body"] != `{"odd":true}` || e["bodySize"] != 12.0 || e["reason"] != "there is no actor" || e["outcome"] != "not_understood" {
		t.Errorf("event %v", e)
	}
}

func TestAnEventIsExplained(t *testing.T) {
	s := newServer(t)
	s.fill()
	path := fmt.Sprintf("%s/%d/explain", eventsURL, s.idOf("canoe"))
	x := s.want(200, s.do("GET", path, "admin", ""))
	items := x["items"].([]any)
	took, refused := items[0].(map[string]any), items[1].(map[string]any)
	if took["outcome"] != "taken" || took["delivery"] == nil || took["level"] != "REPOSITORY" {
		t.Errorf("the repository's rule: %v", took)
	}
	if refused["outcome"] != "refused" || refused["filter"] != "branchMask" || refused["wants"] != "release/.*" || refused["has"] != "main" {
		t.Errorf("the global rule: %v", refused)
	}
	if d := x["deliveries"].([]any); len(d) != 1 || d[0].(map[string]any)["id"] != took["delivery"] {
		t.Errorf("deliveries %v", d)
	}
	first := s.want(200, s.do("GET", path+"?limit=1", "admin", ""))
	second := s.want(200, s.do("GET", path+"?limit=1&after="+first["next"].(string), "admin", ""))
	if second["next"] != nil || second["items"].([]any)[0].(map[string]any)["id"] != refused["id"] {
		t.Errorf("the second page: %v", second)
	}
	s.want(400, s.do("GET", path+"?after=eA", "admin", ""))
	own := s.want(200, s.do("GET", path, "repo", ""))
	if hidden := own["hidden"].(map[string]any); len(own["items"].([]any)) != 1 || hidden["rules"] != 1.0 || hidden["taken"] != 0.0 {
		t.Errorf("as the repository's administrator: %v", own)
	}
	s.want(204, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, refused["id"]), "admin", ""))
	then := s.want(200, s.do("GET", path, "admin", ""))["items"].([]any)[1].(map[string]any)
	if then["filter"] != "branchMask" || then["changedBy"] != "admin" || then["deleted"] != true || then["changedAt"] == nil {
		t.Errorf("after it was deleted: %v", then)
	}
}
