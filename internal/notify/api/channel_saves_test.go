package api

import (
	"fmt"
	"strings"
	"testing"
)

const someURL = "https://chat.example.com/flow/invoke?sig=very-secret-%s"

// saveRule makes a rule of a level for a channel, and gives its id and fingerprint.
func (s *server) saveRule(user, level, webhookURL string) (id, channel string) {
	s.t.Helper()
	made := s.want(201, s.do("POST", filterPath, user, fmt.Sprintf(`{"name":"r","eventTypes":["BRANCH_UPDATED"],"webhookUrl":%q%s}`, webhookURL, level)))
	return fmt.Sprint(made["id"]), fmt.Sprint(made["channel"])
}

const (
	atProject    = `,"projectKey":"ATL"`
	atRepository = `,"projectKey":"ATL","repositoryKey":"canoe"`
)

// A channel by itself, from its making to its end: named, chosen, used, not deleted
// while it is, deleted then.
func TestChannelLife(t *testing.T) {
	s := newServer(t)
	url := fmt.Sprintf(someURL, "a")
	w := s.do("POST", ChannelsPath, "project", fmt.Sprintf(`{"name":"Releases","format":"Slack","webhookUrl":%q}`, url))
	made := s.want(201, w)
	one := fmt.Sprintf("%s/%v", ChannelsPath, made["id"])
	if !strings.HasSuffix(w.Header().Get("Location"), one) || w.Header().Get("ETag") == "" || made["name"] != "Releases" || made["format"] != "slack" {
		t.Errorf("made %v at %s", made, w.Header().Get("Location"))
	}
	s.want(409, s.do("POST", ChannelsPath, "project", fmt.Sprintf(`{"webhookUrl":%q}`, url)))
	s.want(403, s.do("GET", one, "repo", ""))
	rule := `{"name":"r","eventTypes":["BRANCH_UPDATED"],"channel":"%v"%s}`
	s.want(403, s.do("POST", filterPath, "repo", fmt.Sprintf(rule, made["id"], atRepository)))
	s.want(403, s.do("POST", filterPath, "repo", fmt.Sprintf(rule, "999", atRepository)))
	chosen := s.want(201, s.do("POST", filterPath, "project", fmt.Sprintf(rule, made["id"], atProject)))
	if chosen["channel"] != made["channel"] || chosen["webhookUrl"] != made["webhookUrl"] || chosen["format"] != "auto" || chosen["channelName"] != nil {
		t.Errorf("chosen %v", chosen)
	}
	s.want(201, s.do("POST", filterPath, "project", fmt.Sprintf(rule, made["channel"], `,"webhookUrl":"`+fmt.Sprint(made["webhookUrl"])+`"`+atProject)))
	if refused := s.want(409, s.do("DELETE", one, "project", "")); !strings.Contains(fmt.Sprint(refused["message"]), "2") {
		t.Errorf("deleted while two rules send there: %v", refused)
	}
	s.want(400, s.do("PUT", one, "project", `{"name":"`+strings.Repeat("x", 256)+`","format":"post"}`))
	list := s.do("GET", ChannelsPath, "admin", "")
	if s.want(200, list); strings.Contains(list.Body.String()+w.Body.String(), "very-secret") {
		t.Error("the signature is in an answer")
	}
	for _, id := range []any{chosen["id"], chosen["id"].(float64) + 1} {
		s.want(204, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, id), "project", ""))
	}
	s.want(403, s.do("DELETE", one, "repo", ""))
	s.want(204, s.do("DELETE", one, "project", ""))
	s.want(404, s.do("GET", one, "root", ""))
}

// Replacing a webhook URL takes the administration of every rule and report of the
// channel, and says how many are others'; it is done for all, and rules that are read
// and saved as before stay where they are.
func TestReplacingAURL(t *testing.T) {
	s := newServer(t)
	mine, channel := s.saveRule("repo", atRepository, fmt.Sprintf(someURL, "a"))
	s.saveRule("project", atProject, fmt.Sprintf(someURL, "a"))
	s.saveRule("admin", "", fmt.Sprintf(someURL, "a"))
	_, other := s.saveRule("admin", "", fmt.Sprintf(someURL, "b"))
	one := ChannelsPath + "/" + channel
	body := fmt.Sprintf(`{"webhookUrl":%q}`, fmt.Sprintf(someURL, "c"))
	if refused := s.want(403, s.do("PUT", one, "repo", body)); !strings.Contains(fmt.Sprint(refused["message"]), "2 of the 3") {
		t.Errorf("with two rules of others: %v", refused)
	}
	seen := s.want(200, s.do("GET", one, "repo", ""))
	if fmt.Sprint(seen["rules"]) != "["+mine+"]" || seen["others"] != 2.0 {
		t.Errorf("seen by who administers one of three: %v", seen)
	}
	s.want(403, s.do("PUT", ChannelsPath+"/"+other, "repo", body))
	before := s.do("GET", filterPath+"?id="+mine, "repo", "")
	replaced := s.want(200, s.do("PUT", one+"?test=true&which=all", "admin", body))
	if replaced["channel"] == channel || replaced["id"] != seen["id"] || len(replaced["rules"].([]any)) != 3 {
		t.Errorf("replaced: %v", replaced)
	}
	if again := s.want(200, s.do("POST", filterPath, "repo", before.Body.String())); again["version"] != 1.0 || again["channel"] != replaced["channel"] {
		t.Errorf("a rule that is saved as it was read before: %v", again)
	}
	s.want(200, s.do("GET", one, "repo", "")) // by the former fingerprint
	if taken := s.want(409, s.do("PUT", one, "admin", fmt.Sprintf(`{"webhookUrl":%q}`, fmt.Sprintf(someURL, "b")))); !strings.Contains(fmt.Sprint(taken["message"]), "Choose that channel") {
		t.Errorf("the URL of another channel: %v", taken)
	}
	if stale := s.want(409, s.do("PUT", one, "admin", `{"version":1,"webhookUrl":"https://chat.example.com/flow/invoke?sig=late"}`)); !strings.Contains(fmt.Sprint(stale["message"]), "admin changed webhookUrl") {
		t.Errorf("a stale save: %v", stale)
	}
}

// Who shares a channel, and with whom, decides who may choose it: whoever may sees the
// channel, and nothing of the rules of others.
func TestSharingAChannel(t *testing.T) {
	s := newServer(t)
	_, channel := s.saveRule("admin", "", fmt.Sprintf(someURL, "a"))
	one := ChannelsPath + "/" + channel
	choose := func(user, level string) int {
		return s.do("POST", filterPath, user, fmt.Sprintf(`{"name":"r","eventTypes":["BRANCH_UPDATED"],"channel":%q%s}`, channel, level)).Code
	}
	s.saveRule("project", atProject, fmt.Sprintf(someURL, "b"))
	s.want(403, s.do("PUT", one, "project", `{"sharedWith":{"everyone":true}}`))
	for _, c := range []struct {
		with          string
		project, repo int
	}{
		{`{"projects":[{"projectKey":"OTHER"}]}`, 403, 403},
		{`{"projects":[{"connection":"dc","projectKey":"atl"},{"projectKey":"ATL"}]}`, 201, 403},
		{`{"everyone":true}`, 201, 201},
	} {
		s.want(200, s.do("PUT", one, "admin", `{"sharedWith":`+c.with+`}`))
		if got := s.do("GET", one, "project", ""); (got.Code == 200) != (c.project == 201) || strings.Contains(got.Body.String(), `"rules":[1`) {
			t.Errorf("shared with %s: %d %s", c.with, got.Code, got.Body)
		}
		if got := choose("project", atProject); got != c.project {
			t.Errorf("shared with %s: the project's administrator gets %d", c.with, got)
		}
		if got := choose("repo", atRepository); got != c.repo {
			t.Errorf("shared with %s: the repository's administrator gets %d", c.with, got)
		}
	}
	if ended := s.want(200, s.do("PUT", one, "admin", `{"sharedWith":{}}`)); ended["sharedWith"] != nil {
		t.Errorf("not shared any more: %v", ended)
	}
	for _, wrong := range []string{`{"everyone":true,"projects":[{"projectKey":"ATL"}]}`, `{"projects":[{"projectKey":"A B"}]}`, `{"projects":[{"connection":"none","projectKey":"ATL"}]}`, `{"projects":[{"projectKey":""}]}`} {
		if refused := s.want(400, s.do("PUT", one, "admin", `{"sharedWith":`+wrong+`}`)); fields(refused) != "sharedWith" {
			t.Errorf("%s: %v", wrong, refused)
		}
	}
}

// Who is shared a channel and has the only rule there may not redirect or rename it:
// others choose it for where it sends. Who made it may, as long as no one else's rule
// sends there, and so may administrators.
func TestASharedChannelIsNotTakenOver(t *testing.T) {
	for maker, takers := range map[string][]string{"admin": {"project", "repo"}, "project": {"repo"}} {
		s := newServer(t)
		made := s.want(201, s.do("POST", ChannelsPath, maker, fmt.Sprintf(`{"name":"Announcements","webhookUrl":%q}`, fmt.Sprintf(someURL, "a"))))
		one := fmt.Sprintf("%s/%v", ChannelsPath, made["id"])
		s.want(200, s.do("PUT", one, "admin", `{"sharedWith":{"everyone":true}}`))
		body := fmt.Sprintf(`{"webhookUrl":%q}`, fmt.Sprintf(someURL, "b"))
		for _, taker := range takers {
			rule := s.want(201, s.do("POST", filterPath, taker, fmt.Sprintf(`{"name":"r","eventTypes":["BRANCH_UPDATED"],"channel":"%v"%s}`, made["id"], atRepository)))
			for _, change := range []string{body, `{"name":"Mine"}`, `{"format":"slack"}`} {
				if refused := s.want(403, s.do("PUT", one, taker, change)); !strings.Contains(fmt.Sprint(refused["message"]), "made this channel") {
					t.Errorf("%s puts %s: %v", taker, change, refused)
				}
			}
			s.want(403, s.do("POST", one+"/test", taker, ""))
			s.want(204, s.do("DELETE", fmt.Sprintf("%s?id=%v", filterPath, rule["id"]), taker, ""))
		}
		s.want(200, s.do("PUT", one, maker, body))
	}
}

// Those with whom a channel was shared keep their rules on it when the sharing ends, and
// do not change it, also where theirs are the only ones.
func TestAfterSharingAChannel(t *testing.T) {
	s := newServer(t)
	for i, level := range []string{atProject, ""} { // who made it has a rule of their own, or none
		made := s.want(201, s.do("POST", ChannelsPath, "admin", fmt.Sprintf(`{"name":"Releases","webhookUrl":%q}`, fmt.Sprintf(someURL, fmt.Sprint("made", i)))))
		one := fmt.Sprintf("%s/%v", ChannelsPath, made["id"])
		if level != "" {
			s.want(201, s.do("POST", filterPath, "project", fmt.Sprintf(`{"name":"r","eventTypes":["BRANCH_UPDATED"],"webhookUrl":%q%s}`, fmt.Sprintf(someURL, fmt.Sprint("made", i)), level)))
		}
		s.want(200, s.do("PUT", one, "admin", `{"sharedWith":{"everyone":true}}`))
		rule := s.want(201, s.do("POST", filterPath, "project", fmt.Sprintf(`{"name":"r","eventTypes":["BRANCH_UPDATED"],"channel":"%v"%s}`, made["id"], atProject)))
		s.want(200, s.do("PUT", one, "admin", `{"sharedWith":{}}`))
		url := fmt.Sprintf(`{"webhookUrl":%q}`, fmt.Sprintf(someURL, fmt.Sprint("taken over", i)))
		for _, body := range []string{url, `{"name":"Mine"}`, `{"format":"slack"}`} {
			if refused := s.want(403, s.do("PUT", one, "project", body)); !strings.Contains(fmt.Sprint(refused["message"]), "made this channel") {
				t.Errorf("%s: %v", body, refused)
			}
		}
		s.want(403, s.do("POST", one+"/retry?which=none", "project", ""))
		s.want(200, s.do("POST", filterPath, "project", fmt.Sprintf(`{"id":%v,"name":"r","eventTypes":["TAG_CREATED"],"channel":"%v"%s}`, rule["id"], made["id"], atProject)))
		s.want(200, s.do("PUT", one, "admin", url))
	}
}
