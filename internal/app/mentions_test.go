package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const mentionsPath = "/rest/mtbs/1.0/configuration/mentions"

// Reviewers with an account are mentioned by a rule that says so, and by no other.
func TestReviewersAreMentioned(t *testing.T) {
	a, chat := startWithChat(t), newChatPlatform(t)
	if status, v := postJSON(t, a, mentionsPath, "admin", `{"user":"ADMIN","teams":"nobody","slack":"x"}`); status != 400 || len(v["errors"].([]any)) != 2 {
		t.Errorf("wrong ids: %d %v", status, v)
	}
	status, v := importCSV(t, a, "user,teams,slack\nsomebody,x@example.com\ngrace,grace@example.com,U012AB3CD\n")
	if status != 200 {
		t.Fatalf("import: %d %s", status, v)
	}
	for i, member := range []string{"", `,"mentionReviewers":true`} {
		status, v := postJSON(t, a, "/rest/mtbs/1.0/configuration/filter", "admin", fmt.Sprintf(
			`{"name":"x","webhookUrl":%q,"eventTypes":["PULL_REQUEST_OPENED"]%s}`, chat.webhook(fmt.Sprint("rule", i)), member))
		if status != 201 {
			t.Fatalf("%d %v", status, v)
		}
	}
	sendSigned(t, a, pullRequestOpened)
	var posts []string
	for until := time.Now().Add(patience); len(posts) < 2 && time.Now().Before(until); {
		posts = append(posts, chat.taken()...)
		<-time.After(10 * time.Millisecond)
	}
	mentions := 0
	for _, p := range posts {
		if strings.Contains(p, `"mentioned":{"id":"grace@example.com","name":"Grace Hopper"}`) && strings.Contains(p, "Reviewers: <at>Grace Hopper</at>") {
			mentions++
		} else if strings.Contains(p, "<at>") {
			t.Errorf("mentions others: %s", p)
		}
	}
	if status, page := consolePage(t, a, "/notifications/deliveries/1", nil); status != 200 || !strings.Contains(page, `class="chat-card teams info"`) {
		t.Errorf("the delivery's page has no card: %d %s", status, page)
	}
	if len(posts) != 2 || mentions != 1 {
		t.Errorf("%d of %d messages mention: %q", mentions, len(posts), posts)
	}
}

// pullRequestOpened is a webhook's body in which Ada asks two for a review.
const pullRequestOpened = `{"eventKey":"pr:opened","date":"2026-11-20T12:00:00+0000","actor":{"name":"ada","displayName":"Ada Lovelace"},
"pullRequest":{"id":12,"title":"Carry all wheels","state":"OPEN","author":{"user":{"name":"ada","displayName":"Ada Lovelace"}},
"fromRef":{"id":"refs/heads/carry","displayId":"carry","latestCommit":"4f1d2e3c4b5a69788796a5b4c3d2e1f001122334",
"repository":{"slug":"engine","name":"engine","project":{"key":"ATL","name":"Atlas"}}},
"toRef":{"id":"refs/heads/main","displayId":"main","latestCommit":"9e8c7d6b5a49382716059483726150f4e3d2c1b0",
"repository":{"slug":"engine","name":"engine","project":{"key":"ATL","name":"Atlas"}}},
"reviewers":[{"user":{"name":"Grace","displayName":"Grace Hopper"}},{"user":{"name":"alan","displayName":"Alan Turing"}}]}}`

// sendSigned posts a webhook's body as the platform does.
func sendSigned(t *testing.T, a *App, body string) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte("hook secret"))
	mac.Write([]byte(body))
	status, answer := get(t, a.URL()+"/hooks/main", func(r *http.Request) {
		r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(body))
		r.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	})
	if status != http.StatusAccepted {
		t.Fatalf("the webhook: %d %s", status, answer)
	}
}

func importCSV(t *testing.T, a *App, text string) (int, string) {
	t.Helper()
	return get(t, a.URL()+mentionsPath+"/import", asAdmin, func(r *http.Request) {
		r.Method, r.Body = http.MethodPost, io.NopCloser(strings.NewReader(text))
		r.Header.Set("Content-Type", "text/csv")
	})
}

func TestChatAccountsByRESTAndPage(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	if status, v := postJSON(t, a, mentionsPath, "admin", `{"user":" ada ","teams":"ada@example.com"}`); status != 201 || v["connection"] != "main" || v["user"] != "ada" {
		t.Errorf("%d %v", status, v)
	}
	if status, v := postJSON(t, a, mentionsPath, "admin", `{"user":"ADA","slack":"U012AB3CD"}`); status != 200 {
		t.Errorf("again: %d %v", status, v)
	}
	for text, want := range map[string]string{
		"a,a@example.com\nb,b@example\nc,c@example.com,U012AB3CD\nA,x@example.com": "Line 2",
		"a":                                "1 columns",
		"":                                 "0 accounts",
		"a,a@example.com\nA,x@example.com": "is in line 1 already",
		"a,\"b\nc":                         "not CSV",
	} {
		if status, body := importCSV(t, a, text); status != 400 || !strings.Contains(body, want) {
			t.Errorf("%q: %d %s, want %q", text, status, body, want)
		}
	}
	if _, list := get(t, a.URL()+mentionsPath+"?search=u012", asAdmin); strings.Count(list, `"user"`) != 1 || !strings.Contains(list, `"ADA"`) {
		t.Errorf("list: %s", list)
	}
	page := func(path string, form url.Values, want int, texts ...string) {
		t.Helper()
		status, body := consolePage(t, a, path, form)
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("%s does not say %q: %s", path, text, body)
			}
		}
		if status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	page("/notifications/mentions", nil, 200, "ADA", "U012AB3CD")
	page("/notifications/mentions?search=zz", nil, 200, "Nothing found")
	page("/notifications/mentions/new?connection=main&user=ADA&slack=U012AB3CD", nil, 200, `value="U012AB3CD"`)
	page("/notifications/mentions/new", url.Values{"connection": {"main"}, "user": {"grace"}, "slack": {"grace"}}, 400, "is not a member id", `value="grace"`)
	page("/notifications/mentions/new", url.Values{"connection": {"main"}, "user": {"grace"}, "slack": {"U1111AAAA"}}, 303)
	page("/notifications/mentions/import", url.Values{"connection": {"main"}, "accounts": {"x,y"}}, 400, "Line 1", "x,y")
	page("/notifications/mentions/import", url.Values{"connection": {"main"}, "accounts": {"user,teams\nalan,alan@example.com"}}, 303)
	page("/notifications/mentions/delete?connection=main&user=ADA", nil, 200, "Delete the chat account of ADA?")
	page("/notifications/mentions/delete", url.Values{"connection": {"main"}, "user": {"ADA"}}, 303)
	page("/notifications/mentions/delete", url.Values{"connection": {"main"}, "user": {"ADA"}}, 404)
	page("/notifications/mentions", nil, 200, "grace", "alan@example.com")
}
