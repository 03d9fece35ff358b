package app

import (
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/playground/openid"
)

// shows has the provider say when ann signed in there.
func (w *signOnWorld) shows(at int64) {
	w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "auth_time": at}})
}

// askAgain begins to confirm a session with the provider, and gives its page.
func (w *signOnWorld) askAgain(b *person) string {
	w.t.Helper()
	_, at, _ := b.send("GET", w.url+"/sign-in/oidc?again=true&to=%2Faccount%2Ftokens", nil)
	return at.String()
}

// makesToken reports whether the browser's session is confirmed.
func (b *person) makesToken() bool {
	b.t.Helper()
	_, _, body := b.send("POST", "/account/tokens/new", newToken)
	return strings.Contains(body, "otr_")
}

// The time of a sign-in that was asked for counts in whole seconds, and may be 60 s
// off in either direction.
func TestAuthTimesAtTheTolerance(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t)
	w.run(w.cfg)
	for _, c := range []struct {
		name  string
		after int64 // seconds after it was asked for
		says  string
	}{
		{"61 s before", -61, "auth_time) is from before"},
		{"60 s before", -60, ""},
		{"that second", 0, ""},
		{"in 60 s", 60, ""},
		{"in 61 s", 61, "auth_time) is in the future"},
		{"tomorrow", 24 * 60 * 60, "auth_time) is in the future"},
	} {
		for sameSecond := false; !sameSecond; {
			w.shows(w.clock.Now().Add(-time.Hour).Unix())
			b := w.visitor()
			w.signIn(b, "s-ann", "/")
			began := w.clock.Now().Unix()
			location := w.askAgain(b)
			w.shows(began + c.after)
			status, _, body := b.send("GET", w.callback(b, location, "s-ann"), nil)
			if sameSecond = w.clock.Now().Unix() == began; !sameSecond {
				continue
			}
			if refused := c.says != ""; (status == 401) != refused || !strings.Contains(body, c.says) {
				t.Errorf("%s: %d %s", c.name, status, body)
			}
			if b.makesToken() != (c.says == "") {
				t.Errorf("%s: the session is confirmed, or is not", c.name)
			}
		}
	}
}

// Asking again confirms the user of the session, and no other account at the provider
// takes its place. A form that waits goes on for the user who filled it in only.
func TestAskingAgainConfirmsTheSameUser(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t)
	w.run(w.cfg)
	w.shows(w.clock.Now().Add(-time.Hour).Unix())
	b := w.visitor()
	w.signIn(b, "s-ann", "/")
	waits := b.waiting()
	location := w.askAgain(b)
	status, _, body := b.send("GET", w.callback(b, location, "s-bob"), nil)
	if status != 401 || !strings.Contains(body, "You are signed in to Outrigger as oidc:ann, and signed in with the company as oidc:bob.") {
		t.Errorf("as another user: %d %s", status, body)
	}
	if w.signedIn(b) != "ann" || b.makesToken() {
		t.Error("the session is another, or confirmed")
	}
	// Bob signs in in another window of the browser.
	b.send("POST", "/sign-out", url.Values{})
	if w.signIn(b, "s-bob", "/"); w.signedIn(b) != "bob" || !b.makesToken() {
		t.Fatal("bob is not signed in")
	}
	if status, _, body := b.send("POST", "/confirm", waits); status != 409 || !strings.Contains(body, "filled in this form") || strings.Contains(body, "otr_") {
		t.Errorf("what ann filled in: %d %s", status, body)
	}
	b.send("POST", "/sign-out", url.Values{})
	w.signIn(b, "s-ann", "/")
	location = w.askAgain(b)
	w.shows(w.clock.Now().Unix())
	b.send("GET", w.callback(b, location, "s-ann"), nil)
	if status, _, body := b.send("POST", "/confirm", waits); status != 200 || !strings.Contains(body, "otr_") {
		t.Errorf("what ann filled in, by ann: %d %s", status, body)
	}
}

// Browsers that ask again at once each count from their own asking, and neither ends
// what another began.
func TestBrowsersThatAskAgainAtOnce(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t)
	w.run(w.cfg)
	w.shows(w.clock.Now().Add(-time.Hour).Unix())
	browsers := make([]*person, 4)
	for i := range browsers {
		browsers[i] = w.visitor()
		w.signIn(browsers[i], "s-ann", "/")
	}
	early, late := w.askAgain(browsers[0]), ""
	w.clock.Move(5 * time.Minute)
	late = w.askAgain(browsers[1])
	w.shows(w.clock.Now().Add(-3 * time.Minute).Unix())
	status, _, body := browsers[1].send("GET", w.callback(browsers[1], late, "s-ann"), nil)
	if status != 401 || !strings.Contains(body, "auth_time) is from before") || browsers[1].makesToken() {
		t.Errorf("the later one, by a sign-in before it asked: %d %s", status, body)
	}
	foreign := w.callback(browsers[0], early, "s-ann")
	if browsers[2].send("GET", foreign, nil); browsers[2].makesToken() {
		t.Error("a browser is confirmed by the answer to another")
	}
	if browsers[0].send("GET", foreign, nil); !browsers[0].makesToken() {
		t.Error("the earlier one is not confirmed by a sign-in after it asked")
	}
	w.clock.Move(10 * time.Minute)
	var all sync.WaitGroup
	for _, b := range browsers {
		all.Go(func() {
			location := w.askAgain(b)
			w.shows(w.clock.Now().Unix())
			b.send("GET", w.callback(b, location, "s-ann"), nil)
		})
	}
	all.Wait()
	for i, b := range browsers {
		if !b.makesToken() {
			t.Errorf("browser %d of those at once is not confirmed", i)
		}
	}
}
