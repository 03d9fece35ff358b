package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// What can never fire, or filters nothing, is refused when it is saved: every
// such member at once.
func TestRulesThatCanNeverFire(t *testing.T) {
	s := newServer(t)
	for members, want := range map[string]string{
		`"eventTypes":["BRANCH_UPDATED"]`:                                                                     "",
		`"eventTypes":["PULL_REQUEST_OPENED"],"branches":["main"]`:                                            "",
		`"eventTypes":["BUILD_STATUS_SET","REPOSITORY_FORKED"],"branchMask":"main"`:                           "",
		`"eventTypes":["ISSUE_CREATED"]`:                                                                      "eventTypes",
		`"eventTypes":["BRANCH_UPDATED","PIPELINE_FAILED"]`:                                                   "eventTypes",
		`"eventTypes":["REPOSITORY_FORKED","COMMIT_COMMENT_ADDED"],"branches":["main"]`:                       "branches",
		`"eventTypes":["PROJECT_FIELD_EDITED"],"branchMask":"release/.*"`:                                     "branchMask",
		`"eventTypes":["COMMIT_COMMENT_ADDED"],"ignoredBranchMask":"wip/.*"`:                                  "ignoredBranchMask",
		`"eventTypes":["BRANCH_UPDATED","BUILD_STATUS_SET"],"sourceBranchMask":"fix/.*","reviewers":["ada"]`:  "sourceBranchMask reviewers",
		`"eventTypes":["BRANCH_UPDATED","PULL_REQUEST_MERGED"],"sourceBranchMask":"fix/.*","reviewers":["a"]`: "",
		`"eventTypes":["BRANCH_UPDATED"],"users":["Ada","joan"],"ignoredUsers":["joan","ada","bob"]`:          "ignoredUsers",
		`"eventTypes":["BRANCH_UPDATED"],"users":["ada","joan"],"ignoredUsers":["joan"]`:                      "",
		`"eventTypes":["BRANCH_UPDATED"],"ignoredBranchMask":"("`:                                             "ignoredBranchMask",
		`"eventTypes":["PULL_REQUEST_OPENED"],"sourceBranchMask":"["`:                                         "sourceBranchMask",
		`"eventTypes":["BUILD_STATUS_SET"],"users":["ada"]`:                                                   "users",
		`"eventTypes":["BUILD_STATUS_SET"],"ignoredUsers":["ada"]`:                                            "",
		`"eventTypes":["BUILD_STATUS_SET","BRANCH_UPDATED"],"users":["ada"]`:                                  "",
		`"eventTypes":["BRANCH_UPDATED"],"projects":["ATL"],"repositoryKey":"canoe"`:                          "repositoryKey",
		`"eventTypes":["PROJECT_FIELD_EDITED"]`:                                                               "",
		`"eventTypes":["PROJECT_FIELD_EDITED"],"projectKey":"ATL"`:                                            "",
		`"eventTypes":["PROJECT_FIELD_EDITED"],"projectKey":"ATL","repositoryKey":"canoe"`:                    "eventTypes",
		`"eventTypes":["PROJECT_FIELD_EDITED","BRANCH_UPDATED"],"projectKey":"ATL","repositoryKey":"canoe"`:   "",
		`"eventTypes":["PROJECT_FIELD_EDITED"],"repositories":[{"projectKey":"ATL","repositoryKey":"canoe"}]`: "eventTypes",
		`"eventTypes":["PROJECT_FIELD_EDITED"],"projects":["ATL"]`:                                            "",
		`"eventTypes":["PULL_REQUEST_OPENED"],"reviewers":[""]`:                                               "reviewers",
		`"eventTypes":["ISSUE_CREATED"],"branches":["main"],"name":"","webhookUrl":"http://chat.example.com"`: "name branches eventTypes webhookUrl",
	} {
		body := fmt.Sprintf(`{"name":"x","webhookUrl":"https://chat.example.com/flow?sig=y",%s}`, members)
		if strings.Contains(members, "webhookUrl") {
			body = "{" + members + "}"
		}
		status := 201
		if want != "" {
			status = 400
		}
		if got := fields(s.want(status, s.do("POST", filterPath, "admin", body))); got != want {
			t.Errorf("%s: %q, want %q", members, got, want)
		}
	}
	// A rule that exists is judged by the platform that it is of.
	made := s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, "")))
	body := fmt.Sprintf(`{"id":%v,"name":"x","eventTypes":["ISSUE_CREATED"]}`, made["id"])
	if got := fields(s.want(400, s.do("POST", filterPath, "admin", body))); got != "eventTypes" {
		t.Errorf("saved again: %q", got)
	}
}

func TestWhiteSpaceAroundNames(t *testing.T) {
	s := newServer(t)
	made := s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(strings.Replace(someFilter, `["BRANCH_UPDATED"]`, `["PULL_REQUEST_OPENED"]`, 1),
		`,"branches":[" main","release/1.0\t"],"projects":[" ATL "],"users":["ada "],"ignoredUsers":[" bot"],"reviewers":[" joan"],"ignoredBranchMask":" wip/.*\n","sourceBranchMask":" fix/.* ","repositories":[{"projectKey":" ATL","repositoryKey":"canoe "}]`)))
	for member, want := range map[string]any{
		"branches": []any{"main", "release/1.0"}, "projects": []any{"ATL"}, "users": []any{"ada"}, "ignoredUsers": []any{"bot"},
		"reviewers": []any{"joan"}, "ignoredBranchMask": " wip/.*\n", "sourceBranchMask": " fix/.* ", // there it may mean something
		"repositories": []any{map[string]any{"projectKey": "ATL", "repositoryKey": "canoe"}},
	} {
		if d := cmp.Diff(want, made[member]); d != "" {
			t.Errorf("%s: %s", member, d)
		}
	}
	if warned, _ := made["warnings"].([]any); len(warned) != 2 {
		t.Errorf("white space around two masks is warned of so: %v", warned)
	}
	if got := fields(s.want(400, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"branches":[" "]`)))); got != "branches" {
		t.Errorf("a branch of white space: %q", got)
	}
}

// The warning is in every answer about the rule, and may be sent back.
func TestWarningsInAnswers(t *testing.T) {
	s := newServer(t)
	w := s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"branchMask":"release/*"`))
	made := s.want(201, w)
	warnings, _ := made["warnings"].([]any)
	if len(warnings) != 1 || warnings[0].(map[string]any)["field"] != "branchMask" {
		t.Fatalf("warnings %v", made["warnings"])
	}
	again := s.want(200, s.do("POST", filterPath, "admin", w.Body.String()))
	if d := cmp.Diff(made["warnings"], again["warnings"]); d != "" {
		t.Error(d)
	}
	if fine := s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, `,"branchMask":"release/.*"`))); fine["warnings"] != nil {
		t.Errorf("warnings %v", fine["warnings"])
	}
}

// Who is in a group only the platform knows, and only an account may ask it.
func TestGroupsNeedAConnectionThatAnswers(t *testing.T) {
	s := newServer(t, notify.Connection{Name: "silent", Kind: "bitbucket-dc"},
		notify.Connection{Name: "asked", Kind: "bitbucket-dc", Token: secret.New("t0ken")})
	rule := `{"name":"x","connection":%q,"webhookUrl":"https://chat.example.com/flow?sig=y","eventTypes":["BRANCH_UPDATED"],"groups":[" devs "],"ignoredGroups":["bots"]}`
	w := s.do("POST", filterPath, "admin", fmt.Sprintf(rule, "silent"))
	if got := fields(s.want(400, w)); got != "groups ignoredGroups" || !strings.Contains(w.Body.String(), "no account") {
		t.Errorf("%q: %s", got, w.Body)
	}
	made := s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(rule, "asked")))
	if d := cmp.Diff([]any{[]any{"devs"}, []any{"bots"}}, []any{made["groups"], made["ignoredGroups"]}); d != "" {
		t.Error(d)
	}
	all := strings.Replace(fmt.Sprintf(rule, "asked"), "bots", "DEVS", 1)
	if got := fields(s.want(400, s.do("POST", filterPath, "admin", all))); got != "ignoredGroups" {
		t.Errorf("the same group wanted and ignored: %q", got)
	}
}

func TestQuietHoursOfARule(t *testing.T) {
	s := newServer(t)
	quiet := `,"mentionReviewers":true,"quietHours":{"days":["MONDAY","FRIDAY"],"from":"22:00","to":"06:00","timeZone":"Europe/Berlin","urgent":["BRANCH_UPDATED"]}`
	made := s.want(201, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, quiet)))
	want := map[string]any{
		"days": []any{"MONDAY", "FRIDAY"}, "from": "22:00", "to": "06:00", "timeZone": "Europe/Berlin", "urgent": []any{"BRANCH_UPDATED"},
	}
	read := s.want(200, s.do("GET", fmt.Sprintf("%s?id=%v", filterPath, made["id"]), "admin", ""))
	if d := cmp.Diff([]any{want, true}, []any{read["quietHours"], read["mentionReviewers"]}); d != "" {
		t.Error(d)
	}
	wrong := `,"quietHours":{"days":["FUNDAY"],"from":"6 pm","to":"25:00","timeZone":"Mars/Olympus","urgent":["TAG_CREATED","NO"]}`
	if got := fields(s.want(400, s.do("POST", filterPath, "admin", fmt.Sprintf(someFilter, wrong)))); got !=
		"quietHours.urgent quietHours.days quietHours.from quietHours.to quietHours.timeZone" {
		t.Errorf("refused for %q", got)
	}
	saved := s.want(200, s.do("POST", filterPath, "admin", fmt.Sprintf(`{"id":%v,"name":"x","eventTypes":["BRANCH_UPDATED"]}`, made["id"])))
	if saved["quietHours"] != nil || saved["mentionReviewers"] != nil {
		t.Errorf("a save without them left %v and %v", saved["quietHours"], saved["mentionReviewers"])
	}
}

// The answer to a save says what the name server says about the URL's host.
func TestASaveCautionsAboutTheURL(t *testing.T) {
	s := newServer(t)
	body := `{"name":"x","eventTypes":["TAG_CREATED"],"webhookUrl":"https://%s.example.com/hooks/abcdef"}`
	if w := s.do("POST", filterPath, "admin", fmt.Sprintf(body, "loopback")); w.Code != 201 || !strings.Contains(w.Body.String(), `"warnings":[{"field":"webhookUrl","message":"loopback.example.com is 127.0.0.1."}]`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := s.do("POST", filterPath, "admin", fmt.Sprintf(body, "chat")); w.Code != 201 || strings.Contains(w.Body.String(), "warnings") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
