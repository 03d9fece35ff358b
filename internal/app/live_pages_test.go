package app

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// liveList is the live stream of a page.
type liveList struct {
	t      *testing.T
	status int
	lines  *bufio.Reader
}

func stream(t *testing.T, a *App, session, path string) *liveList {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", a.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return &liveList{t, answer.StatusCode, bufio.NewReader(answer.Body)}
}

// next is the next state of the page's list; "" when the stream ended.
func (f *liveList) next() string {
	f.t.Helper()
	var html strings.Builder
	for {
		line, err := f.lines.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == "\n" && html.Len() > 0 {
			return html.String()
		}
		html.WriteString(strings.TrimPrefix(line, "data: "))
	}
}

// says fails unless the next state has all of these texts, and none of those with
// a "-" in front.
func (f *liveList) says(texts ...string) {
	f.t.Helper()
	html := f.next()
	for _, text := range texts {
		if text, no := strings.CutPrefix(text, "-"); strings.Contains(html, text) == no {
			f.t.Errorf("%q is there: %t; %s", text, !no, html)
		}
	}
}

// The lists of deliveries and events follow what comes, each for who may see it,
// and filtered as they are.
func TestLiveLists(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	sessions := map[string]string{}
	for name, project := range map[string]string{"admin": "", "ana": "ATL", "bob": "PAC"} {
		if project != "" {
			if _, err := a.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
				t.Fatal(err)
			}
			if _, err := a.identity.Grant(t.Context(), name, identity.ProjectAdmin, identity.Resource{Connection: "main", Project: project}); err != nil {
				t.Fatal(err)
			}
		}
		session, _, err := a.identity.SignIn(t.Context(), name, password, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		sessions[name] = session
	}
	project := makeRule(t, a, `"name":"branches","eventTypes":["BRANCH_UPDATED"],"projectKey":"ATL","branchMask":"main"`)
	const deliveries, events = "/notifications/deliveries/live", "/notifications/events/live"

	all, own, others := stream(t, a, sessions["admin"], events), stream(t, a, sessions["ana"], events), stream(t, a, sessions["bob"], events)
	taken, none := stream(t, a, sessions["admin"], events+"?outcome=taken"), stream(t, a, sessions["ana"], deliveries+"?state=delivered&rule="+project)
	messages := stream(t, a, sessions["ana"], deliveries)
	for _, f := range []*liveList{all, own, others} {
		f.says("No events")
	}
	taken.says("No matching events")
	none.says("No matching deliveries")
	messages.says("No deliveries")

	pushed(t, a, "side")
	all.says("canoe · side", `data-row="1"`, "no rule took it")
	own.says("canoe · side")
	pushed(t, a, "main")
	all.says("canoe · side", "canoe · main", `data-row="2"`, "taken by 1 rule")
	own.says("canoe · side", "canoe · main", "taken by 1 rule")
	taken.says("-canoe · side", "canoe · main")
	messages.says("canoe · main", `data-row="1"`, "-canoe · side")

	if err := a.identity.SignOut(t.Context(), sessions["bob"]); err != nil {
		t.Fatal(err)
	}
	if html := others.next(); html != "" {
		t.Errorf("an administrator of another project was told of these events, or is still after signing out: %s", html)
	}
	if f := stream(t, a, sessions["ana"], events+"?place=main/PAC"); f.status != http.StatusForbidden {
		t.Errorf("the events of another project: %d", f.status)
	}
	if f := stream(t, a, "", deliveries); f.status != http.StatusSeeOther {
		t.Errorf("without a session: %d", f.status)
	}
	ana, err := a.identity.User(t.Context(), "ana")
	if err != nil || len(ana.Grants) != 1 {
		t.Fatal(ana, err)
	}
	if err := a.identity.Revoke(t.Context(), "ana", ana.Grants[0].ID); err != nil {
		t.Fatal(err)
	}
	if html := own.next(); html != "" {
		t.Errorf("the stream goes on after the grant was revoked: %s", html)
	}
}

// Only the newest page follows what comes; pages of older rows are as they are.
func TestOlderPagesAreNotLive(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	makeRule(t, a, `"name":"branches","eventTypes":["BRANCH_UPDATED"]`)
	pushed(t, a, "main")
	for _, list := range []string{"/notifications/deliveries", "/notifications/events"} {
		if _, body := consolePage(t, a, list+"?since=1h", nil); !strings.Contains(body, `data-live="`+list+`/live?since=1h" data-live-list="`) {
			t.Errorf("%s is not live: %s", list, body)
		}
		if _, body := consolePage(t, a, list+"?after=2", nil); strings.Contains(body, "data-live=") || !strings.Contains(body, "canoe · main") {
			t.Errorf("an older page of %s is live, or empty: %s", list, body)
		}
	}
}
