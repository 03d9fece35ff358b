package account

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"outrigger/internal/identity/passkeytest"
)

// browser keeps cookies, as the site's own helpers do not.
type browser struct {
	*site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{s, map[string]string{}} }

// send asks for a page and follows what it is told, as browsers do.
func (b *browser) send(path string, form url.Values) (*httptest.ResponseRecorder, string) {
	b.t.Helper()
	method, body := "GET", ""
	if form != nil {
		method, body = "POST", form.Encode()
	}
	for range 5 {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for name, value := range b.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		for _, c := range w.Result().Cookies() {
			if c.MaxAge < 0 {
				delete(b.cookies, c.Name)
			} else {
				b.cookies[c.Name] = c.Value
			}
		}
		if w.Code != http.StatusSeeOther && w.Code != http.StatusTemporaryRedirect {
			return w, path
		}
		if path = w.Header().Get("Location"); w.Code == http.StatusSeeOther {
			method, body = "GET", ""
		}
	}
	b.t.Fatal("sent on and on")
	return nil, ""
}

// at sends and holds the answer to a page, a status and texts.
func (b *browser) at(page string, status int, path string, form url.Values, texts ...string) string {
	b.t.Helper()
	w, got := b.send(path, form)
	if got != page {
		b.t.Errorf("%s leads to %s, want %s", path, got, page)
	}
	b.wants(w, status, texts...)
	return html.UnescapeString(w.Body.String())
}

// hidden are the hidden fields of the form that posts to a path.
func hidden(body, action string) url.Values {
	form := url.Values{}
	at := strings.Index(body, `action="`+action+`"`)
	if at < 0 {
		return form
	}
	end := strings.Index(body[at:], "</form>")
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?`).FindAllStringSubmatch(body[at:at+end], -1) {
		form.Add(m[1], m[2])
	}
	return form
}

func (s *site) code(secret string) string {
	s.t.Helper()
	code, err := totp.GenerateCode(secret, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	return code
}

func TestSetUpAnAppAndSignInWithIt(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.at("/account/tokens", 200, "/sign-in", url.Values{"user": {"ada"}, "password": {adaPassword}, "to": {"/account/tokens"}})
	b.at("/account/second-factor", 200, "/account/second-factor", nil, "Set up an app", "off")
	body := b.at("/account/second-factor/app", 200, "/account/second-factor/app", nil, "data:image/png;base64,")
	plain := strings.ReplaceAll(regexp.MustCompile(`data-copy="([A-Z2-7 ]+)"`).FindStringSubmatch(body)[1], " ", "")
	again := b.at("/account/second-factor/app", 400, "/account/second-factor/app", url.Values{"code": {"000000"}}, "This is not the code")
	if !strings.Contains(strings.ReplaceAll(again, " ", ""), plain) {
		t.Error("after a wrong code the page shows another secret")
	}
	body = b.at("/account/second-factor/app", 200, "/account/second-factor/app", url.Values{"code": {s.code(plain)}}, "not shown again")
	codes := regexp.MustCompile(`<code>([A-Z2-7-]{19})</code>`).FindAllStringSubmatch(body, -1)
	if len(codes) != 10 {
		t.Fatalf("%d recovery codes are shown", len(codes))
	}
	shown := b.at("/account/second-factor", 200, "/account/second-factor", nil, "Remove app", "10 unused")
	for _, secret := range []string{plain, codes[0][1]} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is shown again", secret)
		}
	}

	b = s.browser()
	s.now = s.now.Add(30 * time.Second)
	step := "/sign-in/factor?to=%2Faccount%2Ftokens"
	first := url.Values{"user": {"ada"}, "password": {adaPassword}, "to": {"/account/tokens"}}
	b.at("/sign-in?to=%2Faccount%2Ftokens", 200, "/account/tokens", nil)
	b.at(step, 200, "/sign-in", first, "The six digits")
	b.at("/sign-in?to=%2Faccount%2Ftokens", 200, "/account/tokens", nil, "User name") // not in yet
	b.at(step, 200, step, nil, "The six digits")                                      // reloaded
	wrong := b.at("/sign-in/factor", 401, "/sign-in/factor", url.Values{"code": {"123456"}, "to": {"/account/tokens"}}, "The code is wrong")
	if hidden(wrong, "/sign-in/factor").Get("to") != "/account/tokens" || strings.Contains(wrong, "123456") {
		t.Error("after a wrong code the way is lost, or the code is shown")
	}
	b.at("/sign-in/factor", 400, "/sign-in/factor", url.Values{"to": {"/"}}, "Enter the code")
	b.at("/account/tokens", 200, "/sign-in/factor", url.Values{"code": {s.code(plain)}, "to": {"/account/tokens"}}, "No tokens yet")
	for name := range b.cookies {
		if strings.HasSuffix(name, "_step") {
			t.Errorf("the cookie %s stays", name)
		}
	}

	// Too often wrong: from the start again.
	b = s.browser()
	b.at(step, 200, "/sign-in", first)
	for range 4 {
		b.at("/sign-in/factor", 401, "/sign-in/factor", url.Values{"code": {"123456"}, "to": {"/"}})
	}
	b.at("/sign-in", 200, "/sign-in/factor", url.Values{"code": {"123456"}, "to": {"/"}}, "Start again")
	b.at("/sign-in", 200, "/sign-in/factor", nil, "User name")

	// A recovery code, once.
	s.now = s.now.Add(10 * time.Minute)
	for want, page := range map[string]int{"/account/tokens": 200} {
		b.at(step, 200, "/sign-in", first)
		b.at(want, page, "/sign-in/factor", url.Values{"code": {strings.ToLower(codes[4][1])}, "to": {"/account/tokens"}})
	}
	b = s.browser()
	b.at(step, 200, "/sign-in", first)
	b.at("/sign-in/factor", 401, "/sign-in/factor", url.Values{"code": {codes[4][1]}, "to": {"/"}})
}

// What could hand the account over asks for the password again, and goes on with
// what was typed.
func TestAskedAgain(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.at("/", 200, "/sign-in", url.Values{"user": {"ada"}, "password": {adaPassword}})
	s.now = s.now.Add(10 * time.Minute)
	wanted := url.Values{"name": {"Über & <co>"}, "scope": {"all"}, "days": {"30"}}
	b.at("/account/tokens/new", 200, "/account/tokens/new", url.Values{"name": {"r"}, "scope": {"builds"}, "days": {"30"}}, "not shown again")

	body := b.at("/account/tokens/new", 200, "/account/tokens/new", wanted, "Confirm that it is you")
	form := hidden(body, "/confirm")
	for name, values := range wanted {
		if got := form[name]; len(got) != 1 || got[0] != values[0] {
			t.Errorf("%s is %q now", name, got)
		}
	}
	form.Set("confirm-password", "not my password")
	body = b.at("/confirm", 401, "/confirm", form, "This is not right")
	if strings.Contains(body, "not my password") {
		t.Error("the password is shown")
	}
	form = hidden(body, "/confirm")
	form.Set("confirm-password", adaPassword)
	b.at("/account/tokens/new", 200, "/confirm", form, "not shown again", "Über &amp; &lt;co&gt;")

	// A page that shows what must not be seen.
	s.now = s.now.Add(10 * time.Minute)
	body = b.at("/confirm?to=%2Faccount%2Fsecond-factor%2Fapp", 200, "/account/second-factor/app", nil, "Password")
	form = hidden(body, "/confirm")
	b.at("/confirm", 400, "/confirm", form, "Enter your password.")
	form.Set("confirm-password", adaPassword)
	b.at("/account/second-factor/app", 200, "/confirm", form, "data:image/png")

	for _, to := range []string{"//evil.test", "https://evil.test", "/confirm", "/sign-out"} {
		b.at("/", 200, "/confirm", url.Values{"confirm-to": {to}, "confirm-post": {"x"}, "confirm-password": {adaPassword}})
	}
}

func TestAPasskeyInTheConsole(t *testing.T) {
	s := newSite(t)
	if err := s.identity.UsePasskeys("https://outrigger.test"); err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	b.at("/", 200, "/sign-in", url.Values{"user": {"ada"}, "password": {adaPassword}})
	key := &passkeytest.Authenticator{Origin: "https://outrigger.test", Unlocked: true}
	options := regexp.MustCompile(`data-options="([^"]*)"`)
	asked := func(page, body string, answer func([]byte) ([]byte, error)) url.Values {
		t.Helper()
		w, _ := b.send(page, nil)
		m := options.FindStringSubmatch(w.Body.String())
		if m == nil {
			t.Fatalf("%s asks for no passkey: %s", page, w.Body)
		}
		said, err := answer([]byte(html.UnescapeString(m[1])))
		if err != nil {
			t.Fatal(err)
		}
		form := hidden(w.Body.String(), body)
		for name := range form {
			if strings.HasSuffix(name, "passkey") {
				form.Set(name, string(said))
			}
		}
		return form
	}
	form := asked("/account/second-factor/passkeys/new", "/account/second-factor/passkeys/new", key.Create)
	b.at("/account/second-factor/passkeys/new", 400, "/account/second-factor/passkeys/new", form, "Give the passkey a name")
	form = asked("/account/second-factor/passkeys/new", "/account/second-factor/passkeys/new", key.Create)
	form.Set("name", "laptop")
	b.at("/account/second-factor/passkeys/new", 200, "/account/second-factor/passkeys/new", form, "not shown again")
	b.at("/account/second-factor", 200, "/account/second-factor", nil, "laptop")

	b = s.browser()
	b.at("/sign-in", 200, "/sign-in", nil, "/sign-in/passkey")
	b.at("/account/tokens", 200, "/sign-in/passkey", asked("/sign-in/passkey?to=/account/tokens", "/sign-in/passkey", key.Get))

	s.now = s.now.Add(10 * time.Minute)
	remove := regexp.MustCompile(`/account/second-factor/passkeys/\d+/remove`).FindString(b.at("/account/second-factor", 200, "/account/second-factor", nil))
	b.at(remove, 200, "/confirm", asked(remove, "/confirm", key.Get), "your last second factor")
	b.at("/account/second-factor", 200, remove, url.Values{}, "off")

	b = s.browser()
	b.at("/sign-in/passkey", 401, "/sign-in/passkey", asked("/sign-in/passkey", "/sign-in/passkey", key.Get), "No user signs in with this passkey")
}
