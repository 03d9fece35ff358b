package app

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"outrigger/internal/identity/identitytest"
	"outrigger/internal/playground/playgroundtest"
)

var newToken = url.Values{"name": {"ci"}, "scope": {"all"}, "days": {"30"}}

// waiting posts newToken, and returns what the page that asks who is there keeps of it.
func (b *person) waiting() url.Values {
	b.t.Helper()
	_, _, page := b.send("POST", "/account/tokens/new", newToken)
	kept := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		kept.Set(m[1], html.UnescapeString(m[2]))
	}
	if kept.Get("confirm-post") != "true" || kept.Get("name") != newToken.Get("name") {
		b.t.Fatalf("nothing waits: %v in %s", kept, page)
	}
	return kept
}

// withToken is what waits, and what is entered on the page.
func (b *person) withToken(name, value string) url.Values {
	b.t.Helper()
	form := b.waiting()
	form.Set(name, value)
	return form
}

// mustUseApp sets an authenticator app up on the pages of the account.
func (b *person) mustUseApp(clock *identitytest.Clock) identitytest.App {
	b.t.Helper()
	_, at, body := b.send("GET", "/account/second-factor/app", nil)
	shown := regexp.MustCompile(`data-copy="([A-Z2-7 ]+)"`).FindStringSubmatch(body)
	if shown == nil {
		b.t.Fatalf("%s shows no app: %s", at, body)
	}
	phone := identitytest.App{Secret: strings.ReplaceAll(shown[1], " ", "")}
	code, err := phone.Code(0, clock.Now)
	if err != nil {
		b.t.Fatal(err)
	}
	status, _, body := b.send("POST", "/account/second-factor/app", url.Values{"code": {code}})
	if status != 200 || !strings.Contains(body, "not shown again") {
		b.t.Fatalf("the app is not set up: %d %s", status, body)
	}
	return phone
}

// confirmsBy shows the app's next code where a token for everything is asked for.
func (b *person) confirmsBy(phone identitytest.App, clock *identitytest.Clock) {
	b.t.Helper()
	clock.Move(10 * time.Minute)
	if _, _, body := b.send("POST", "/account/tokens/new", newToken); !strings.Contains(body, `name="confirm-code"`) || strings.Contains(body, `name="confirm-once"`) {
		b.t.Errorf("no code of the app is asked for: %s", body)
	}
	code, err := phone.Code(0, clock.Now)
	if err != nil {
		b.t.Fatal(err)
	}
	if status, _, body := b.send("POST", "/confirm", b.withToken("confirm-code", code)); status != 200 || !strings.Contains(body, "otr_") {
		b.t.Errorf("confirmed by the app: %d %s", status, body)
	}
}

// Whose provider does not say when users sign in enters a code of an administrator,
// sets up a second factor and confirms with that; the code does nothing else.
func TestACodeWhereTheProviderSaysNothing(t *testing.T) {
	t.Parallel()
	w := newSignOnWorld(t)
	a := w.run(w.cfg)
	w.provider.SetLie(playgroundtest.NoAuthTime)
	b := w.visitor()
	w.signIn(b, "s-ann", "/")
	if status, _, body := b.send("POST", w.url+"/account/tokens/new", newToken); status != 200 || !strings.Contains(body, `name="confirm-once"`) || !strings.Contains(body, "outrigger users confirm --local oidc:ann") {
		t.Errorf("no code is asked for: %d %s", status, body)
	}
	if status, _, body := b.send("POST", w.url+"/confirm", b.withToken("confirm-once", "AAAA-BBBB-CCCC-DDDD")); status != 401 || !strings.Contains(body, "Ask for another one") || strings.Contains(body, "AAAA-BBBB") {
		t.Errorf("a wrong code: %d %s", status, body)
	}
	code, _, err := a.identity.MakeConfirmCode(t.Context(), "oidc:ann")
	if err != nil {
		t.Fatal(err)
	}
	if status, at, body := b.send("POST", w.url+"/confirm", b.withToken("confirm-once", code.Reveal())); status != 200 || at.Path != "/account/second-factor" || !strings.Contains(body, "up to your provider") {
		t.Errorf("the code: %d %s %s", status, at, body)
	}
	if _, _, body := b.send("POST", w.url+"/account/tokens/new", newToken); strings.Contains(body, "otr_") {
		t.Error("a token is made by the code alone")
	}
	phone := b.mustUseApp(w.clock)
	b.confirmsBy(phone, w.clock)
	// Signing in stays the provider's.
	if _, _, body := w.signIn(w.visitor(), "s-ann", "/"); strings.Contains(body, "six digits") {
		t.Errorf("signing in asks for the app: %s", body)
	}
}

// Who signed in on the platform's pages confirms with the password there, or with a
// second factor here.
func TestConfirmedAfterThePlatformsPages(t *testing.T) {
	t.Parallel()
	w, _ := newPlatformWorld(t)
	w.run(w.cfg)
	b := w.visitor()
	w.enter(b, "ann", "allow")
	if _, _, body := b.send("POST", w.url+"/account/tokens/new", newToken); !strings.Contains(body, "Password on main") || strings.Contains(body, "otr_") {
		t.Errorf("a session that nothing confirmed: %s", body)
	}
	if status, _, body := b.send("POST", w.url+"/confirm", b.withToken("confirm-password", "another password")); status != 401 || strings.Contains(body, "otr_") {
		t.Errorf("a wrong password: %d %s", status, body)
	}
	if status, _, body := b.send("POST", w.url+"/confirm", b.withToken("confirm-password", "ann on the platform")); status != 200 || !strings.Contains(body, "otr_") {
		t.Errorf("the password there: %d %s", status, body)
	}
	b.confirmsBy(b.mustUseApp(w.clock), w.clock)
}
