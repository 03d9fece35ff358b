package api

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"outrigger/internal/notify"
)

// Users see the refused webhooks of the hooks that they administer, page by page.
func TestRefusedWebhooksByREST(t *testing.T) {
	s := newServer(t)
	who := notify.Actor{Name: "ada", Source: "local"}
	for name, scope := range map[string]notify.Scope{"all": {}, "atl": {ProjectKey: "ATL"}, "canoe": {ProjectKey: "ATL", RepositoryKey: "canoe"}} {
		if _, err := s.store.CreateHook(t.Context(), who, notify.Hook{Connection: "dc", Name: name, Scope: scope}); err != nil {
			t.Fatal(err)
		}
	}
	var refused []notify.RefusedWebhooks
	add := func(hook string, reason notify.RefusalReason, n int) {
		refused = append(refused, notify.RefusedWebhooks{
			RefusalKey: notify.RefusalKey{Connection: "dc", Hook: hook, Reason: reason}, Count: n, LastAt: time.Now(), LastBy: "192.0.2.7", Message: "the answer",
		})
	}
	add("", notify.RefusedHook, 3)
	add("all", notify.RefusedBody, 1)
	add("atl", notify.RefusedScope, 2)
	add("canoe", notify.RefusedSignature, 12)
	if err := s.store.AddRefused(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	list := func(user, query string) (hooks string, last map[string]any, next any) {
		t.Helper()
		answer := s.want(200, s.do("GET", RefusedPath+query, user, ""))
		for _, item := range answer["items"].([]any) {
			last = item.(map[string]any)
			hooks += fmt.Sprintf("%v:%v ", last["hook"], last["count"])
		}
		return hooks, last, answer["next"]
	}
	for user, want := range map[string]string{
		"root": "<nil>:3 all:1 atl:2 canoe:12 ", "admin": "<nil>:3 all:1 atl:2 canoe:12 ", "project": "atl:2 canoe:12 ", "repo": "canoe:12 ", "nobody": "",
	} {
		if got, _, _ := list(user, ""); got != want {
			t.Errorf("%s sees %q, want %q", user, got, want)
		}
	}
	all, _, next := list("root", "?limit=3")
	rest, last, end := list("root", "?limit=3&after="+url.QueryEscape(fmt.Sprint(next)))
	if all+rest != "<nil>:3 all:1 atl:2 canoe:12 " || end != nil {
		t.Errorf("by pages: %q and %q, next %v", all, rest, end)
	}
	for name, want := range map[string]any{
		"connection": "dc", "reason": "signature", "recent": 12.0, "lastAddress": "192.0.2.7", "lastMessage": "the answer", "needsAttention": true,
		"advice": notify.RefusedSignature.Advice(),
	} {
		if last[name] != want {
			t.Errorf("%s is %v, want %v", name, last[name], want)
		}
	}
	if got, _, _ := list("root", "?connection=dc"); got != all+rest {
		t.Errorf("of the connection: %q", got)
	}
	s.want(404, s.do("GET", RefusedPath+"?connection=moon", "root", ""))
	s.want(403, s.do("GET", RefusedPath+"?connection=moon", "project", ""))
	s.want(401, s.do("GET", RefusedPath, "", ""))
}
