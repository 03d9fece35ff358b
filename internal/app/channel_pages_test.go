package app

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

const channelPages = "/notifications/channels"

// madeChannel makes a channel as the administrator and returns its id and fingerprint.
func madeChannel(t *testing.T, a *App, name, webhookURL string) (id int64, fingerprint string) {
	t.Helper()
	status, answer := put(t, a, http.MethodPost, mtbs+"/channels", fmt.Sprintf(`{"name":%q,"webhookUrl":%q}`, name, webhookURL))
	var made struct {
		ID      int64
		Channel string
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != http.StatusCreated {
		t.Fatalf("making a channel: %d %s", status, answer)
	}
	return made.ID, made.Channel
}

// visit asks for a page of the console as a user who is signed in, or posts a form.
func visit(t *testing.T, a *App, session, path string, form url.Values) (status int, location, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+path, nil)
	if form != nil {
		r, err = http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL()+path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Location"), html.UnescapeString(string(text))
}

// A channel has one page, whatever names it: the fingerprints of its webhook URL and of
// former ones lead there.
func TestAChannelHasOneAddress(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	session := signedIn(t, a, "admin")
	var names []string
	id, first := madeChannel(t, a, "Releases", chat.webhook("first"))
	one := fmt.Sprintf("%s/%d", channelPages, id)
	for _, sig := range []string{"second", "third"} {
		status, answer := put(t, a, http.MethodPut, fmt.Sprintf("%s/channels/%d", mtbs, id), fmt.Sprintf(`{"webhookUrl":%q}`, chat.webhook(sig)))
		var replaced struct{ Channel string }
		if err := json.Unmarshal([]byte(answer), &replaced); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		names = append(names, replaced.Channel)
	}
	for _, name := range append(names, first) {
		if status, to, _ := visit(t, a, session, channelPages+"/"+name, nil); status != http.StatusSeeOther || to != one {
			t.Errorf("%s: %d to %q", name, status, to)
		}
	}
	if status, _, body := visit(t, a, session, one, nil); status != http.StatusOK || !strings.Contains(body, "<h1>Releases") {
		t.Errorf("%d %s", status, body)
	}
}

// Who wants the webhook URL of another channel is told at the field which one has it,
// and those who may not choose that one hear no name.
func TestAWebhookURLThatAnotherChannelHas(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	madeChannel(t, a, "Releases", chat.webhook("taken"))
	if _, err := a.identity.CreateUser(t.Context(), "pam", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "pam", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}); err != nil {
		t.Fatal(err)
	}
	status, v := postJSON(t, a, filters, "pam", fmt.Sprintf(`{"name":"own","projectKey":"ATL","eventTypes":["TAG_CREATED"],"webhookUrl":%q}`, chat.webhook("own")))
	if status != http.StatusCreated {
		t.Fatal(status, v)
	}
	own := fmt.Sprintf("%s/2/replace", channelPages)
	for user, want := range map[string]string{"admin": "The channel “Releases” has this webhook URL already.", "pam": "Another channel that you may not choose has this webhook URL."} {
		status, _, body := visit(t, a, signedIn(t, a, user), own, url.Values{"version": {"1"}, "webhookUrl": {chat.webhook("taken")}, "which": {"all"}})
		if at := strings.Index(body, `id="f-webhookUrl-error"`); status != http.StatusBadRequest || at < 0 || !strings.Contains(body[at:at+300], want) {
			t.Errorf("%s: %d %s", user, status, body)
		}
		if !strings.Contains(body, chat.webhook("taken")) || user == "pam" && strings.Contains(body, "Releases") {
			t.Errorf("%s: what was typed is gone, or the other channel is named: %s", user, body)
		}
	}
	if got := chat.taken(); len(got) > 0 {
		t.Errorf("a test message went to the other channel: %q", got)
	}
}

// Who administers one of three rules of a channel sees why neither test nor replacement
// is theirs, and is refused both.
func TestAChannelWithRulesOfOthers(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	for _, project := range []string{"ATL", "PAC", "IND"} {
		status, v := postJSON(t, a, filters, "admin", fmt.Sprintf(`{"name":"of %s","projectKey":%q,"eventTypes":["TAG_CREATED"],"webhookUrl":%q}`, project, project, chat.webhook("all")))
		if status != http.StatusCreated {
			t.Fatal(status, v)
		}
	}
	if _, err := a.identity.CreateUser(t.Context(), "pam", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "pam", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}); err != nil {
		t.Fatal(err)
	}
	session, one := signedIn(t, a, "pam"), channelPages+"/1"
	status, _, page := visit(t, a, session, one, nil)
	wants(t, "the channel's page", page, "2 of the 3 rules and reports of this channel are not yours to administer", "so you cannot test or change it", "of ATL")
	for _, hidden := range []string{"of PAC", one + "/replace", one + "/test", "Save channel"} {
		if strings.Contains(page, hidden) {
			t.Errorf("%d: the page has %q", status, hidden)
		}
	}
	_, _, page = visit(t, a, session, channelPages, nil)
	wants(t, "the list", page, `<a class="note" href="`+one+`">and 2 more<span class="unseen"> that use `)
	if status, to, _ := visit(t, a, session, one+"/replace", nil); status != http.StatusSeeOther || to != one {
		t.Errorf("asking for the form: %d to %q", status, to)
	}
	for path, form := range map[string]url.Values{
		one + "/replace": {"webhookUrl": {chat.webhook("mine")}}, one + "/test": {}, one + "/retry": {"which": {"none"}}, one: {"name": {"Mine"}},
	} {
		if status, _, body := visit(t, a, session, path, form); status != http.StatusForbidden || !strings.Contains(body, "2 of the 3 rules and reports") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if got := chat.taken(); len(got) > 0 {
		t.Errorf("posted %q", got)
	}
}

// A channel that was chosen in an open form and deleted meanwhile is said at its field,
// and what was typed stays.
func TestAChannelThatIsDeletedWhileAFormIsOpen(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	madeChannel(t, a, "Others", chat.webhook("others"))
	id, _ := madeChannel(t, a, "Releases", chat.webhook("releases"))
	session := signedIn(t, a, "admin")
	if status, answer := put(t, a, http.MethodDelete, fmt.Sprintf("%s/channels/%d", mtbs, id), ""); status != http.StatusNoContent {
		t.Fatal(status, answer)
	}
	for path, form := range map[string]url.Values{
		"/notifications/rules/new": {
			"name": {"Typed name"}, "connection": {"main"}, "channel": {fmt.Sprint(id)}, "format": {"auto"}, "eventTypes": {"TAG_CREATED"}, "branchMask": {"v.*"}, "enabled": {"true"},
		},
		reportPages + "/new": {
			"name": {"Typed name"}, "connection": {"main"}, "repository": {"ATL/rocket"}, "channel": {fmt.Sprint(id)}, "format": {"auto"}, "inactivityDays": {"7"}, "frequency": {"DAILY"},
			"day": {"MONDAY"}, "time": {"09:00"}, "timeZone": {"Europe/Berlin"}, "enabled": {"true"},
		},
	} {
		status, _, body := visit(t, a, session, path, form)
		at := strings.Index(body, `id="f-channel-error"`)
		if status != http.StatusBadRequest || at < 0 || !strings.Contains(body[at:at+200], "This channel was deleted") {
			t.Errorf("%s: %d %s", path, status, body)
		}
		wants(t, path, body, `value="Typed name"`, fmt.Sprintf(`name="channel" value="%d"`, id))
	}
}

// Who saves late reads in the words of the page who changed what, keeps the input, and
// replaces that by sending it again.
func TestWhoSavesAChannelLate(t *testing.T) {
	t.Parallel()
	a, chat := startWithChat(t), newChatPlatform(t)
	id, _ := madeChannel(t, a, "Releases", chat.webhook("a"))
	session, one := signedIn(t, a, "admin"), fmt.Sprintf("%s/%d", channelPages, id)
	if status, answer := put(t, a, http.MethodPut, fmt.Sprintf("%s/channels/%d", mtbs, id), fmt.Sprintf(`{"name":"Builds","webhookUrl":%q}`, chat.webhook("b"))); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	for path, form := range map[string]url.Values{
		one: {"name": {"Tags"}, "format": {"auto"}}, one + "/replace": {"webhookUrl": {chat.webhook("c")}, "which": {"all"}},
	} {
		form.Set("version", "2")
		status, _, body := visit(t, a, session, path, form)
		wants(t, path, body, "admin changed this channel (Name, Webhook URL) while you edited it. Your input is kept and not saved yet.")
		version := between(body, `name="version" value="`, `"`)
		if status != http.StatusConflict || version == "2" || strings.Contains(body, "webhookUrl at ") {
			t.Errorf("%s: %d, version %s: %s", path, status, version, body)
		}
		form.Set("version", version)
		if status, to, body := visit(t, a, session, path, form); status != http.StatusSeeOther || to != one {
			t.Errorf("%s, sent again: %d %s", path, status, body)
		}
	}
}

// between is what stands in a text between two others.
func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}
