package api

import (
	"fmt"
	"testing"

	"outrigger/internal/notify"
)

const tryPath = filterPath + "/try"

// outcomes are what the rule would have made of the events, by their keys.
func outcomes(v map[string]any) map[string]string {
	out := make(map[string]string)
	items, _ := v["items"].([]any)
	for _, item := range items {
		m := item.(map[string]any)
		text := fmt.Sprint(m["outcome"])
		if m["filter"] != nil {
			text += fmt.Sprintf(" %v: %v, %v", m["filter"], m["wants"], m["has"])
		}
		if m["note"] != nil {
			text += fmt.Sprintf(" (%v)", m["note"])
		}
		out[fmt.Sprint(m["event"].(map[string]any)["key"])] = text
	}
	return out
}

func TestARuleIsTriedBeforeItIsSaved(t *testing.T) {
	s := newServer(t)
	s.fill()
	for _, c := range []struct {
		name, body string
		want       map[string]string
	}{
		{"of the connection", `{"eventTypes":["BRANCH_UPDATED"],"projects":["ATL"]}`, map[string]string{
			"canoe": "taken", "kayak": "taken", "pacific": "refused projects: ATL, PAC/canoe",
		}},
		{"of a project", `{"eventTypes":["TAG_CREATED"],"projectKey":"atl"}`, map[string]string{
			"canoe": "refused eventTypes: TAG_CREATED, BRANCH_UPDATED", "kayak": "refused eventTypes: TAG_CREATED, BRANCH_UPDATED",
		}},
		{"of a repository", `{"eventTypes":["BRANCH_UPDATED"],"projectKey":"ATL","repositoryKey":"canoe","enabled":false}`, map[string]string{"canoe": "taken"}},
		{"a mask that needs backtracking", `{"eventTypes":["BRANCH_UPDATED"],"projectKey":"PAC","branchMask":"(?=m)main"}`, map[string]string{"pacific": "taken"}},
		{"another one", `{"eventTypes":["BRANCH_UPDATED"],"projectKey":"PAC","branchMask":"(?!main).*"}`, map[string]string{"pacific": "refused branchMask: (?!main).*, main"}},
		{"one of a place without events", `{"eventTypes":["BRANCH_UPDATED"],"projectKey":"NONE"}`, map[string]string{}},
	} {
		answer := s.want(200, s.do("POST", tryPath, "admin", c.body))
		if got := outcomes(answer); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if int(answer["tried"].(float64)) != len(c.want) {
			t.Errorf("%s: tried %v", c.name, answer["tried"])
		}
	}
	all := s.want(200, s.do("POST", tryPath, "admin", `{"eventTypes":["BRANCH_UPDATED"],"projects":["ATL"]}`))
	if all["taken"] != 2.0 || all["tried"] != 3.0 {
		t.Errorf("taken %v of %v", all["taken"], all["tried"])
	}
	if got := fields(s.want(400, s.do("POST", tryPath, "admin", `{"eventTypes":[],"branchMask":"(","users":[" "]}`))); got != "eventTypes branchMask users" {
		t.Errorf("refused %q", got)
	}
}

// Of a stored rule, the place is its own, whatever the body says.
func TestAStoredRuleIsTriedAtItsPlace(t *testing.T) {
	s := newServer(t)
	s.fill()
	made := s.want(201, s.do("POST", filterPath, "repo", fmt.Sprintf(someFilter, `,"projectKey":"ATL","repositoryKey":"canoe"`)))
	body := fmt.Sprintf(`{"id":%v,"eventTypes":["BRANCH_UPDATED"],"projectKey":"PAC"}`, made["id"])
	if got := outcomes(s.want(200, s.do("POST", tryPath, "repo", body))); fmt.Sprint(got) != "map[canoe:taken]" {
		t.Errorf("got %v", got)
	}
}

func TestWhoMayTryARule(t *testing.T) {
	s := newServer(t)
	s.fill()
	made := s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"projectKey":"PAC"`)))
	for _, c := range []struct {
		members                          string
		root, admin, project, repo, none int
	}{
		{``, 200, 200, 403, 403, 403},
		{`,"projectKey":"ATL"`, 200, 200, 200, 403, 403},
		{`,"projectKey":"ATL","repositoryKey":"canoe"`, 200, 200, 200, 200, 403},
		{`,"projectKey":"ATL","repositoryKey":"kayak"`, 200, 200, 200, 403, 403},
		{`,"projectKey":"PAC"`, 200, 200, 403, 403, 403},
		{fmt.Sprintf(`,"id":%v,"projectKey":"ATL"`, made["id"]), 200, 200, 403, 403, 403},
		{`,"id":999`, 404, 403, 403, 403, 403},
	} {
		body := `{"eventTypes":["BRANCH_UPDATED"]` + c.members + `}`
		for user, want := range map[string]int{"root": c.root, "admin": c.admin, "project": c.project, "repo": c.repo, "nobody": c.none, "": 401} {
			if got := s.do("POST", tryPath, user, body).Code; got != want {
				t.Errorf("%s as %q: %d, want %d", body, user, got, want)
			}
		}
	}
}

// A mask that takes too many steps is not asked again, and nothing hangs on it.
func TestATrialOfAMaskThatTakesTooManySteps(t *testing.T) {
	s := newServer(t)
	long := ""
	for range 5000 {
		long += "a"
	}
	for i := range 3 {
		e := push("ATL", "canoe", long+"b")
		s.took(fmt.Sprint("push", i), notify.Understood, e)
	}
	answer := s.want(200, s.do("POST", tryPath, "admin", `{"eventTypes":["BRANCH_UPDATED"],"branchMask":"(a*)*\\1c"}`))
	for key, got := range outcomes(answer) {
		if got != `taken (Sent although “Branch mask” of the rule “a new rule” could not be checked.)` {
			t.Errorf("%s: %s", key, got)
		}
	}
	if answer["taken"] != 3.0 {
		t.Errorf("taken %v", answer["taken"])
	}
}
