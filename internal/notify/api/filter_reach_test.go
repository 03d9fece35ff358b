package api

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/notify"
)

// Who administers one project reaches no rule of another, of no project and of
// no wider level: by id, by query or by what a body says. The refusal is the same
// whether there is such a rule or not.
func TestAnotherProjectsRulesAreOutOfReach(t *testing.T) {
	s := newServer(t)
	made := func(place string) any {
		return s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, place)))["id"]
	}
	own := made(`,"projectKey":"ATL"`)
	for where, id := range map[string]any{
		"global": made(""), "another project": made(`,"projectKey":"PAC"`),
		"another project's repository": made(`,"projectKey":"PAC","repositoryKey":"canoe"`), "none": 4711,
	} {
		for what, refused := range map[string]func() (string, string, string){
			"read":               func() (string, string, string) { return "GET", fmt.Sprintf("?id=%v", id), "" },
			"read with own keys": func() (string, string, string) { return "GET", fmt.Sprintf("?id=%v&projectKey=ATL", id), "" },
			"delete":             func() (string, string, string) { return "DELETE", fmt.Sprintf("?id=%v", id), "" },
			"switch off":         func() (string, string, string) { return "PUT", fmt.Sprintf("/enabled?id=%v&enabled=false", id), "" },
			"save": func() (string, string, string) {
				return "POST", "", fmt.Sprintf(`{"id":%v,"name":"x","eventTypes":["TAG_CREATED"]}`, id)
			},
			"save with own keys": func() (string, string, string) {
				return "POST", "", fmt.Sprintf(`{"id":%v,"name":"x","projectKey":"ATL","eventTypes":["TAG_CREATED"]}`, id)
			},
			"save what is invalid": func() (string, string, string) {
				return "POST", "", fmt.Sprintf(`{"id":%v,"name":"","eventTypes":[]}`, id)
			},
		} {
			method, path, body := refused()
			got := s.want(403, s.do(method, filterPath+path, "project", body))
			want := s.want(403, s.do("GET", filterPath+"?id=999999", "project", ""))
			if got["message"] != want["message"] {
				t.Errorf("%s of %s: %q, want as for what is not there: %q", what, where, got["message"], want["message"])
			}
		}
	}
	// A rule of one's own stays where it is, and cannot be narrowed to others.
	moved := fmt.Sprintf(`{"id":%v,"name":"x","projectKey":"PAC","eventTypes":["TAG_CREATED"]}`, own)
	if got := fields(s.want(400, s.do("POST", filterPath, "project", moved))); got != "projectKey" {
		t.Errorf("moved to another project: %q", got)
	}
	narrowed := fmt.Sprintf(`{"id":%v,"name":"x","eventTypes":["TAG_CREATED"],"repositories":[{"projectKey":"PAC","repositoryKey":"canoe"}]}`, own)
	if got := fields(s.want(400, s.do("POST", filterPath, "project", narrowed))); got != "repositories" {
		t.Errorf("narrowed to another project: %q", got)
	}
	for _, place := range []string{"", `,"projectKey":"PAC"`, `,"projectKey":"PAC","repositoryKey":"canoe"`} {
		s.want(403, s.do("POST", filterPath, "project", fmt.Sprintf(someFilter, place)))
	}
	s.want(403, s.do("GET", filterPath, "project", ""))
	s.want(403, s.do("GET", filterPath+"?projectKey=PAC", "project", ""))
	s.want(200, s.do("PUT", fmt.Sprintf("%s/enabled?id=%v&enabled=false", filterPath, own), "project", ""))
}

// Another connection's project of the same key is another project.
func TestAnotherConnectionsRulesAreOutOfReach(t *testing.T) {
	s := newServer(t, notify.Connection{Name: "dc", Kind: "bitbucket-dc"}, notify.Connection{Name: "other", Kind: "bitbucket-dc"})
	made := s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, `,"connection":"other","projectKey":"ATL"`)))
	s.want(403, s.do("GET", fmt.Sprintf("%s?id=%v", filterPath, made["id"]), "project", ""))
	s.want(403, s.do("GET", filterPath+"?connection=other&projectKey=ATL", "project", ""))
	body := fmt.Sprintf(`{"id":%v,"name":"x","connection":"dc","eventTypes":["TAG_CREATED"]}`, made["id"])
	s.want(403, s.do("POST", filterPath, "project", body))
}

// A mask is not a webhook URL: it keeps that of its own rule, and gives no other
// rule the channel behind it.
func TestAMaskedURL(t *testing.T) {
	s := newServer(t)
	made := func(url string) map[string]any {
		return s.want(201, s.do("POST", filterPath, "admin", strings.Replace(fmt.Sprintf(someFilter, ""), "https://chat.example.com/flow/invoke?sig=very-secret", url, 1)))
	}
	one, other := made("https://one.example.com/flow/invoke?sig=very-secret-one"), made("https://two.example.com/flow/invoke?sig=very-secret-two")
	if one["webhookUrl"] == other["webhookUrl"] {
		t.Fatalf("both are masked as %s", one["webhookUrl"])
	}
	save := func(id, url any) string {
		return fmt.Sprintf(`{"id":%v,"name":"x","webhookUrl":%q,"eventTypes":["TAG_CREATED"]}`, id, url)
	}
	kept := s.want(200, s.do("POST", filterPath, "admin", save(one["id"], one["webhookUrl"])))
	if kept["channel"] != one["channel"] {
		t.Errorf("its own mask changed the channel from %s to %s", one["channel"], kept["channel"])
	}
	for name, body := range map[string]string{
		"another rule's":      save(one["id"], other["webhookUrl"]),
		"of no rule":          save(one["id"], "https://chat.example.com/…?sig=••••"),
		"on a new rule":       save(0, one["webhookUrl"]),
		"with something else": save(one["id"], fmt.Sprint(one["webhookUrl"])+"&x=1"),
	} {
		if got := fields(s.want(400, s.do("POST", filterPath, "admin", body))); got != "webhookUrl" {
			t.Errorf("a mask %s: %q", name, got)
		}
	}
	now := s.want(200, s.do("GET", fmt.Sprintf("%s?id=%v", filterPath, one["id"]), "admin", ""))
	if now["channel"] != one["channel"] {
		t.Error("a refused mask changed the channel")
	}
}

// Masks of two rules of one tenant look alike, and still do not lend the channel.
func TestAMaskThatTwoRulesShareKeepsEachItsOwn(t *testing.T) {
	s := newServer(t)
	made := func(sig string) map[string]any {
		return s.want(201, s.do("POST", filterPath, "admin", strings.Replace(fmt.Sprintf(someFilter, ""), "very-secret", sig, 1)))
	}
	one, other := made("secret-number-one"), made("secret-number-two")
	if one["webhookUrl"] != other["webhookUrl"] || one["channel"] == other["channel"] {
		t.Fatalf("masks %s and %s of channels %s and %s", one["webhookUrl"], other["webhookUrl"], one["channel"], other["channel"])
	}
	body := fmt.Sprintf(`{"id":%v,"name":"x","webhookUrl":%q,"eventTypes":["TAG_CREATED"]}`, one["id"], other["webhookUrl"])
	if kept := s.want(200, s.do("POST", filterPath, "admin", body)); kept["channel"] != one["channel"] {
		t.Error("the other rule's mask gave its channel")
	}
}

func TestUnknownMembersAreNamed(t *testing.T) {
	s := newServer(t)
	for body, want := range map[string]string{
		fmt.Sprintf(someFilter, `,"eventtypes":["TAG_CREATED"]`):                                                                     "eventtypes",
		fmt.Sprintf(someFilter, `,"branch":"main","Users":["ada"]`):                                                                  "branch Users",
		fmt.Sprintf(someFilter, `,"quietHours":{"from":"22:00","to":"06:00","timeZone":"UTC","zone":"UTC"}`):                         "quietHours.zone",
		fmt.Sprintf(someFilter, `,"repositories":[{"projectKey":"ATL","repositoryKey":"canoe","branch":"main"}]`):                    "repositories[0].branch",
		fmt.Sprintf(someFilter, `,"level":"GLOBAL","createdBy":"me","updatedAt":"2026-02-03T09:12:44Z","channel":"0","warnings":[]`): "",
	} {
		status := 400
		if want == "" {
			status = 201
		}
		if got := fields(s.want(status, s.do("POST", filterPath, "admin", body))); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestTheToggle(t *testing.T) {
	s := newServer(t)
	w := s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, ""))
	made, read := s.want(201, w), w.Header().Get("ETag")
	at := fmt.Sprintf("%s/enabled?id=%v&enabled=", filterPath, made["id"])
	off := s.want(200, s.do("PUT", at+"false", "admin", ""))
	if off["enabled"] != false || off["version"] != 2.0 {
		t.Errorf("switched off: %v", off)
	}
	s.want(412, s.do("PUT", at+"true", "admin", "", "If-Match", read))
	if got := fields(s.want(400, s.do("PUT", at+"perhaps", "admin", ""))); got != "enabled" {
		t.Errorf("neither on nor off: %q", got)
	}
	if got := fields(s.want(400, s.do("PUT", filterPath+"/enabled?enabled=true", "admin", ""))); got != "id" {
		t.Errorf("no rule: %q", got)
	}
	s.want(404, s.do("PUT", filterPath+"/enabled?id=999&enabled=true", "root", ""))
	s.want(403, s.do("PUT", at+"true", "nobody", ""))
	s.want(401, s.do("PUT", at+"true", "", ""))
	if on := s.want(200, s.do("PUT", at+"true", "admin", "")); on["enabled"] != true {
		t.Errorf("switched on: %v", on)
	}
}
