package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// accounts are the ids of what users have authorised. Of atlas/away the platform
// says nothing.
type accounts map[string]int64

func (a accounts) Administering(ctx context.Context, _ string, at notify.RepositoryRef) (int64, error) {
	if at.RepositoryKey == "away" {
		return 0, fault.New(fault.Unavailable, "The platform does not answer.")
	}
	if id := a[identity.From(ctx).Name]; id != 0 {
		return id, nil
	}
	return 0, fault.Wrap(notify.ErrNoAccount, fault.Forbidden, "Authorise an account under "+notify.AccountsPlace+".")
}

// cloudServer has a platform of each edition, and more.
func cloudServer(t *testing.T, d *db.DB, more ...notify.Connection) *server {
	return newServerOn(t, d, append(more, notify.Connection{Name: "dc", Kind: "bitbucket-dc"}, notify.Connection{Name: "cloud", Kind: notify.KindBitbucketCloud})...)
}

// acceptCloud takes an event of the cloud platform.
func (s *server) acceptCloud(id string, e notify.Event) {
	s.t.Helper()
	err := s.store.Accept(s.t.Context(), &notify.Receipt{
		Connection: "cloud", Build: &notify.PlatformBuild{Build: notify.Build{Key: id, State: "FAILED"}}, Key: notify.BuildKey, ReceivedAt: time.Now(), Outcome: notify.Understood,
		Events: []notify.Event{e},
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

const (
	cloudRulesPath = "/rest/mtbs/1.0/cloud/atlas/engine/rules"
	someCloudRule  = `{"name":"builds","webhookUrl":"https://chat.example.com/flow/invoke?sig=very-secret","expectedEvents":["PIPELINE_FAILED","BUILD_STATUS_SET"]%s}`
)

func TestCloudRuleLife(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := cloudServer(t, d)
		w := s.do("POST", cloudRulesPath, "rower", fmt.Sprintf(someCloudRule, `,"destinationBranchFilter":"^main$","channelName":"Engine"`))
		made := s.want(201, w)
		location := fmt.Sprintf("%s?connection=cloud&id=%v", cloudRulesPath, made["id"])
		if got := w.Header().Get("Location"); got != "https://tools.example.com/outrigger"+location {
			t.Errorf("Location %q", got)
		}
		for member, want := range map[string]any{
			"version": 1.0, "connection": "cloud", "workspace": "atlas", "repository": "engine", "enabled": true, "expectedCommitStatus": "BOTH",
			"format": "auto", "channelName": "Engine", "destinationBranchFilter": "^main$", "authorizationRequired": false, "authorizeUrl": nil,
			"createdBy": "rower", "updatedBy": "rower", "level": nil, "eventTypes": nil,
		} {
			if made[member] != want {
				t.Errorf("%s is %v, want %v", member, made[member], want)
			}
		}
		if fmt.Sprint(made["expectedEvents"]) != "[BUILD_STATUS_SET PIPELINE_FAILED]" {
			t.Errorf("expectedEvents %v", made["expectedEvents"])
		}
		one := s.do("GET", location, "rower", "")
		s.want(200, one)
		again := s.want(200, s.do("POST", cloudRulesPath, "rower", one.Body.String()))
		if again["version"] != 1.0 || again["webhookUrl"] != made["webhookUrl"] || again["createdAt"] != made["createdAt"] {
			t.Errorf("sent back as it was read: %v", again)
		}

		// The toggle, and what a save makes of it.
		off := s.do("PUT", cloudRulesPath+fmt.Sprintf("/enabled?id=%v&enabled=false", made["id"]), "rower", "")
		if v := s.want(200, off); v["enabled"] != false || v["version"] != 2.0 {
			t.Errorf("switched off: %v", v)
		}
		refused := s.want(400, s.do("POST", cloudRulesPath, "rower", off.Body.String()))
		if got := fields(refused); got != "enabled" || !strings.Contains(fmt.Sprint(refused["message"]), "PUT …/rules/enabled") {
			t.Errorf("saving with enabled false: %q %v", got, refused["message"])
		}
		back := strings.Replace(off.Body.String(), `"enabled":false,`, "", 1)
		if v := s.want(200, s.do("POST", cloudRulesPath, "rower", back)); v["enabled"] != true || v["version"] != 3.0 {
			t.Errorf("a save does not enable: %v", v)
		}
		stale := s.want(409, s.do("POST", cloudRulesPath, "rower", back))
		if m := fmt.Sprint(stale["message"]); !strings.Contains(m, "version 3: rower changed enabled at") {
			t.Errorf("a stale save: %s", m)
		}
		changed := strings.Replace(back, `["BUILD_STATUS_SET","PIPELINE_FAILED"]`, `["PIPELINE_STOPPED"]`, 1)
		s.want(200, s.do("POST", cloudRulesPath, "rower", strings.Replace(changed, `"version":2`, `"version":3`, 1)))
		stale = s.want(409, s.do("POST", cloudRulesPath, "rower", strings.Replace(back, `"version":2`, `"version":3`, 1)))
		if m := fmt.Sprint(stale["message"]); !strings.Contains(m, "changed expectedEvents at") {
			t.Errorf("a stale save: %s", m)
		}
		s.want(412, s.do("DELETE", location, "rower", "", "If-Match", one.Header().Get("ETag")))

		var list []map[string]any
		w = s.do("GET", cloudRulesPath, "rower", "")
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 {
			t.Errorf("list %s", w.Body)
		}
		if strings.Contains(w.Body.String()+one.Body.String(), "very-secret") {
			t.Error("the signature is in an answer")
		}
		s.want(204, s.do("DELETE", location, "rower", ""))
		if w := s.do("GET", cloudRulesPath, "rower", ""); strings.TrimSpace(w.Body.String()) != "[]" {
			t.Errorf("after the end: %s", w.Body)
		}
	}, migrations...)
}

// Creating, saving and switching on need an account; the rest does not. Who
// administers the repository elsewhere in this program is who may.
func TestWhoMayChangeCloudRules(t *testing.T) {
	s := cloudServer(t, dbtest.SQLite(t, migrations...))
	body := fmt.Sprintf(someCloudRule, "")
	id := s.want(201, s.do("POST", cloudRulesPath, "rower", body))["id"]
	save := fmt.Sprintf(someCloudRule, fmt.Sprintf(`,"id":%v`, id))
	const authorise = "Authorise an account at https://tools.example.com/outrigger/notifications/cloud/accounts."
	one, toggle := fmt.Sprintf("?id=%v", id), fmt.Sprintf("/enabled?id=%v&enabled=true", id)
	for user, may := range map[string]string{
		"rower": "read write", "workspace": "read", "admin": "read write", "root": "read", "project": "", "repo": "", "nobody": "", "bailer": "",
	} {
		read, write := 403, 403
		if strings.Contains(may, "read") {
			read = 200
		}
		if strings.Contains(may, "write") {
			write = 200
		}
		s.want(read, s.do("GET", cloudRulesPath, user, ""))
		s.want(read, s.do("GET", cloudRulesPath+one, user, ""))
		s.want(read, s.do("PUT", cloudRulesPath+strings.Replace(toggle, "true", "false", 1), user, ""))
		on := s.want(write, s.do("PUT", cloudRulesPath+toggle, user, ""))
		if read == 200 && write == 403 && on["message"] != authorise {
			t.Errorf("%s switches it on and is told %v", user, on["message"])
		}
		s.want(read, s.do("POST", cloudRulesPath+"/try", user, body))
		refused := s.want(write, s.do("POST", cloudRulesPath, user, save))
		if read == 200 && write == 403 && refused["message"] != authorise {
			t.Errorf("%s is told %v", user, refused["message"])
		}
	}
	s.want(401, s.do("GET", cloudRulesPath, "", ""))
	// What is wrong is said before the platform is asked; the platform's silence is no refusal.
	s.want(400, s.do("POST", cloudRulesPath, "workspace", `{}`))
	s.want(503, s.do("POST", strings.Replace(cloudRulesPath, "engine", "away", 1), "admin", body))
	s.want(403, s.do("DELETE", cloudRulesPath+one, "bailer", ""))
	s.want(204, s.do("DELETE", cloudRulesPath+one, "workspace", ""))
}

// A rule is where it is: under the path of its own repository, on its own
// connection, of its own edition.
func TestCloudRulesOfOtherPlaces(t *testing.T) {
	s := cloudServer(t, dbtest.SQLite(t, migrations...), notify.Connection{Name: "other", Kind: notify.KindBitbucketCloud})
	here := cloudRulesPath + "?connection=cloud"
	if got := fields(s.want(400, s.do("GET", cloudRulesPath, "root", ""))); got != "connection" {
		t.Errorf("one of two connections: %q", got)
	}
	mine := s.want(201, s.do("POST", here, "rower", fmt.Sprintf(someCloudRule, "")))["id"]
	hull := s.want(201, s.do("POST", strings.Replace(here, "engine", "hull", 1), "admin", fmt.Sprintf(someCloudRule, "")))["id"]
	dc := s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, `,"connection":"dc","projectKey":"atlas","repositoryKey":"engine"`)))["id"]
	for name, id := range map[string]any{"another repository's": hull, "of the self-hosted edition": dc, "none": 999} {
		for method, path := range map[string]string{
			"GET": fmt.Sprintf("%s&id=%v", here, id), "DELETE": fmt.Sprintf("%s&id=%v", here, id),
			"PUT": strings.Replace(fmt.Sprintf("%s&enabled=false&id=%v", here, id), "?", "/enabled?", 1),
		} {
			for user, status := range map[string]int{"root": 404, "admin": 403, "rower": 403} {
				w := s.do(method, path, user, "")
				if w.Code != status {
					t.Errorf("%s %s as %s: %d, want %d: %s", method, name, user, w.Code, status, w.Body)
				}
			}
		}
		s.want(403, s.do("POST", here, "rower", fmt.Sprintf(someCloudRule, fmt.Sprintf(`,"id":%v`, id))))
	}
	s.want(403, s.do("GET", strings.Replace(fmt.Sprintf("%s&id=%v", here, mine), "=cloud", "=other", 1), "admin", ""))
	s.want(200, s.do("GET", strings.Replace(fmt.Sprintf("%s&id=%v", here, mine), "atlas/engine", "Atlas/Engine", 1), "admin", ""))

	// Each path names the other.
	for _, c := range []struct{ method, path, body, field, names string }{
		{"GET", cloudRulesPath + "?connection=dc", "", "connection", filterPath},
		{"POST", cloudRulesPath + "?connection=dc", fmt.Sprintf(someCloudRule, ""), "connection", filterPath},
		{"GET", cloudRulesPath + "?connection=none", "", "connection", "cloud, other"},
		{"GET", filterPath + "?connection=cloud&projectKey=atlas&repositoryKey=engine", "", "connection", "/rest/mtbs/1.0/cloud/{workspace}/{repository}/rules"},
		{"POST", filterPath, fmt.Sprintf(someFilter, `,"connection":"cloud","projectKey":"atlas","repositoryKey":"engine"`), "connection", "/rest/mtbs/1.0/cloud/{workspace}/{repository}/rules"},
		{"POST", filterPath + "/try", fmt.Sprintf(someFilter, `,"connection":"cloud","projectKey":"atlas","repositoryKey":"engine"`), "connection", "/cloud/{workspace}"},
		{"POST", filterPath, fmt.Sprintf(someFilter, fmt.Sprintf(`,"id":%v`, mine)), "id", fmt.Sprintf("%s&id=%v", here, mine)},
		{"POST", filterPath + "/test", fmt.Sprintf(someFilter, fmt.Sprintf(`,"id":%v`, mine)), "id", here},
		{"GET", filterPath + fmt.Sprintf("?id=%v", mine), "", "id", here},
		{"DELETE", filterPath + fmt.Sprintf("?id=%v", mine), "", "id", here},
		{"PUT", filterPath + fmt.Sprintf("/enabled?id=%v&enabled=false", mine), "", "id", here},
		{"GET", "/rest/mtbs/1.0/cloud/atlas/rules", "", "repository", "no integration points"},
		{"POST", "/rest/mtbs/1.0/cloud/atlas/rules", fmt.Sprintf(someCloudRule, ""), "repository", "no integration points"},
		{"DELETE", "/rest/mtbs/1.0/cloud/atlas/rules?id=1", "", "repository", "no integration points"},
	} {
		w := s.do(c.method, c.path, "admin", c.body)
		if v := s.want(400, w); fields(v) != c.field || !strings.Contains(fmt.Sprint(v["message"]), c.names) {
			t.Errorf("%s %s: %s", c.method, c.path, w.Body)
		}
	}
	s.want(403, s.do("GET", filterPath+fmt.Sprintf("?id=%v", mine), "project", "")) // tells nothing to who may not see it
	// Without a name, the connection is the only one of the path's edition.
	s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, "")))
}

func TestCloudRuleRefusals(t *testing.T) {
	s := cloudServer(t, dbtest.SQLite(t, migrations...))
	long := strings.Repeat("x", 256)
	for _, c := range []struct{ name, body, fields string }{
		{"nothing at all", `{}`, "name expectedEvents webhookUrl"},
		{"every wrong member at once", `{"id":-1,"name":" ","webhookUrl":"http://x","channelName":"` + long + `","format":"irc","destinationBranchFilter":"(","expectedEvents":["NO"],"expectedCommitStatus":"GREEN","enabled":false}`,
			"expectedEvents id enabled name channelName format expectedCommitStatus destinationBranchFilter webhookUrl"},
		{"members that cannot be read, and unknown ones", `{"name":7,"expectedEvents":"all","branchMask":"x","projects":[]}`, "name expectedEvents branchMask projects webhookUrl"},
		{"an event type of the other edition", `{"name":"x","webhookUrl":"https://x","expectedEvents":["PULL_REQUEST_DELETED"]}`, "expectedEvents"},
		{"a filter that no event could fail", `{"name":"x","webhookUrl":"https://x","expectedEvents":["ISSUE_CREATED"],"destinationBranchFilter":"main"}`, "destinationBranchFilter"},
		{"a Java regular expression", `{"name":"x","webhookUrl":"https://x","expectedEvents":["TAG_CREATED"],"destinationBranchFilter":"(?i)main"}`, "destinationBranchFilter"},
		{"a pattern that is too long", `{"name":"x","webhookUrl":"https://x","expectedEvents":["TAG_CREATED"],"destinationBranchFilter":"` + strings.Repeat("x", 10_001) + `"}`, "destinationBranchFilter"},
	} {
		if got := fields(s.want(400, s.do("POST", cloudRulesPath, "rower", c.body))); got != c.fields {
			t.Errorf("%s: %q, want %q", c.name, got, c.fields)
		}
	}
	spaced := s.want(400, s.do("POST", "/rest/mtbs/1.0/cloud/atlas/en%20gine/rules", "admin", fmt.Sprintf(someCloudRule, "")))
	if got := fields(spaced); got != "repository" {
		t.Errorf("a repository with a space: %q", got)
	}
	warned := s.want(201, s.do("POST", cloudRulesPath, "rower", fmt.Sprintf(someCloudRule, `,"destinationBranchFilter":"/^main$/i"`)))
	if w, _ := warned["warnings"].([]any); len(w) != 1 || fmt.Sprint(w[0].(map[string]any)["field"]) != "destinationBranchFilter" {
		t.Errorf("warnings %v", warned["warnings"])
	}
	s.want(400, s.do("GET", cloudRulesPath+"?id=x", "rower", ""))
	s.want(400, s.do("PUT", cloudRulesPath+fmt.Sprintf("/enabled?id=%v&enabled=maybe", warned["id"]), "rower", ""))
}

// A trial says what the rule would have made of events, in the names of the
// cloud edition.
func TestCloudTrial(t *testing.T) {
	s := cloudServer(t, dbtest.SQLite(t, migrations...))
	for i, e := range []notify.Event{
		{Types: []notify.EventType{notify.PipelineFailed, notify.BuildStatusSet}, Branch: "main", Build: &notify.Build{State: "FAILED"}},
		{Types: []notify.EventType{notify.BuildStatusSet}, Branch: "main", Build: &notify.Build{State: "SUCCESSFUL"}},
		{Types: []notify.EventType{notify.BuildStatusSet}, Branch: "next", Build: &notify.Build{State: "FAILED"}},
		{Types: []notify.EventType{notify.TagCreated}, Branch: "v1"},
	} {
		e.Connection, e.Project, e.Repository = "cloud", notify.Project{Key: "atlas"}, notify.Repository{Key: "engine"}
		s.acceptCloud(fmt.Sprint(i), e)
	}
	body := fmt.Sprintf(someCloudRule, `,"destinationBranchFilter":"^main","expectedCommitStatus":"FAILURE"`)
	w := s.do("POST", cloudRulesPath+"/try", "workspace", body) // who has no account may try
	s.want(200, w)
	var trial Trial
	if err := json.Unmarshal(w.Body.Bytes(), &trial); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range trial.Items {
		got = append(got, strings.TrimSpace(fmt.Sprint(item.Outcome, " ", item.Filter, " ", item.Wants, " ", item.Has)))
	}
	want := []string{
		"refused expectedEvents BUILD_STATUS_SET, PIPELINE_FAILED TAG_CREATED",
		"refused destinationBranchFilter ^main next",
		"refused expectedCommitStatus builds that failed or were stopped a build that succeeded",
		"taken",
	}
	if trial.Taken != 1 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d taken:\n%s\nwant\n%s", trial.Taken, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Two saves of one version at once: one of them is the next version, the other is
// told.
func TestTwoSavesOfACloudRuleAtOnce(t *testing.T) {
	s := cloudServer(t, dbtest.SQLite(t, migrations...))
	id := s.want(201, s.do("POST", cloudRulesPath, "rower", fmt.Sprintf(someCloudRule, "")))["id"]
	answers := make(chan *httptest.ResponseRecorder)
	for _, user := range []string{"rower", "admin"} {
		go func() {
			answers <- s.do("POST", cloudRulesPath, user, fmt.Sprintf(someCloudRule, fmt.Sprintf(`,"id":%v,"version":1,"channelName":%q`, id, user)))
		}()
	}
	first, second := <-answers, <-answers
	if first.Code > second.Code {
		first, second = second, first
	}
	saved := s.want(200, first)
	refused := s.want(409, second)
	now := s.want(200, s.do("GET", fmt.Sprintf("%s?id=%v", cloudRulesPath, id), "rower", ""))
	if now["version"] != 2.0 || now["channelName"] != saved["channelName"] || !strings.Contains(fmt.Sprint(refused["message"]), "changed channelName") {
		t.Errorf("now %v; refused with %v", now, refused["message"])
	}
}

// A rule of the cloud edition has quiet hours as any other.
func TestQuietHoursOfACloudRule(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := cloudServer(t, d)
		quiet := `{"days":["MONDAY"],"from":"22:00","to":"06:00","timeZone":"Europe/Berlin","urgent":["PIPELINE_FAILED"]}`
		made := s.want(201, s.do("POST", cloudRulesPath, "rower", fmt.Sprintf(someCloudRule, `,"quietHours":`+quiet)))
		want := map[string]any{"days": []any{"MONDAY"}, "from": "22:00", "to": "06:00", "timeZone": "Europe/Berlin", "urgent": []any{"PIPELINE_FAILED"}}
		if d := cmp.Diff(any(want), made["quietHours"]); d != "" {
			t.Error(d)
		}
		wrong := `,"quietHours":{"from":"6 pm","to":"25:00","timeZone":"Mars/Olympus","urgent":["PULL_REQUEST_DELETED"]}`
		if got := fields(s.want(400, s.do("POST", cloudRulesPath, "rower", fmt.Sprintf(someCloudRule, wrong)))); !strings.Contains(got, "quietHours.from quietHours.to quietHours.timeZone") {
			t.Errorf("refused for %q", got)
		}
		back := strings.Replace(fmt.Sprintf(someCloudRule, ""), "{", fmt.Sprintf(`{"id":%v,`, made["id"]), 1)
		if saved := s.want(200, s.do("POST", cloudRulesPath, "rower", back)); saved["quietHours"] != nil {
			t.Errorf("a save without them left %v", saved["quietHours"])
		}
	}, migrations...)
}
