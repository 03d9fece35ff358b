package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

const testPath = "/rest/mtbs/1.0/configuration/filter/test"

// chatPlatform keeps what is posted to it, and answers with status and text.
type chatPlatform struct {
	*httptest.Server
	mu     sync.Mutex
	posts  []string
	status int
	answer string
}

func newChatPlatform(t *testing.T) *chatPlatform {
	c := &chatPlatform{status: http.StatusAccepted}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posts = append(c.posts, string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(c.status)
		_, _ = io.WriteString(w, c.answer)
	}))
	t.Cleanup(c.Close)
	return c
}

// answers sets what is answered from now on.
func (c *chatPlatform) answers(status int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.answer = status, text
}

// taken returns what was posted since the last call.
func (c *chatPlatform) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	posts := c.posts
	c.posts = nil
	return posts
}

func (c *chatPlatform) webhook(sig string) string { return c.URL + "/invoke?sig=" + sig }

// startWithChat is a server that may post to this machine.
func startWithChat(t *testing.T) *App {
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	return start(t, cfg)
}

// postJSON sends JSON as a user and gives the answer's members.
func postJSON(t *testing.T, a *App, path, user, body string) (int, map[string]any) {
	t.Helper()
	status, text := get(t, a.URL()+path, func(r *http.Request) {
		r.Method = http.MethodPost
		r.SetBasicAuth(user, password)
		r.Header.Set("Content-Type", "application/json")
		r.Body = io.NopCloser(strings.NewReader(body))
	})
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %d %s", path, status, text)
	}
	return status, v
}

// A rule is tested before it is saved: what the chat platform answers is told,
// masked and cut, and nothing is kept but the audit trail.
func TestRuleIsTestedBeforeItIsSaved(t *testing.T) {
	a, chat := startWithChat(t), newChatPlatform(t)
	const sig = "c2lnbmF0dXJlLXRoYXQtaXMtc2VjcmV0"
	status, v := postJSON(t, a, testPath, "admin", fmt.Sprintf(`{"webhookUrl":%q,"eventTypes":["TAG_CREATED"]}`, chat.webhook(sig)))
	if status != 200 || v["status"] != 202.0 {
		t.Errorf("answered %d %v", status, v)
	}
	if got := chat.taken(); len(got) != 1 || !strings.Contains(got[0], "AdaptiveCard") || !strings.Contains(got[0], "Test: Ada Lovelace created tag v2.1.0") {
		t.Errorf("posted %q", got)
	}
	chat.answers(http.StatusForbidden, "no: "+chat.webhook(sig)+strings.Repeat(" x", 3000))
	status, v = postJSON(t, a, testPath, "admin", fmt.Sprintf(`{"webhookUrl":%q,"format":"slack"}`, chat.webhook(sig)))
	answer, _ := v["answer"].(string)
	if status != 200 || v["status"] != 403.0 || !strings.HasPrefix(answer, "no: ") || strings.Contains(answer, sig) || len(answer) > 2<<10 {
		t.Errorf("answered %d %v", status, v)
	}
	if got := chat.taken(); len(got) != 1 || !strings.Contains(got[0], `"blocks"`) {
		t.Errorf("posted %q", got)
	}
	if _, list := get(t, a.URL()+"/rest/mtbs/1.0/configuration/filter", asAdmin); strings.TrimSpace(list) != "[]" {
		t.Errorf("rules: %s", list)
	}
	var entries int
	var kept string
	err := a.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*), max(after_json) FROM audit_entries WHERE action = 'test'`).Scan(&entries, &kept)
	})
	if err != nil || entries != 2 || !strings.Contains(kept, "••••") || strings.Contains(kept, sig) {
		t.Errorf("the audit trail: %d, %s, %v", entries, kept, err)
	}
}

// What may not be dialled is not, and redirects are not followed.
func TestTestMessageIsUnderEgressRules(t *testing.T) {
	t.Parallel()
	a := startWithHook(t) // which may not reach this machine
	chat := newChatPlatform(t)
	if status, v := postJSON(t, a, testPath, "admin", fmt.Sprintf(`{"webhookUrl":%q}`, chat.webhook("x"))); status != 400 {
		t.Errorf("a literal address: %d %v", status, v)
	}
	if got := chat.taken(); len(got) > 0 {
		t.Errorf("posted %q", got)
	}
	chat.answers(http.StatusTemporaryRedirect, "elsewhere")
	if status, v := postJSON(t, startWithChat(t), testPath, "admin", fmt.Sprintf(`{"webhookUrl":%q}`, chat.webhook("x"))); status != 200 || v["status"] != 307.0 {
		t.Errorf("a redirect: %d %v", status, v)
	}
	if got := chat.taken(); len(got) != 1 {
		t.Errorf("a redirect is followed: %q", got)
	}
}

// The URL of a saved rule is tested by its mask, by who may save that rule.
func TestSavedRuleIsTestedByItsMask(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	if _, err := a.identity.CreateUser(t.Context(), "ada", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "ada", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}); err != nil {
		t.Fatal(err)
	}
	saved := make([]map[string]any, 2)
	for i, sig := range []string{"one", "two"} {
		status, v := postJSON(t, a, "/rest/mtbs/1.0/configuration/filter", "admin", fmt.Sprintf(`{"name":"x","webhookUrl":%q,"eventTypes":["TAG_CREATED"]}`,
			strings.Replace(chat.webhook(sig), "/invoke", "/"+sig, 1)))
		if status != 201 {
			t.Fatalf("%d %v", status, v)
		}
		saved[i] = v
	}
	for _, c := range []struct {
		user, body string
		want       int
	}{
		{"admin", fmt.Sprintf(`{"id":%v,"webhookUrl":%q}`, saved[0]["id"], saved[0]["webhookUrl"]), 200},
		{"admin", fmt.Sprintf(`{"id":%v}`, saved[0]["id"]), 200},
		{"admin", fmt.Sprintf(`{"id":%v,"webhookUrl":"https://chat.example.com/…?sig=••••"}`, saved[0]["id"]), 400}, // another's mask
		{"admin", fmt.Sprintf(`{"webhookUrl":%q}`, saved[0]["webhookUrl"]), 400},
		{"admin", `{"id":99}`, 404},
		{"admin", fmt.Sprintf(`{"webhookUrl":%q,"format":"irc","eventTypes":["NO"]}`, chat.webhook("x")), 400},
		{"ada", fmt.Sprintf(`{"id":%v,"projectKey":"ATL"}`, saved[0]["id"]), 403},
		{"ada", `{"id":99}`, 403},
		{"ada", fmt.Sprintf(`{"webhookUrl":%q}`, chat.webhook("x")), 403},
		{"ada", fmt.Sprintf(`{"projectKey":"PAC","webhookUrl":%q}`, chat.webhook("x")), 403},
		{"ada", fmt.Sprintf(`{"projectKey":"ATL","webhookUrl":%q}`, chat.webhook("x")), 200},
	} {
		status, v := postJSON(t, a, testPath, c.user, c.body)
		posted := len(chat.taken())
		if status != c.want || posted != map[bool]int{true: 1}[c.want == 200] {
			t.Errorf("%s %s: %d, want %d; %d posted; %v", c.user, c.body, status, c.want, posted, v)
		}
	}
}

// Ten a minute for each user, whichever way they are sent.
func TestTestMessagesAreLimited(t *testing.T) {
	a, chat := startWithChat(t), newChatPlatform(t)
	body := fmt.Sprintf(`{"webhookUrl":%q}`, chat.webhook("x"))
	for range 10 {
		if status, v := postJSON(t, a, testPath, "admin", body); status != 200 {
			t.Fatalf("%d %v", status, v)
		}
	}
	if status, v := postJSON(t, a, testPath, "admin", body); status != 429 || len(chat.taken()) != 10 {
		t.Errorf("the eleventh: %d %v", status, v)
	}
	form := url.Values{"do": {"test"}, "connection": {"main"}, "format": {"auto"}, "webhookUrl": {chat.webhook("x")}}
	if status, page := consolePage(t, a, "/notifications/rules/new", form); status != 429 || !strings.Contains(page, "10 test messages within a minute") {
		t.Errorf("by the form: %d %s", status, page)
	}
}

// The form shows the cards of what is ticked and sends a test, without
// JavaScript, and keeps what was typed.
func TestRuleFormShowsCardsAndTests(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	form := url.Values{
		"name": {"Wheels"}, "connection": {"main"}, "format": {"slack"}, "webhookUrl": {chat.webhook("typed")},
		"eventTypes": {"TAG_CREATED", "PULL_REQUEST_OPENED"},
	}
	page := func(do string, want int, texts ...string) {
		t.Helper()
		form.Set("do", do)
		status, body := consolePage(t, a, "/notifications/rules/new", form)
		if status != want {
			t.Errorf("%s: %d %s", do, status, body)
		}
		for _, text := range append(texts, `value="Wheels"`, `class="chat-card slack info"`, "created tag v2.1.0", "opened pull request #12") {
			if !strings.Contains(body, text) {
				t.Errorf("%s: the page does not say %q: %s", do, text, body)
			}
		}
	}
	page("show", 200)
	page("test", 200, "answered the test message with 202 Accepted")
	chat.answers(500, `{"error":{"code":"OutOfOrder","message":"Out of order."}}`)
	page("test", 200, "did not get through. The chat platform answered 500 Internal Server Error: OutOfOrder: Out of order.")
	form.Set("webhookUrl", "")
	page("test", 400, "Give the whole webhook URL")
	status, part := consolePage(t, a, "/notifications/rules/cards", url.Values{"eventTypes": {"TAG_CREATED"}, "format": {"auto"}, "webhookUrl": {"https://hooks.slack.com"}})
	if status != 200 || !strings.Contains(part, `chat-card slack`) || strings.Contains(part, "<html") {
		t.Errorf("the part: %d %s", status, part)
	}
	if got := chat.taken(); len(got) != 2 {
		t.Errorf("%d test messages", len(got))
	}
}

// The list of rules says what became of each rule's last message, and sends a
// test message of one.
func TestRuleListTestsAndSaysWhatWasSentLast(t *testing.T) {
	a, chat := startWithChat(t), newChatPlatform(t)
	status, v := postJSON(t, a, "/rest/mtbs/1.0/configuration/filter", "admin",
		fmt.Sprintf(`{"name":"Wheels","webhookUrl":%q,"format":"slack","eventTypes":["TAG_CREATED"]}`, chat.webhook("x")))
	if status != 201 {
		t.Fatalf("%d %v", status, v)
	}
	if _, list := consolePage(t, a, "/notifications/rules", nil); !strings.Contains(list, `data-label="Last message"><span class="quiet">none`) {
		t.Errorf("a rule without messages: %s", list)
	}
	test := fmt.Sprintf("/notifications/rules/%v/test", v["id"])
	if status, _ := consolePage(t, a, test, url.Values{}); status != http.StatusSeeOther {
		t.Errorf("the test answers %d", status)
	}
	if got := chat.taken(); len(got) != 1 || !strings.Contains(got[0], "Test: Ada Lovelace created tag v2.1.0") || !strings.Contains(got[0], `"blocks"`) {
		t.Errorf("posted %q", got)
	}
	hooked(t, a, "repo:refs_changed", `{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
		"actor":{"name":"ada","displayName":"Ada Lovelace"},
		"repository":{"slug":"canoe","name":"canoe","project":{"key":"ATL","name":"Atlantic"}},
		"changes":[{"ref":{"id":"refs/tags/v1","displayId":"v1","type":"TAG"},"refId":"refs/tags/v1",
			"fromHash":"0000000000000000000000000000000000000000","toHash":"2222222222222222222222222222222222222222","type":"ADD"}]}`)
	_, list := consolePage(t, a, "/notifications/rules", nil)
	want := fmt.Sprintf(`data-label="Last message"><a href="/notifications/deliveries?rule=%v"><time `, v["id"])
	if !strings.Contains(list, want) {
		t.Errorf("the list does not say %q: %s", want, list)
	}
}
