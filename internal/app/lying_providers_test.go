package app

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/playgroundtest"
)

// A provider that lies or fails signs no user in, and its words are on no page.
func TestLyingProviders(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t)
	a := w.run(w.cfg)
	fail := func(name string, wantStatus int, sent string) {
		t.Helper()
		b := w.visitor()
		location := ""
		if sent == "" {
			location = w.callback(b, w.leave(b, "/"), "s-ann")
		} else {
			location = w.url + sent
		}
		status, at, body := b.send("GET", location, nil)
		if status != wantStatus || !strings.HasPrefix(at.Path, "/sign-in/oidc") || !strings.Contains(body, `name="password"`) {
			t.Errorf("%s: %d %s: %s", name, status, at, body)
		}
		if strings.Contains(body, "evil.example") || strings.Contains(body, "<script>alert") {
			t.Errorf("%s: the provider's words are shown: %s", name, body)
		}
		if w.signedIn(b) != "" {
			t.Errorf("%s: signed in", name)
		}
	}
	for _, lie := range []playgroundtest.Lie{
		playgroundtest.WrongNonce, playgroundtest.NoNonce, playgroundtest.WrongAudience, playgroundtest.WrongIssuer, playgroundtest.OtherParty, playgroundtest.ManyAudiences, playgroundtest.Expired, playgroundtest.NotYet, playgroundtest.Ahead, playgroundtest.OtherSender,
		playgroundtest.Unsigned, playgroundtest.SignedBySecret, playgroundtest.OtherKey, playgroundtest.UnknownKey, playgroundtest.Altered, playgroundtest.NoIDToken, playgroundtest.NotAToken, playgroundtest.NoSubject, playgroundtest.WrongAccessHash,
	} {
		w.provider.SetLie(lie)
		fail(string(lie), 401, "")
	}
	w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}})
	w.provider.SetLie(playgroundtest.OtherUserInfo)
	fail(string(playgroundtest.OtherUserInfo), 401, "")
	w.provider.SetLie("")
	for kind, status := range map[playgroundtest.Kind]int{
		playgroundtest.Broken: 503, playgroundtest.Proxied: 503, playgroundtest.Garbling: 503, playgroundtest.Chattering: 503, playgroundtest.Redirecting: 503, playgroundtest.Dropping: 503, playgroundtest.Missing: 401,
		playgroundtest.Refusing: 401, playgroundtest.Throttling: 503,
	} {
		w.provider.SetFault("POST /token", playgroundtest.Fault{Kind: kind})
		fail("token "+string(kind), status, "")
	}
	w.provider.SetFault("POST /token", playgroundtest.Fault{})
	for _, refusal := range []string{"access_denied", "server_error", "<script>alert(1)</script>"} {
		w.provider.SetRefusal(refusal)
		b := w.visitor()
		status, at, body := b.send("GET", w.url+"/sign-in/oidc", nil)
		if status != 401 || at.Path != "/sign-in/oidc/callback" || !strings.Contains(body, `name="password"`) || strings.Contains(body, "evil.example") || strings.Contains(body, "<script>alert") {
			t.Errorf("%s: %d %s: %s", refusal, status, at, body)
		}
	}
	w.provider.SetRefusal("")
	for _, claims := range []map[string]any{
		{}, {"preferred_username": ""}, {"preferred_username": 7}, {"preferred_username": nil}, {"preferred_username": "local:admin"}, {"preferred_username": " ann"},
		{"preferred_username": "a\x00b"}, {"preferred_username": strings.Repeat("a", 256)}, {"preferred_username": "аdmin"}, // its first letter is Cyrillic
	} {
		w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: claims})
		fail("claims", 401, "")
	}
	for name, at := range map[string]any{"tomorrow": w.clock.Now().Add(24 * time.Hour).Unix(), "in two minutes": w.clock.Now().Add(2 * time.Minute).Unix()} {
		w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann", "auth_time": at}})
		fail("auth_time "+name, 401, "")
	}
	w.clock.Move(time.Hour) // the configuration is asked for again, and the one before stays
	w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: map[string]any{"preferred_username": "ann"}})
	w.provider.SetFault("openid-configuration", playgroundtest.Fault{Kind: playgroundtest.Broken})
	b := w.visitor()
	if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "ann" {
		t.Errorf("after all of that: %s", body)
	}
	if users, err := a.identity.Users(t.Context(), "", 10); err != nil || len(users) != 2 {
		t.Errorf("%+v, %v", users, err)
	}
}

// A provider that does not say when the user signed in there, or nothing usable, signs
// users in, and their sessions are not confirmed by it: neither at once nor when it is
// asked again, whose refusal names the claim.
func TestAuthTimesThatConfirmNothing(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t)
	w.run(w.cfg)
	now := w.clock.Now()
	token := url.Values{"name": {"ci"}, "scope": {"all"}, "days": {"30"}}
	for _, c := range []struct {
		name  string
		lie   playgroundtest.Lie
		at    any
		again string // what the refusal says
	}{
		{"none", playgroundtest.NoAuthTime, nil, "no usable claim auth_time"},
		{"null", "", nil, "no usable claim auth_time"},
		{"a date", "", "2026-11-23T12:00:00Z", "no usable claim auth_time"},
		{"seconds in quotes", "", strconv.FormatInt(now.Unix(), 10), "no usable claim auth_time"},
		{"negative", "", -now.Unix(), "no usable claim auth_time"},
		{"zero", "", 0, "no usable claim auth_time"},
		{"milliseconds", "", now.UnixMilli(), "no usable claim auth_time"},
		{"a list", "", []int64{now.Unix()}, "no usable claim auth_time"},
		{"true", "", true, "no usable claim auth_time"},
		{"an hour ago, max_age or not", "", now.Add(-time.Hour).Unix(), "auth_time) is from before"},
		{"ten minutes before it was asked again", "", now.Add(-10 * time.Minute).Unix(), "auth_time) is from before"},
	} {
		w.provider.SetLie(c.lie)
		claims := map[string]any{"preferred_username": "ann", "auth_time": c.at}
		if c.lie != "" {
			delete(claims, "auth_time")
		}
		w.provider.SetAccount(openid.Account{Subject: "s-ann", Claims: claims})
		b := w.visitor()
		if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "ann" {
			t.Errorf("%s: not signed in: %s", c.name, body)
		}
		if status, _, body := b.send("POST", w.url+"/account/tokens/new", token); strings.Contains(body, "otr_") || !strings.Contains(body, "Confirm that it is you") {
			t.Errorf("%s: a token is made: %d %s", c.name, status, body)
		}
		_, at, _ := b.send("GET", w.url+"/sign-in/oidc?again=true&to=%2F", nil)
		status, _, body := b.send("GET", w.callback(b, at.String(), "s-ann"), nil)
		if status != 401 || !strings.Contains(body, c.again) {
			t.Errorf("%s, asked again: %d %s", c.name, status, body)
		}
		if _, _, body := b.send("POST", w.url+"/account/tokens/new", token); strings.Contains(body, "otr_") {
			t.Errorf("%s: a token is made after asking again", c.name)
		}
	}
}

// A provider that is away when the server starts does not keep it from starting,
// and works when it is back.
func TestProviderThatIsAway(t *testing.T) {
	w := newSignOnWorld(t)
	w.run(w.cfg)
	for _, kind := range []playgroundtest.Kind{playgroundtest.Broken, playgroundtest.Dropping, playgroundtest.Proxied, playgroundtest.Garbling, playgroundtest.Chattering, playgroundtest.Redirecting} {
		w.provider.SetFault("", playgroundtest.Fault{Kind: kind})
		w.clock.Move(5 * time.Second)
		status, at, body := w.visitor().send("GET", w.url+"/sign-in/oidc", nil)
		if status != 503 || at.Path != "/sign-in/oidc" || !strings.Contains(body, "No usable answer comes from the company.") || !strings.Contains(body, `name="password"`) || strings.Contains(body, "evil.example") {
			t.Errorf("%s: %d %s: %s", kind, status, at, body)
		}
	}
	w.provider.SetFault("", playgroundtest.Fault{})
	asked := w.provider.Asked("openid-configuration")
	if status, _, _ := w.visitor().send("GET", w.url+"/sign-in/oidc", nil); status != 503 || w.provider.Asked("openid-configuration") != asked {
		t.Errorf("asked again at once: %d", status)
	}
	for _, lie := range []playgroundtest.Lie{playgroundtest.OtherDiscovery, playgroundtest.NoKeys} {
		w.provider.SetLie(lie)
		w.clock.Move(5 * time.Second)
		if status, _, body := w.visitor().send("GET", w.url+"/sign-in/oidc", nil); status != 503 {
			t.Errorf("%s: %d %s", lie, status, body)
		}
	}
	w.provider.SetLie(playgroundtest.PlainEndpoints)
	w.clock.Move(5 * time.Second)
	b := w.visitor()
	if status, _, body := w.signIn(b, "s-ann", "/"); status != 503 || w.signedIn(b) != "" {
		t.Errorf("an endpoint of another machine's: %d %s", status, body)
	}
	w.provider.SetLie("")
	w.clock.Move(time.Hour)
	if _, _, body := w.signIn(b, "s-ann", "/"); w.signedIn(b) != "ann" {
		t.Errorf("back again: %s", body)
	}
	w.provider.RotateKey()
	if _, _, body := w.signIn(w.visitor(), "s-ann", "/"); !strings.Contains(body, "ann") {
		t.Errorf("with a new key: %s", body)
	}
}
