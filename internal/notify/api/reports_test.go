package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc/client"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

const someReport = `{"name":"Waiting","projectKey":"ATL","repositoryKey":"canoe","webhookUrl":"https://chat.example.com/flow/invoke?sig=very-secret",
	"inactivityDays":14,"frequency":"WEEKLY","day":"MONDAY","time":"09:00","timeZone":"Europe/Berlin"%s}`

const ofCanoe = ReportsPath + "?projectKey=atl&repositoryKey=Canoe"

func TestReportLife(t *testing.T) {
	s := newServer(t)
	w := s.do("POST", ReportsPath, "repo", fmt.Sprintf(someReport, ""))
	made := s.want(201, w)
	one := fmt.Sprintf("%s?id=%v", ReportsPath, made["id"])
	if got, want := w.Header().Get("Location"), "https://tools.example.com/outrigger"+one; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	if made["connection"] != "dc" || made["version"] != 1.0 || made["enabled"] != true || made["createdBy"] != "repo" || made["format"] != "auto" || made["lastRunAt"] != nil {
		t.Errorf("made %v", made)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	next, err := time.Parse(time.RFC3339, fmt.Sprint(made["nextRunAt"]))
	if here := next.In(zone); err != nil || here.Weekday() != time.Monday || here.Format("15:04") != "09:00" || time.Until(next) > 7*24*time.Hour+time.Hour {
		t.Errorf("next run %v", made["nextRunAt"])
	}

	read := s.do("GET", one, "repo", "")
	if s.want(200, read); read.Header().Get("ETag") != w.Header().Get("ETag") || read.Header().Get("ETag") == "" {
		t.Errorf("ETag %q, then %q", w.Header().Get("ETag"), read.Header().Get("ETag"))
	}
	again := s.want(200, s.do("POST", ReportsPath, "repo", read.Body.String()))
	if again["version"] != 2.0 || again["webhookUrl"] != made["webhookUrl"] || again["timeZone"] != "Europe/Berlin" {
		t.Errorf("sent back as it was read: %v", again)
	}
	if v := s.want(409, s.do("POST", ReportsPath, "admin", read.Body.String())); !strings.Contains(fmt.Sprint(v["message"]), "version 2") {
		t.Errorf("a stale version: %v", v)
	}
	s.want(412, s.do("POST", ReportsPath, "repo", fmt.Sprintf(someReport, fmt.Sprintf(`,"id":%v`, made["id"])), "If-Match", `"0-0"`))
	s.want(412, s.do("POST", ReportsPath, "repo", fmt.Sprintf(someReport, ""), "If-Match", "*"))

	off := s.want(200, s.do("PUT", fmt.Sprintf("%s/enabled?id=%v&enabled=false", ReportsPath, made["id"]), "repo", ""))
	if off["enabled"] != false || off["nextRunAt"] != nil {
		t.Errorf("switched off: %v", off)
	}
	s.want(400, s.do("PUT", fmt.Sprintf("%s/enabled?id=%v&enabled=perhaps", ReportsPath, made["id"]), "repo", ""))
	var list []map[string]any
	w = s.do("GET", ofCanoe, "repo", "")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 || list[0]["name"] != "Waiting" {
		t.Errorf("list %s", w.Body)
	}
	if strings.Contains(w.Body.String()+read.Body.String(), "very-secret") {
		t.Error("the signature is in an answer")
	}
	s.want(204, s.do("DELETE", one, "repo", ""))
	if w := s.do("GET", ofCanoe, "repo", ""); strings.TrimSpace(w.Body.String()) != "[]" {
		t.Errorf("after the end: %s", w.Body)
	}
	s.want(404, s.do("DELETE", one, "root", ""))
	s.want(403, s.do("DELETE", one, "repo", ""))
}

func TestReportPermissions(t *testing.T) {
	s := newServer(t)
	id := s.want(201, s.do("POST", ReportsPath, "root", fmt.Sprintf(someReport, "")))["id"]
	for user, may := range map[string]bool{"root": true, "admin": true, "project": true, "repo": true, "nobody": false} {
		ok := func(status int) int {
			if may {
				return status
			}
			return 403
		}
		s.want(ok(200), s.do("GET", ofCanoe, user, ""))
		s.want(ok(200), s.do("GET", fmt.Sprintf("%s?id=%v", ReportsPath, id), user, ""))
		s.want(ok(201), s.do("POST", ReportsPath, user, fmt.Sprintf(someReport, "")))
		s.want(ok(200), s.do("POST", ReportsPath, user, fmt.Sprintf(someReport, fmt.Sprintf(`,"id":%v`, id))))
		s.want(ok(200), s.do("PUT", fmt.Sprintf("%s/enabled?id=%v&enabled=true", ReportsPath, id), user, ""))
		if !may {
			s.want(403, s.do("POST", ReportsPath+"/test", user, fmt.Sprintf(someReport, "")))
			s.want(403, s.do("GET", fmt.Sprintf("%s/%v/view", ReportsPath, id), user, ""))
			s.want(403, s.do("DELETE", fmt.Sprintf("%s?id=%v", ReportsPath, id), user, ""))
		}
	}
	s.want(403, s.do("GET", ReportsPath+"?projectKey=ATL&repositoryKey=kayak", "repo", ""))
	s.want(401, s.do("GET", ofCanoe, "", ""))
	s.want(404, s.do("GET", ReportsPath+"/99/view", "root", ""))
	s.want(404, s.do("GET", ReportsPath+"/x/view", "root", ""))
	s.want(403, s.do("GET", ReportsPath+"/99/view", "project", ""))
}

// An ADMIN lists the reports of everything, who administers a project those of
// the project, page by page.
func TestReportsOfManyRepositories(t *testing.T) {
	s := newServer(t)
	for _, at := range []string{"ATL canoe a", "ATL kayak b", "PAC hull c", "ATL canoe b"} {
		keys := strings.Fields(at)
		s.want(201, s.do("POST", ReportsPath, "root", fmt.Sprintf(strings.NewReplacer(`"ATL"`, `"`+keys[0]+`"`, `"canoe"`, `"`+keys[1]+`"`, "Waiting", keys[2]).Replace(someReport), "")))
	}
	list := func(user, query string) string {
		var names []string
		for page := query + "limit=2"; page != ""; {
			var got struct {
				Items []struct{ Name, ProjectKey, RepositoryKey string }
				Next  string
			}
			w := s.do("GET", ReportsPath+"?"+page, user, "")
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Items) > 2 {
				t.Fatalf("%s, %s: %d %s", user, page, w.Code, w.Body)
			}
			for _, r := range got.Items {
				names = append(names, r.Name+" "+r.ProjectKey+"/"+r.RepositoryKey)
			}
			if page = ""; got.Next != "" {
				page = query + "limit=2&after=" + got.Next
			}
		}
		return strings.Join(names, ", ")
	}
	const all, atlantic = "a ATL/canoe, b ATL/kayak, b ATL/canoe, c PAC/hull", "a ATL/canoe, b ATL/kayak, b ATL/canoe"
	for _, c := range []struct{ user, query, want string }{
		{"admin", "", all}, {"root", "connection=dc&", all}, {"admin", "projectKey=atl&", atlantic}, {"project", "projectKey=ATL&", atlantic},
		{"project", "projectKey=ATL&connection=dc&", atlantic}, {"admin", "projectKey=NONE&", ""},
	} {
		if got := list(c.user, c.query); got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.user, c.query, got, c.want)
		}
	}
	for _, query := range []string{"", "?projectKey=PAC"} {
		s.want(400, s.do("GET", ReportsPath+query, "project", ""))
		s.want(400, s.do("GET", ReportsPath+query, "nobody", ""))
	}
	s.want(401, s.do("GET", ReportsPath, "", ""))
}

// Every wrong member is named at once.
func TestReportRefusals(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ name, body, fields string }{
		{"nothing at all", `{}`, "name projectKey repositoryKey inactivityDays frequency time webhookUrl"},
		{"members that cannot be read, are unknown, wrong and missing",
			`{"name":7,"colour":"red","projectKey":"ATL","repositoryKey":"canoe","inactivityDays":"14","frequency":"HOURLY","time":"9","timeZone":"Berlin","webhookUrl":"http://x"}`,
			"name colour inactivityDays frequency time timeZone webhookUrl"},
		{"no days", strings.Replace(fmt.Sprintf(someReport, ""), "14", "0", 1), "inactivityDays"},
		{"a year and a day", strings.Replace(fmt.Sprintf(someReport, ""), "14", "366", 1), "inactivityDays"},
		{"half a day", strings.Replace(fmt.Sprintf(someReport, ""), "14", "0.5", 1), "inactivityDays"},
		{"weekly without a day", strings.Replace(fmt.Sprintf(someReport, ""), `"day":"MONDAY",`, "", 1), "day"},
		{"weekly on no day", strings.Replace(fmt.Sprintf(someReport, ""), "MONDAY", "MON", 1), "day"},
		{"daily on a day", strings.Replace(fmt.Sprintf(someReport, ""), "WEEKLY", "DAILY", 1), "day"},
		{"after midnight", strings.Replace(fmt.Sprintf(someReport, ""), "09:00", "25:00", 1), "time"},
		{"a zone that does not exist", strings.Replace(fmt.Sprintf(someReport, ""), "Europe/Berlin", "Europe/Atlantis", 1), "timeZone"},
		{"the machine's own zone", strings.Replace(fmt.Sprintf(someReport, ""), "Europe/Berlin", "Local", 1), "timeZone"},
		{"a mask that is no pattern", fmt.Sprintf(someReport, `,"targetBranchMask":"release/("`), "targetBranchMask"},
		{"no repository", `{"projectKey":"ATL","name":"x","inactivityDays":1,"frequency":"DAILY","time":"09:00","webhookUrl":"https://x"}`, "repositoryKey"},
		{"another connection", fmt.Sprintf(someReport, `,"connection":"cloud"`), "connection"},
		{"a negative id", fmt.Sprintf(someReport, `,"id":-1`), "id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := s.do("POST", ReportsPath, "root", c.body)
			var v map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 400 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if got := fields(v); got != c.fields {
				t.Errorf("fields %q, want %q: %s", got, c.fields, w.Body)
			}
		})
	}
	if got := fields(s.want(400, s.do("POST", ReportsPath+"/test", "root", `{"targetBranchMask":"(","inactivityDays":0,"time":"25:00"}`))); got != "projectKey repositoryKey inactivityDays targetBranchMask webhookUrl" {
		t.Errorf("a test: %q", got)
	}
	s.want(404, s.do("POST", ReportsPath, "root", fmt.Sprintf(someReport, `,"id":99`)))
	s.want(400, s.do("GET", ReportsPath, "repo", ""))
	s.want(400, s.do("GET", ReportsPath+"?projectKey=ATL", "repo", ""))
	s.want(400, s.do("GET", ReportsPath+"?repositoryKey=canoe", "root", ""))
	s.want(400, s.do("GET", ReportsPath+"?connection=other", "root", ""))
	s.want(400, s.do("GET", ReportsPath+"?after=x", "root", ""))
	s.want(400, s.do("GET", ReportsPath+"?id=x", "root", ""))
	s.want(400, s.do("DELETE", ReportsPath, "root", ""))
	s.want(400, s.do("GET", ofCanoe+"&colour=red", "root", ""))
	s.want(405, s.do("PATCH", ReportsPath, "root", "{}"))
}

// A new report asks the platform for its repository. Where the platform says that
// there is none, it is refused; where nothing can be asked, it is saved, and says so.
func TestReportAsksForItsRepository(t *testing.T) {
	platform := playgroundtest.NewBitbucket(bitbucket.Options{Token: "right", Projects: []bitbucket.Project{{Key: "ATL", Repositories: []bitbucket.Repository{{Slug: "canoe"}}}}})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	out, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	s := newServer(t, notify.Connection{Name: "dc", Kind: "bitbucket-dc", BaseURL: server.URL, Token: secret.New("right")})
	s.reports.CheckRepository = client.New(out.Trusted(), nil).CheckRepository
	of := func(repository string) string {
		return strings.Replace(fmt.Sprintf(someReport, ""), "canoe", repository, 1)
	}
	made := s.want(201, s.do("POST", ReportsPath, "root", of("canoe")))
	if made["warnings"] != nil {
		t.Errorf("warnings %v", made["warnings"])
	}
	for _, body := range []string{of("kayak"), strings.Replace(of("canoe"), "ATL", "NONE", 1)} {
		if v := s.want(400, s.do("POST", ReportsPath, "root", body)); fields(v) != "repositoryKey" || !strings.Contains(fmt.Sprint(v["message"]), "does not exist") {
			t.Errorf("no such repository: %v", v)
		}
	}
	for kind, says := range map[playgroundtest.Kind]string{playgroundtest.Broken: "500", playgroundtest.Forbidding: "REPO_READ", playgroundtest.Missing: "404"} {
		platform.SetFault("/repos/", playgroundtest.Fault{Kind: kind})
		v := s.want(201, s.do("POST", ReportsPath, "admin", of("canoe")))
		if got := fmt.Sprint(v["warnings"]); !strings.Contains(got, "repositoryKey") || !strings.Contains(got, "was not checked: ") || !strings.Contains(got, says) {
			t.Errorf("%s: warnings %s", kind, got)
		}
	}
	// One that exists is saved whatever became of its repository.
	s.want(200, s.do("POST", ReportsPath, "root", strings.Replace(of("canoe"), "{", fmt.Sprintf(`{"id":%v,`, made["id"]), 1)))
}

// What a report says now comes from the platform at once, and so does why it
// does not.
func TestReportView(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	platform := playgroundtest.NewBitbucket(bitbucket.Options{Token: "right", Projects: []bitbucket.Project{{Key: "ATL", Repositories: []bitbucket.Repository{{Slug: "canoe", PullRequests: []bitbucket.PullRequest{
		{ID: 1, Title: "Fresh", Author: "ana", Target: "main", Updated: now.Add(-time.Hour)},
		{ID: 2, Title: "Forgotten", Author: "ana", Target: "main", Updated: now.AddDate(0, 0, -20), Reviewers: []bitbucket.Reviewer{{Name: "bob"}, {Name: "eve", Status: "APPROVED"}}},
		{ID: 3, Title: "Draft", Author: "ana", Target: "main", Draft: true, Updated: now.AddDate(0, 0, -30)},
	}}}}}})
	server := httptest.NewServer(platform.Handler())
	t.Cleanup(server.Close)
	out, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	s := newServer(t, notify.Connection{Name: "dc", Kind: "bitbucket-dc", BaseURL: server.URL, Token: secret.New("right")})
	s.reports.Clock = func() time.Time { return now }
	s.reports.Lister = client.New(out.Trusted(), nil)
	id := s.want(201, s.do("POST", ReportsPath, "repo", fmt.Sprintf(someReport, `,"skipDrafts":true`)))["id"]
	view := fmt.Sprintf("%s/%v/view", ReportsPath, id)

	got := s.do("GET", view, "repo", "").Body.String()
	want := fmt.Sprintf(`{"id":%v,"name":"Waiting","askedAt":"2026-11-22T12:00:00Z","open":2,"drafts":1,"inactivityDays":14,"inactive":1,"oldest":[{"id":2,"title":"Forgotten",`+
		`"author":{"name":"ana","displayName":"ana"},"target":"main","url":"%s/projects/ATL/repos/canoe/pull-requests/2","idleDays":20,"waitsFor":[{"name":"bob","displayName":"bob"}]}]}`, id, server.URL)
	if strings.TrimSpace(got) != want {
		t.Errorf("figures\n%s\nwant\n%s", got, want)
	}
	for format, mediaType := range map[string]string{"teams": "application/json", "slack": "application/json", "html": "text/html; charset=utf-8"} {
		w := s.do("GET", view+"?format="+format, "repo", "")
		if s.want(200, w); w.Header().Get("Content-Type") != mediaType || !strings.Contains(w.Body.String(), "Forgotten") || strings.Contains(w.Body.String(), "Fresh") {
			t.Errorf("%s: %s %s", format, w.Header().Get("Content-Type"), w.Body)
		}
	}
	if got := fields(s.want(400, s.do("GET", view+"?format=pdf", "repo", ""))); got != "format" {
		t.Errorf("format pdf: %q", got)
	}

	for kind, says := range map[playgroundtest.Kind]string{
		playgroundtest.Broken:     "500 Internal Server Error, An error occurred",
		playgroundtest.Forbidding: "Give the connection's account the permission to read ATL/canoe (REPO_READ)",
		playgroundtest.Missing:    "Check that there is a repository ATL/canoe",
	} {
		platform.SetFault("/pull-requests", playgroundtest.Fault{Kind: kind})
		if v := s.want(503, s.do("GET", view, "repo", "")); !strings.Contains(fmt.Sprint(v["message"]), says) {
			t.Errorf("%s: %v", kind, v)
		}
	}
	platform.SetFault("/pull-requests", playgroundtest.Fault{Kind: playgroundtest.Throttling, RetryAfter: "30"})
	w := s.do("GET", view, "repo", "")
	if s.want(503, w); w.Header().Get("Retry-After") != "30" || !strings.Contains(w.Body.String(), "Rate limit exceeded") {
		t.Errorf("throttled: %q %s", w.Header().Get("Retry-After"), w.Body)
	}
}
