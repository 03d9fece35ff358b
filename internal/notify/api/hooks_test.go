package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

func TestConnectionsByREST(t *testing.T) {
	s := newServer(t)
	const body = `{"name":"second","kind":"bitbucket-dc","baseUrl":"https://git.example.com","token":"very-secret"}`
	made := s.want(201, s.do("POST", connectionsPath, "root", body))
	if made["webhookUrl"] != "https://tools.example.com/outrigger/hooks/second" || len(fmt.Sprint(made["webhookSecret"])) != 43 {
		t.Errorf("made %v", made)
	}
	for _, user := range []string{"admin", "project", "repo", "nobody"} {
		s.want(403, s.do("GET", connectionsPath, user, ""))
		s.want(403, s.do("POST", connectionsPath, user, body))
		s.want(403, s.do("DELETE", connectionsPath+"/second", user, ""))
		s.want(403, s.do("GET", renamesPath, user, ""))
		s.want(403, s.do("POST", renamesPath+"/1/confirm", user, ""))
	}
	s.want(409, s.do("POST", connectionsPath, "root", body))
	list := s.do("GET", connectionsPath+"?limit=1", "root", "")
	one := s.do("GET", connectionsPath+"/second", "root", "")
	read := s.want(200, one)
	if read["hasToken"] != true || read["readOnly"] != false || s.want(200, list)["next"] == nil {
		t.Errorf("read %v, listed %s", read, list.Body)
	}
	if strings.Contains(list.Body.String()+one.Body.String(), "ecret\"") {
		t.Errorf("a secret is in an answer: %s %s", list.Body, one.Body)
	}
	if saved := s.want(200, s.do("PUT", connectionsPath+"/second", "root", one.Body.String())); saved["version"] != 2.0 || saved["hasToken"] != true {
		t.Errorf("sent back as it was read: %v", saved)
	}
	s.want(409, s.do("PUT", connectionsPath+"/second", "root", one.Body.String()))
	s.want(400, s.do("PUT", connectionsPath+"/second", "root", `{"name":"third","kind":"x","baseUrl":"y"}`))
	elsewhere := s.do("PUT", connectionsPath+"/second", "root", `{"name":"second","kind":"bitbucket-dc","baseUrl":"https://evil.example"}`)
	if got := fields(s.want(400, elsewhere)); got != "token" {
		t.Errorf("the token would go to another host: fields %q: %s", got, elsewhere.Body)
	}
	s.want(409, s.do("DELETE", connectionsPath+"/dc", "root", ""))
	w := s.do("POST", connectionsPath, "root", `{"name":"-","kind":"svn","baseUrl":"ftp://x","user":"bot","manageWebhooks":false}`)
	if got := fields(s.want(400, w)); got != "name kind baseUrl token" {
		t.Errorf("fields %q: %s", got, w.Body)
	}
	if got := s.want(200, s.do("POST", connectionsPath+"/dc/test", "root", "")); got["platform"] != "Bitbucket 9.4" {
		t.Errorf("tested %v", got)
	}
	s.want(503, s.do("POST", connectionsPath+"/second/test", "root", ""))
	if rotated := s.want(200, s.do("POST", connectionsPath+"/second/rotate", "root", "")); rotated["secret"] == made["webhookSecret"] {
		t.Error("rotated to the same secret")
	}
	s.want(204, s.do("DELETE", connectionsPath+"/second", "root", ""))
	s.want(404, s.do("GET", connectionsPath+"/second", "root", ""))
}

func TestHooksByREST(t *testing.T) {
	s := newServer(t)
	const path = connectionsPath + "/dc/hooks"
	scopes := map[string]struct{ keys, users string }{
		"all":     {``, "root"},
		"project": {`,"projectKey":"atl"`, "root admin project"},
		"canoe":   {`,"projectKey":"ATL","repositoryKey":"Canoe"`, "root admin project repo"},
	}
	for name, c := range scopes {
		for user := range everybody {
			if user == "reader" || user == "ann" { // root, who may change nothing, and a second root
				continue
			}
			may := strings.Contains(" "+c.users+" ", " "+user+" ")
			create, read, gone := 201, 200, 204
			if !may {
				create, read, gone = 403, 403, 403
			}
			w := s.do("POST", path, user, fmt.Sprintf(`{"name":%q%s}`, name, c.keys))
			made := s.want(create, w)
			if may && (len(fmt.Sprint(made["secret"])) != 43 || made["url"] != "https://tools.example.com/outrigger/hooks/dc/"+name) {
				t.Errorf("made %v", made)
			}
			if !may {
				s.want(201, s.do("POST", path, "root", fmt.Sprintf(`{"name":%q%s}`, name, c.keys)))
			}
			w = s.do("GET", path+"/"+name, user, "")
			if s.want(read, w); strings.Contains(w.Body.String(), `"secret"`) {
				t.Errorf("the secret is shown again: %s", w.Body)
			}
			if rotated := s.want(read, s.do("POST", path+"/"+name+"/rotate", user, "")); may && (rotated["secret"] == made["secret"] || rotated["previousUntil"] == nil) {
				t.Errorf("rotated %v", rotated)
			}
			if w := s.do("GET", path, user, ""); strings.Contains(w.Body.String(), fmt.Sprintf(`"name":%q`, name)) != may {
				t.Errorf("%s lists %s", user, w.Body)
			}
			if s.want(gone, s.do("DELETE", path+"/"+name, user, "")); !may {
				s.want(204, s.do("DELETE", path+"/"+name, "root", ""))
			}
		}
	}
	s.want(401, s.do("GET", path, "", ""))
	s.want(403, s.do("GET", path, "nobody", ""))
	s.want(403, s.do("POST", connectionsPath+"/elsewhere/hooks", "project", `{"name":"x","projectKey":"ATL"}`))
	s.want(404, s.do("POST", connectionsPath+"/elsewhere/hooks", "root", `{"name":"x"}`))
	s.want(404, s.do("DELETE", path+"/nowhere", "root", ""))
	s.want(403, s.do("DELETE", path+"/nowhere", "project", ""))
	s.want(400, s.do("POST", path, "root", `{"name":"x","repositoryKey":"canoe"}`))
	s.want(400, s.do("POST", path, "root", `{"name":"X/"}`))
	s.want(201, s.do("POST", path, "root", `{"name":"x"}`))
	s.want(409, s.do("POST", path, "root", `{"name":"x"}`))
	var entries int
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM audit_entries WHERE object = 'hook' AND before_json || after_json LIKE '%"secret"%'`).Scan(&entries)
	})
	if err != nil || entries == 0 {
		t.Errorf("%d entries in the audit trail, %v", entries, err)
	}
}

func TestRenamesByREST(t *testing.T) {
	s := newServer(t)
	who := notify.Actor{Name: "ada", Source: "local"}
	h, err := s.store.CreateHook(t.Context(), who, notify.Hook{Connection: "dc", Name: "canoe", Scope: notify.Scope{ProjectKey: "ATL", RepositoryKey: "canoe"}})
	if err != nil {
		t.Fatal(err)
	}
	rule := notify.Rule{
		Name: "mine", Connection: "dc", ProjectKey: "ATL", RepositoryKey: "canoe", Format: notify.Auto, Enabled: true,
		Filter: notify.Filter{EventTypes: []notify.EventType{notify.RepositoryFieldEdited}},
	}
	if _, err := s.store.SaveRule(t.Context(), who, rule, "https://prod-1.westeurope.logic.azure.com/x/invoke?sig=1"); err != nil {
		t.Fatal(err)
	}
	say := func(to string) {
		t.Helper()
		renamed := &notify.Receipt{Connection: "dc", Hook: h.Name, HookID: h.ID, Key: "repo:modified", RequestID: to, Digest: []byte(to), ReceivedAt: time.Now(), Outcome: notify.Understood, Events: []notify.Event{{
			Types: []notify.EventType{notify.RepositoryFieldEdited}, Connection: "dc", Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: to},
			Changes: []notify.Change{{Field: "slug", Old: "canoe", New: to}},
		}}}
		if err := s.store.Accept(t.Context(), renamed); err != nil {
			t.Fatal(err)
		}
	}
	say("waka")
	before := s.want(200, s.do("GET", renamesPath, "root", ""))["items"].([]any)[0].(map[string]any)["id"]
	say("proa")
	s.want(409, s.do("POST", fmt.Sprintf("%s/%v/confirm", renamesPath, before), "root", ""))
	items := s.want(200, s.do("GET", renamesPath, "root", ""))["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("listed %v", items)
	}
	path := fmt.Sprintf("%s/%v/", renamesPath, items[0].(map[string]any)["id"])
	rule.RepositoryKey = "proa"
	there, err := s.store.SaveRule(t.Context(), who, rule, "https://prod-1.westeurope.logic.azure.com/x/invoke?sig=1")
	if err != nil {
		t.Fatal(err)
	}
	items = s.want(200, s.do("GET", renamesPath, "root", ""))["items"].([]any)
	if got := fmt.Sprint(items[0].(map[string]any)["there"]); got != "map[hooks:0 permissions:0 reports:0 rules:1]" {
		t.Errorf("there is %s", got)
	}
	s.want(409, s.do("POST", path+"confirm", "root", ""))
	if err := s.store.DeleteRule(t.Context(), who, there.ID, 0); err != nil {
		t.Fatal(err)
	}
	s.want(204, s.do("POST", path+"confirm", "root", ""))
	s.want(409, s.do("POST", path+"dismiss", "root", ""))
	s.want(404, s.do("POST", renamesPath+"/99/confirm", "root", ""))
	s.want(404, s.do("POST", renamesPath+"/x/dismiss", "root", ""))
}
