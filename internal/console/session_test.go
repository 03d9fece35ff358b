package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cookieOf is what an answer sets.
func cookieOf(h http.Header, name string) *http.Cookie {
	for _, c := range (&http.Response{Header: h}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func TestSignIn(t *testing.T) {
	for _, tc := range []struct {
		user, password string
		status         int
		shows          []string
	}{
		{"ada", "canoe", 303, nil},
		{" ada ", "canoe", 303, nil},
		{"ada", "Canoe", 401, []string{"The user name or password is wrong.", `value="ada"`}},
		{"eve", "canoe", 401, []string{"The user name or password is wrong.", `value="eve"`}},
		{"", "", 400, []string{"Correct 2 fields:", `href="#f-user"`, "Enter your user name.", `href="#f-password"`}},
		{"ada", "", 400, []string{"Enter your password.", `value="ada"`}},
		{"busy", "canoe", 429, []string{"Too many failed sign-ins. Wait 90 seconds.", `value="busy"`}},
	} {
		s := newSite(t, plainBase).as("")
		w := s.send("POST", "/sign-in", url.Values{"user": {tc.user}, "password": {tc.password}, "to": {"/notifications/rules?after=x"}})
		body := w.Body.String()
		if w.Code != tc.status {
			t.Errorf("%q %q: %d", tc.user, tc.password, w.Code)
		}
		for _, want := range tc.shows {
			if !strings.Contains(body, want) {
				t.Errorf("%q %q: %q is missing", tc.user, tc.password, want)
			}
		}
		if tc.status == 303 {
			if to := w.Header().Get("Location"); to != "/notifications/rules?after=x" {
				t.Errorf("sent to %q", to)
			}
			continue
		}
		if cookieOf(w.Header(), "outrigger_session") != nil {
			t.Errorf("%q %q: a session", tc.user, tc.password)
		}
		if tc.password != "" && strings.Contains(body, tc.password) {
			t.Errorf("%q: the password is shown", tc.password)
		}
		if !strings.Contains(body, `name="to" value="/notifications/rules?after=x"`) {
			t.Errorf("%q %q: the way back is lost", tc.user, tc.password)
		}
	}
}

func TestSessionCookie(t *testing.T) {
	const plain, bound = "outrigger_session", "__Host-outrigger_session"
	for base, want := range map[string]http.Cookie{
		"http://outrigger.test":         {Name: plain, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode},
		"https://outrigger.test":        {Name: bound, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode},
		"https://outrigger.test/":       {Name: bound, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode},
		"https://tools.test/outrigger/": {Name: plain, Path: "/outrigger/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode},
	} {
		s := newSite(t, base).as("")
		s.base = strings.TrimRight(base, "/")
		got := cookieOf(s.send("POST", "/sign-in", url.Values{"user": {"ada"}, "password": {"canoe"}}).Header(), want.Name)
		if got == nil {
			t.Fatalf("%s: no cookie", base)
		}
		if got.Value != "s-ada" {
			t.Errorf("%s: value %q", base, got.Value)
		}
		if diff := cmp.Diff(want, http.Cookie{Name: got.Name, Path: got.Path, HttpOnly: got.HttpOnly, Secure: got.Secure, SameSite: got.SameSite}); diff != "" {
			t.Errorf("%s: %s", base, diff)
		}
	}
}

func TestSignOut(t *testing.T) {
	s := newSite(t, plainBase)
	w := s.send("POST", "/sign-out", nil)
	if w.Code != 303 || w.Header().Get("Location") != "/sign-in" {
		t.Errorf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	if c := cookieOf(w.Header(), "outrigger_session"); c == nil || c.MaxAge >= 0 || c.Path != "/" {
		t.Errorf("the cookie stays: %v", c)
	}
	if diff := cmp.Diff([]string{"s-ada"}, s.sessions.signedOut); diff != "" {
		t.Error(diff)
	}
	if w := s.get("/sign-out"); w.Code != 405 {
		t.Errorf("a GET signs out: %d", w.Code)
	}
}

func TestReturnPathStaysHere(t *testing.T) {
	for to, want := range map[string]string{
		"/notifications/rules?after=x#f": "/notifications/rules?after=x#f",
		"/a//b":                          "/a//b",
		"":                               "/",
		"notifications":                  "/",
		"//evil.test":                    "/",
		"///evil.test":                   "/",
		`/\evil.test`:                    "/",
		`\\evil.test`:                    "/",
		"/\t/evil.test":                  "/",
		"/\n/evil.test":                  "/",
		"https://evil.test/":             "/",
		"https:/evil.test/":              "/",
		"javascript:alert(1)":            "/",
		"data:text/html,x":               "/",
		" /evil":                         "/",
		"/%zz":                           "/",
		"/sign-in?to=/sign-in":           "/",
		"/sign-out":                      "/",
	} {
		if got := LocalPath(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}

func FuzzReturnPathStaysHere(f *testing.F) {
	for _, to := range []string{"/a?b=c", "//evil.test", `/\evil.test`, "/\t/evil.test", "https://evil.test", "/..//evil.test"} {
		f.Add(to)
	}
	base := &url.URL{Scheme: "https", Host: "tools.test", Path: "/outrigger/sign-in"}
	f.Fuzz(func(t *testing.T, to string) {
		// As browsers read a Location: a backslash is a slash, tabs and line
		// ends are not there.
		path := "/outrigger" + LocalPath(to)
		for _, p := range []string{path, LocalPath(to)} {
			p = strings.NewReplacer(`\`, "/", "\t", "", "\n", "", "\r", "").Replace(p)
			u, err := base.Parse(p)
			if err != nil || u.Scheme != "https" || u.Host != "tools.test" {
				t.Errorf("%q leads to %v (%v)", to, u, err)
			}
		}
	})
}

func TestFlashIsShownOnce(t *testing.T) {
	s := newSite(t, plainBase)
	w := s.send("POST", "/notifications/rules/new", url.Values{"name": {"Über & <co>"}, "eventTypes": {"TAG_CREATED"}})
	if w.Code != 303 || w.Header().Get("Location") != "/notifications/rules" {
		t.Fatalf("%d to %s", w.Code, w.Header().Get("Location"))
	}
	flash := cookieOf(w.Header(), flashCookie)
	s.cookies = append(s.cookies, flash)
	w = s.get("/notifications/rules")
	if !strings.Contains(w.Body.String(), `<p class="flash good" role="status">The rule Über &amp; &lt;co&gt; is saved.</p>`) {
		t.Error("it is not shown")
	}
	if c := cookieOf(w.Header(), flashCookie); c == nil || c.MaxAge >= 0 {
		t.Error("it is shown again")
	}
}

func FuzzFlashCookie(f *testing.F) {
	f.Add("Z29vZCBTYXZlZA")
	f.Add("bm8gdG9uZQ")
	f.Add("%")
	f.Fuzz(func(t *testing.T, value string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Cookie", flashCookie+"="+value)
		x := &exchange{c: &Console{}, w: httptest.NewRecorder(), r: r}
		if shown := x.takeFlash(); shown != nil && !shown.Tone.known() {
			t.Errorf("%q shows %+v", value, shown)
		}
	})
}

func TestLongFlashIsCut(t *testing.T) {
	s := newSite(t, plainBase)
	w := s.send("POST", "/notifications/rules/new", url.Values{"name": {strings.Repeat("ü", 4000)}, "eventTypes": {"TAG_CREATED"}})
	if c := cookieOf(w.Header(), flashCookie); c == nil || len(c.Value) > 2000 {
		t.Error("the cookie is too long for a browser")
	}
}
