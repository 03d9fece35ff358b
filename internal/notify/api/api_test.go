package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/bitbucketdc"
	"outrigger/internal/notify/store"
	"outrigger/internal/rest"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// everybody are those who ask.
var everybody = withCloudUsers(identitytest.Everybody())

// withCloudUsers adds administrators of the connection cloud: of a workspace, and
// of two of its repositories.
func withCloudUsers(users identitytest.Users) identitytest.Users {
	maps.Copy(users, identitytest.With(map[string][]identity.Grant{
		"workspace": {{Permission: identity.ProjectAdmin, Resource: identity.Resource{Connection: "cloud", Project: "atlas"}}},
		"rower":     {{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "cloud", Project: "atlas", Repository: "engine"}}},
		"bailer":    {{Permission: identity.RepoAdmin, Resource: identity.Resource{Connection: "cloud", Project: "atlas", Repository: "hull"}}},
	}))
	users["project"].UserID = 7 // who makes channels
	return users
}

// server is the wing behind a router, on SQLite: the statements are tested on
// both databases elsewhere.
type server struct {
	t      *testing.T
	db     *db.DB
	store  *store.Store
	router *rest.Router

	rules   *admin.Rules
	hooks   *admin.Hooks
	reports *admin.Reports // whose platform a test brings
}

// newServer has the connections given, else one without an account.
func newServer(t *testing.T, connections ...notify.Connection) *server {
	if connections == nil {
		connections = notify.Connections{{Name: "dc", Kind: "bitbucket-dc"}}
	}
	return newServerOn(t, dbtest.SQLite(t, migrations...), connections...)
}

var migrations = []db.Migrations{secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations}

func newServerOn(t *testing.T, d *db.DB, connections ...notify.Connection) *server {
	if err := d.Migrate(t.Context(), migrations...); err != nil {
		t.Fatal(err)
	}
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, db: d, store: store.New(d, box, slog.New(slog.DiscardHandler))}
	decode := func(key string, _ []byte, _ string) (string, []notify.Event, error) { return key, nil, nil }
	s.store.UsePlatforms(connections, map[string]notify.Decoder{"bitbucket-dc": decode})
	if err := s.store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	router, err := rest.NewRouter(rest.Options{Identity: everybody, Log: log, BaseURL: "https://tools.example.com/outrigger"})
	if err != nil {
		t.Fatal(err)
	}
	rules := &admin.Rules{Store: s.store, CheckURL: func(raw string) error {
		if !strings.HasPrefix(raw, "https://") {
			return fault.New(fault.Invalid, "Only https.")
		}
		return nil
	}, CautionURL: func(_ context.Context, url string) string {
		if strings.HasPrefix(url, "https://loopback.example.com/") {
			return "loopback.example.com is 127.0.0.1."
		}
		return ""
	}, Accounts: accounts{"rower": 7, "admin": 8}}
	hooks := &admin.Hooks{Store: s.store, Confirmed: func(context.Context) error { return nil }, Ask: func(_ context.Context, c *notify.Connection) (string, error) {
		if c.Name == "dc" {
			return "Bitbucket 9.4", nil
		}
		return "", fault.New(fault.Unavailable, "The platform does not answer.")
	}}
	builds := &admin.Builds{Store: s.store, Event: bitbucketdc.BuildEvent, Clock: time.Now}
	events := &admin.Events{Store: s.store}
	trials := &admin.Trials{Rules: rules, Events: events, Memberships: notify.NoMemberships{}}
	s.reports = &admin.Reports{
		Store: s.store, PullRequests: func(*notify.Connection, notify.RepositoryRef) string { return "" }, CheckURL: rules.CheckURL, CautionURL: rules.CautionURL, Zone: "UTC", Clock: time.Now,
	}
	tests := &admin.TestMessages{
		Store: s.store, Write: func([]notify.EventType, notify.Format) []byte { return nil },
		Post: func(context.Context, secret.Value, []byte) *work.Attempt { return &work.Attempt{Status: 202} },
	}
	channels := &admin.Channels{Store: s.store, Tests: tests, CheckURL: rules.CheckURL, Clock: time.Now}
	(&API{Clock: time.Now, Services: admin.Services{
		Rules: rules, Trials: trials, Reports: s.reports, Channels: channels, Events: events, Hooks: hooks,
		Webhooks: &admin.Webhooks{Store: s.store}, Builds: builds,
	}}).Register(router)
	s.router, s.rules, s.hooks = router, rules, hooks
	return s
}

// do sends a request with headers in pairs.
func (s *server) do(method, path, user, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "/outrigger"+path, strings.NewReader(body))
	if user != "" {
		r.SetBasicAuth(user, "x")
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	return w
}

func (s *server) want(status int, w *httptest.ResponseRecorder) map[string]any {
	s.t.Helper()
	if w.Code != status {
		s.t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	var v map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &v) // lists and empty bodies have no members
	return v
}

func fields(v map[string]any) string {
	var names []string
	errors, _ := v["errors"].([]any)
	for _, e := range errors {
		names = append(names, fmt.Sprint(e.(map[string]any)["field"]))
	}
	return strings.Join(names, " ")
}

const (
	someFilter = `{"name":"builds","webhookUrl":"https://chat.example.com/flow/invoke?sig=very-secret","eventTypes":["BRANCH_UPDATED"]%s}`
)

func TestFilterLife(t *testing.T) {
	s := newServer(t)
	w := s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, ""))
	made := s.want(201, w)
	if got, want := w.Header().Get("Location"), fmt.Sprintf("https://tools.example.com/outrigger%s?id=%v", filterPath, made["id"]); got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	if made["level"] != "GLOBAL" || made["connection"] != "dc" || made["version"] != 1.0 || made["enabled"] != true || made["createdBy"] != "admin" {
		t.Errorf("made %v", made)
	}
	one := s.do("GET", fmt.Sprintf("%s?id=%v", filterPath, made["id"]), "admin", "")
	s.want(200, one)
	back := s.do("POST", filterPath, "admin", one.Body.String())
	if again := s.want(200, back); again["version"] != 1.0 || again["webhookUrl"] != made["webhookUrl"] {
		t.Errorf("sent back as it was read: %v", again)
	}
	renamed := strings.Replace(one.Body.String(), `"builds"`, `"builds 2"`, 1)
	if now := s.want(200, s.do("POST", filterPath, "admin", renamed)); now["version"] != 2.0 {
		t.Errorf("renamed: %v", now)
	}
	stale := s.want(409, s.do("POST", filterPath, "admin", one.Body.String()))
	if m := fmt.Sprint(stale["message"]); !strings.Contains(m, "version 2: admin changed name at") {
		t.Errorf("a stale save: %s", m)
	}
	var list []map[string]any
	w = s.do("GET", filterPath, "admin", "")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 {
		t.Errorf("list %s", w.Body)
	}
	if strings.Contains(w.Body.String()+one.Body.String(), "very-secret") {
		t.Error("the signature is in an answer")
	}
	s.want(204, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, made["id"]), "admin", ""))
	if w := s.do("GET", filterPath, "admin", ""); strings.TrimSpace(w.Body.String()) != "[]" {
		t.Errorf("after the end: %s", w.Body)
	}
	s.want(404, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, made["id"]), "root", ""))
	s.want(403, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, made["id"]), "project", ""))
}

// A save with If-Match overwrites nothing that it does not name.
func TestFilterIfMatch(t *testing.T) {
	s := newServer(t)
	save := func(body, tag string) *httptest.ResponseRecorder {
		return s.do("POST", filterPath, "admin", body, "If-Match", tag)
	}
	s.want(412, save(fmt.Sprintf(someFilter, ""), "*")) // there is none yet
	w := s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, ""))
	id := s.want(201, w)["id"]
	first := w.Header().Get("ETag")
	one := fmt.Sprintf("%s?id=%v", filterPath, id)
	if read := s.do("GET", one, "admin", "").Header().Get("ETag"); first == "" || read != first {
		t.Errorf("made as %q, read as %q", first, read)
	}
	change := fmt.Sprintf(someFilter, fmt.Sprintf(`,"id":%v,"channelName":"%%s"`, id))
	w = save(fmt.Sprintf(change, "ada's"), first)
	s.want(200, w)
	second := w.Header().Get("ETag")
	if second == first {
		t.Errorf("both versions are %s", first)
	}
	if w := save(fmt.Sprintf(change, "bob's"), first); !strings.Contains(fmt.Sprint(s.want(412, w)["message"]), "admin changed channelName at 20") {
		t.Errorf("412 says %s", w.Body)
	}
	s.want(403, s.do("POST", filterPath, "project", fmt.Sprintf(change, "eve's"), "If-Match", second))
	s.want(409, save(strings.Replace(fmt.Sprintf(change, "bob's"), `"id"`, `"version":1,"id"`, 1), second))
	s.want(412, s.do("DELETE", one, "admin", "", "If-Match", first))
	if now := s.want(200, s.do("GET", one, "admin", "")); now["channelName"] != "ada's" || now["version"] != 2.0 {
		t.Errorf("now it is %v", now)
	}
	s.want(200, s.do("POST", filterPath, "admin", fmt.Sprintf(change, "as before"))) // without either it goes through
	s.want(200, save(fmt.Sprintf(change, "any"), "*"))
	s.want(412, s.do("DELETE", one, "admin", "", "If-Match", second))
	s.want(204, s.do("DELETE", one, "admin", "", "If-Match", "*"))
}

func TestFilterPermissions(t *testing.T) {
	s := newServer(t)
	project, repository := `,"projectKey":"atl"`, `,"projectKey":"ATL","repositorySlug":"Canoe"`
	allowed := map[string]string{
		"":         "root admin",
		project:    "root admin project",
		repository: "root admin project repo",
	}
	queries := map[string]string{"": "", project: "?projectKey=ATL", repository: "?projectKey=ATL&repositoryKey=canoe"}
	ids := map[string]any{}
	for keys, users := range allowed {
		ids[keys] = s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, keys)))["id"]
		for user := range everybody {
			if user == "reader" || user == "ann" { // root, who may change nothing, and a second root
				continue
			}
			read, write := 403, 403
			if strings.Contains(" "+users+" ", " "+user+" ") {
				read, write = 200, 201
			}
			s.want(read, s.do("GET", filterPath+queries[keys], user, ""))
			s.want(read, s.do("GET", fmt.Sprintf("%s?id=%v", filterPath, ids[keys]), user, ""))
			s.want(write, s.do("POST", filterPath, user, fmt.Sprintf(someFilter, keys)))
			if write == 403 {
				s.want(403, s.do("POST", filterPath, user, fmt.Sprintf(someFilter, fmt.Sprintf(`,"id":%v`, ids[keys]))))
				s.want(403, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, ids[keys]), user, ""))
			}
		}
		s.want(401, s.do("GET", filterPath+queries[keys], "", ""))
		s.want(401, s.do("POST", filterPath, "stranger", fmt.Sprintf(someFilter, keys)))
	}
	s.want(403, s.do("GET", filterPath+"?projectKey=OTHER", "project", ""))
}

func TestFilterRefusals(t *testing.T) {
	s := newServer(t)
	cases := []struct{ name, body, fields string }{
		{"nothing at all", `{}`, "name eventTypes webhookUrl"},
		{"members that cannot be read, are unknown, wrong and missing", `{"name":7,"colour":"red","eventTypes":["NO"],"branchMask":"("}`,
			"name colour eventTypes branchMask webhookUrl"},
		{"a place and the rest", `{"connection":"cloud","repositoryKey":"canoe"}`, "connection repositoryKey name eventTypes webhookUrl"},
		{"no URL", `{"name":"x","eventTypes":["TAG_CREATED"]}`, "webhookUrl"},
		{"every wrong member at once", `{"name":" ","webhookUrl":"http://x","eventTypes":[],"branches":["a"],"branchMask":"b","format":"irc"}`,
			"name format eventTypes branchMask webhookUrl"},
		{"unknown event types", `{"name":"x","eventTypes":["TAG_CREATED","NO","NEITHER"]}`, "eventTypes eventTypes webhookUrl"},
		{"a repository alone", `{"name":"x","repositoryKey":"canoe","eventTypes":["TAG_CREATED"]}`, "repositoryKey webhookUrl"},
		{"an unknown connection", `{"name":"x","connection":"cloud","eventTypes":["TAG_CREATED"]}`, "connection webhookUrl"},
		{"narrowing what is narrow", `{"name":"x","projectKey":"ATL","projects":["PAC"],"repositories":[{"projectKey":"PAC","repositoryKey":"a"}],"eventTypes":["TAG_CREATED"],"webhookUrl":"https://x"}`,
			"projects repositories"},
		{"a mask that is no pattern", `{"name":"x","branchMask":"release/(","eventTypes":["TAG_CREATED"],"webhookUrl":"https://x"}`, "branchMask"},
		{"a member that nobody knows", `{"name":"x","colour":"red"}`, "colour eventTypes webhookUrl"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := s.do("POST", filterPath, "root", c.body)
			if w.Code != 400 {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
			var v map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			if got := fields(v); got != c.fields {
				t.Errorf("fields %q, want %q: %s", got, c.fields, w.Body)
			}
		})
	}
	s.want(404, s.do("POST", filterPath, "root", `{"id":99,"name":"x","eventTypes":["TAG_CREATED"]}`))
	s.want(400, s.do("DELETE", filterPath+"?id=x", "root", ""))
	s.want(400, s.do("GET", filterPath+"?repositoryKey=canoe", "root", ""))
	s.want(405, s.do("PATCH", filterPath, "root", "{}"))
}

func TestEventTypesInOrder(t *testing.T) {
	s := newServer(t)
	var list []struct {
		Key, Name, Category string
		Editions            []string
	}
	w := s.do("GET", "/rest/mtbs/1.0/configuration/eventTypes", "nobody", "")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatal(err, w.Body)
	}
	if len(list) != 44 || list[0].Key != "BRANCH_CREATED" || list[43].Key != "ISSUE_COMMENTED" || list[28].Editions[0] != "cloud" {
		t.Errorf("%d types, %+v", len(list), list)
	}
}
