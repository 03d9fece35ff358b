package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The audit trail names a channel by its id, whatever was done to it, and leads to its
// page.
func TestAuditTrailOfAChannel(t *testing.T) {
	t.Parallel()
	room := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	t.Cleanup(room.Close)
	a := start(t, withChat(t))
	do := func(method, path, body string) string {
		t.Helper()
		status, answer := put(t, a, method, mtbs+"/channels"+path, body)
		if status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		return answer
	}
	made := make([]struct{ ID int64 }, 2)
	for i := range made {
		answer := do(http.MethodPost, "", fmt.Sprintf(`{"name":"room %d","webhookUrl":"%s/%d"}`, i, room.URL, i))
		if err := json.Unmarshal([]byte(answer), &made[i]); err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/%d", made[i].ID)
		do(http.MethodPost, path+"/test", "")
		do(http.MethodPost, path+"/retry?which=all", "")
		do(http.MethodPut, path+"?test=true", fmt.Sprintf(`{"webhookUrl":"%s/other/%d"}`, room.URL, i))
	}
	do(http.MethodDelete, fmt.Sprintf("/%d", made[0].ID), "")
	var list struct {
		Items []struct{ Action, Object, ObjectID string }
	}
	if _, answer := get(t, a.URL()+mtbs+"/audit?limit=1000", asAdmin); json.Unmarshal([]byte(answer), &list) != nil {
		t.Fatal(answer)
	}
	told := make(map[string]string) // the actions by the channel, the newest first
	for _, e := range list.Items {
		if e.Object == "channel" {
			told[e.ObjectID] += " " + e.Action
		}
	}
	const changes = " update test retry test create"
	first, second := fmt.Sprint(made[0].ID), fmt.Sprint(made[1].ID)
	if len(told) != 2 || told[first] != " delete"+changes || told[second] != changes {
		t.Errorf("the trail tells of %q", told)
	}
	_, page := consolePage(t, a, "/system/audit", nil)
	if n := strings.Count(page, `href="/notifications/channels/`+second+`"`); n != strings.Count(changes, " ") {
		t.Errorf("%d entries lead to the channel: %s", n, page)
	}
}
