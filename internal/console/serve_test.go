package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

func TestWhoMaySeeWhat(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.Handle("GET /everything", Needs(identity.SysAdmin), func(*http.Request) (Response, error) { return Redirect{To: "/"}, nil })
	s.c.Handle("GET /projects/{key}", func(r *http.Request, p *identity.Principal) bool {
		return p.May(identity.ProjectAdmin, identity.Resource{Connection: "git", Project: r.PathValue("key")})
	}, func(*http.Request) (Response, error) { return Redirect{To: "/"}, nil })
	for _, tc := range []struct {
		session, method, path string
		status                int
		location              string
	}{
		{"", "GET", "/sign-in", 200, ""},
		{"", "GET", "/", 303, "/sign-in"},
		{"", "GET", "/notifications/rules?after=x&state=broken", 303, "/sign-in?to=%2Fnotifications%2Frules%3Fafter%3Dx%26state%3Dbroken"},
		{"", "POST", "/notifications/rules/new", 303, "/sign-in?to=%2Fnotifications%2Frules%2Fnew"},
		{"", "POST", "/sign-out", 303, "/sign-in"},
		{"", "GET", "/nowhere", 404, ""},
		{"s-over", "GET", "/", 303, "/sign-in"},
		{"s-ada", "GET", "/", 200, ""},
		{"s-ada", "HEAD", "/", 200, ""},
		{"s-ada", "GET", "/sign-in?to=/notifications/rules", 303, "/notifications/rules"},
		{"s-ada", "GET", "/projects/PAY", 303, "/"},
		{"s-ada", "GET", "/everything", 403, ""},
		{"s-ada", "GET", "/nowhere", 404, ""},
		{"s-ada", "DELETE", "/notifications/rules", 405, ""},
		{"s-ada", "GET", "/assets/nothing.css", 404, ""},
	} {
		w := s.as(tc.session).send(tc.method, tc.path, nil)
		if w.Code != tc.status || w.Header().Get("Location") != tc.location {
			t.Errorf("%s %s as %q: %d %q, want %d %q", tc.method, tc.path, tc.session, w.Code, w.Header().Get("Location"), tc.status, tc.location)
		}
	}
	if allow := s.send("DELETE", "/notifications/rules", nil).Header().Get("Allow"); allow != "GET, HEAD" {
		t.Errorf("Allow: %q", allow)
	}
}

// A question says where it belongs, as other pages do: below the entry of the navigation,
// or below what it names.
func TestAQuestionLeadsUp(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.AddMenu(Link{Label: "Tokens", Path: "/account/tokens"})
	ask := Confirm{Title: "Really?", Keep: "No", Back: "/"}
	s.c.Handle("GET /account/tokens/{id}/revoke", SignedIn, func(*http.Request) (Response, error) {
		q := ask
		q.Section = "Your account"
		return q, nil
	})
	s.c.Handle("GET /system/users/{name}/delete", SignedIn, func(*http.Request) (Response, error) {
		q := ask
		q.Up = []Link{{"Users", "/system/users"}, {"ann", "/system/users/ann"}}
		return q, nil
	})
	s.c.Handle("GET /elsewhere", SignedIn, func(*http.Request) (Response, error) { return ask, nil })
	const slash = ` <span aria-hidden="true">/</span> `
	for path, want := range map[string]string{
		"/notifications/rules/7/delete": `<p class="up">Notifications` + slash + `<a href="/notifications/rules">Global rules</a></p>`,
		"/account/tokens/3/revoke":      `<p class="up">Your account` + slash + `<a href="/account/tokens">Tokens</a></p>`,
		"/system/users/ann/delete":      `<p class="up">System` + slash + `<a href="/system/users">Users</a>` + slash + `<a href="/system/users/ann">ann</a></p>`,
	} {
		if body := s.get(path).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s does not have %s: %s", path, want, body)
		}
	}
	if body := s.get("/elsewhere").Body.String(); strings.Contains(body, `<p class="up">`) {
		t.Errorf("/elsewhere: %s", body)
	}
}

func TestFaultsAreStatusPages(t *testing.T) {
	s := newSite(t, plainBase)
	for code, status := range map[fault.Code]int{
		fault.Invalid: 400, fault.Unauthenticated: 401, fault.Forbidden: 403, fault.NotFound: 404, fault.Conflict: 409,
		fault.TooLarge: 413, fault.RateLimited: 429, fault.Unavailable: 503, fault.Internal: 500,
	} {
		w := s.get("/fault/" + string(code))
		body := w.Body.String()
		if w.Code != status || !strings.Contains(body, "<h1>") {
			t.Errorf("%s: status %d, want %d", code, w.Code, status)
		}
		if code != fault.Internal && !strings.Contains(body, "It is "+string(code)+".") {
			t.Errorf("%s: its message is missing", code)
		}
	}
}

func TestAnInternalErrorShowsOnlyItsReferralNumber(t *testing.T) {
	s := newSite(t, plainBase)
	body := s.get("/fault/internal").Body.String()
	_, rest, _ := strings.Cut(body, "Quote referral number ")
	referral, _, ok := strings.Cut(rest, " to your administrator.")
	if !ok || len(referral) != 12 {
		t.Fatalf("no referral number: %q", referral)
	}
	if strings.Contains(body, "secret cause") {
		t.Error("the cause is shown")
	}
	log := s.log.String()
	if strings.Count(log, "\n") != 1 || !strings.Contains(log, "referral="+referral) || !strings.Contains(log, "secret cause") {
		t.Errorf("log: %s", log)
	}
}

// A client that went away while it was answered is no failure of ours.
func TestWhoGoesAwayIsNoInternalError(t *testing.T) {
	s := newSite(t, plainBase)
	ctx, cancel := context.WithCancel(t.Context())
	broken := func(r *http.Request) error {
		cancel()
		return fmt.Errorf("waiting for a turn: %w", r.Context().Err())
	}
	s.c.Handle("GET /slow", Anyone, func(r *http.Request) (Response, error) { return nil, broken(r) })
	s.c.AddOverview(func(ctx context.Context, _ *identity.Principal) ([]Card, error) { return nil, ctx.Err() })
	for _, path := range []string{"/slow", "/"} {
		r := httptest.NewRequestWithContext(ctx, "GET", plainBase+path, nil)
		r.AddCookie(s.cookies[0])
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if path == "/slow" && w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d, want 503", path, w.Code)
		}
	}
	if log := s.log.String(); log != "" {
		t.Errorf("log: %s", log)
	}
}

func TestAPanicIsAnInternalError(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.Handle("GET /panic", Anyone, func(*http.Request) (Response, error) { panic("secret cause") })
	w := s.get("/panic")
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret cause") || !strings.Contains(s.log.String(), "secret cause") {
		t.Errorf("%d %s", w.Code, s.log)
	}
}

func TestIdentityOutOfReach(t *testing.T) {
	s := newSite(t, plainBase)
	s.sessions.err = &fault.Error{Code: fault.Unavailable, Message: "The database does not answer.", RetryAfter: 1500e6}
	w := s.get("/notifications/rules")
	if w.Code != 503 || !strings.Contains(w.Body.String(), "The database does not answer.") || w.Header().Get("Retry-After") != "2" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestHeaders(t *testing.T) {
	s := newSite(t, plainBase)
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
		"X-Content-Type-Options":  "nosniff",
		"X-Frame-Options":         "DENY",
		"Referrer-Policy":         "same-origin",
		"Cache-Control":           "no-store",
	}
	for _, path := range append(samplePages, "/sign-in") {
		h := s.as("").get(path).Header()
		for name, value := range want {
			if h.Get(name) != value {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
}

func TestWritesFromElsewhereAreRefused(t *testing.T) {
	s := newSite(t, "https://tools.test/outrigger")
	form := url.Values{"name": {"Builds"}, "eventTypes": {"TAG_CREATED"}}
	for _, tc := range []struct {
		header []string
		status int
	}{
		{nil, 303}, // no browser
		{[]string{"Sec-Fetch-Site", "same-origin"}, 303},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Sec-Fetch-Site", "same-site"}, 403},
		{[]string{"Origin", "https://tools.test"}, 303},
		{[]string{"Origin", "https://evil.test"}, 403},
		{[]string{"Origin", "null"}, 403},
	} {
		for _, path := range []string{"/notifications/rules/new", "/sign-in", "/sign-out"} {
			w := s.send("POST", path, form, tc.header...)
			if refused := w.Code == 403; refused != (tc.status == 403) {
				t.Errorf("%s with %v: %d", path, tc.header, w.Code)
			}
		}
	}
}

func TestBasePath(t *testing.T) {
	s := newSite(t, "https://tools.test/outrigger/")
	s.base = "https://tools.test"
	for path, want := range map[string]int{
		"/outrigger": 307, "/outrigger/": 200, "/outrigger/notifications/rules": 200, "/": 404, "/notifications/rules": 404, "/outriggers/": 404,
		"/outrigger/notifications": 303, "/notifications": 404,
	} {
		if w := s.get(path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	w := s.as("").get("/outrigger/notifications/rules")
	if to := w.Header().Get("Location"); to != "/outrigger/sign-in?to=%2Fnotifications%2Frules" {
		t.Errorf("to sign in: %s", to)
	}
}

func TestNothingIsAnswered(t *testing.T) {
	for name, h := range map[string]Handler{
		"nothing":              func(*http.Request) (Response, error) { return nil, nil },
		"a redirect elsewhere": func(*http.Request) (Response, error) { return Redirect{To: "https://evil.test"}, nil },
		"a broken template":    func(*http.Request) (Response, error) { return Page{Template: "sign-in", Data: 1}, nil },
		"a page with an internal error": func(*http.Request) (Response, error) {
			return Page{Template: "sign-in", Data: signInView{Form: NewForm()}}, errors.New("cause")
		},
	} {
		c, err := New(Options{Identity: &sessions{}, BaseURL: plainBase})
		if err != nil {
			t.Fatal(err)
		}
		c.Handle("GET /p", Anyone, h, "sign-in")
		w := httptest.NewRecorder()
		c.serve(w, httptest.NewRequest("GET", "/p", nil))
		if w.Code != 500 || !strings.Contains(w.Body.String(), "referral number") {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

func TestNavigation(t *testing.T) {
	s := newSite(t, plainBase)
	body := s.get("/notifications/rules/new").Body.String()
	if !strings.Contains(body, `<a href="/notifications/rules" aria-current="page">Global rules`) {
		t.Error("the page's entry is not current")
	}
	if strings.Count(body, `aria-current="page">Global rules`) != 2 || strings.Contains(body, `aria-current="page">Overview`) {
		t.Error("one entry is current, at the side and in the menu")
	}
	if strings.Contains(body, `/system/users`) || !strings.Contains(body, `/system/nodes`) {
		t.Error("an entry is shown to whom it is not visible, or not to whom it is")
	}
	if strings.Contains(s.as("").get("/sign-in").Body.String(), "Global rules") {
		t.Error("the navigation is shown to nobody")
	}
}

// A page whose address is below no entry is below the pages that it names itself.
func TestNavigationByPagesAbove(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.Handle("GET /notifications/new-rule", SignedIn, func(*http.Request) (Response, error) {
		return Page{Template: "rules", Title: "New rule", Data: rulesView{}, Up: []Link{{Label: "Rules", Path: "/notifications/rules?level=global"}}}, nil
	}, "rules")
	body := s.get("/notifications/new-rule").Body.String()
	if strings.Count(body, `aria-current="page">Global rules`) != 2 || strings.Count(body, `aria-current`) != 2 {
		t.Error("the entry of the page above is not the current one")
	}
	if !strings.Contains(body, `<p class="up">Notifications <span`) {
		t.Error("the section is not said")
	}
}

// The address of a section has no page of its own: it leads to the first page below
// it that the reader sees in the navigation.
func TestASectionLeadsToItsFirstPage(t *testing.T) {
	s := newSite(t, plainBase)
	if w := s.get("/system"); w.Code != 303 || w.Header().Get("Location") != "/system/nodes" {
		t.Errorf("/system: %d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := s.as("").get("/system"); w.Code != 303 || w.Header().Get("Location") != "/sign-in?to=%2Fsystem" {
		t.Errorf("/system, not signed in: %d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := s.get("/syst"); w.Code != 404 {
		t.Errorf("/syst: %d", w.Code)
	}
	if w := s.send("POST", "/system", url.Values{}); w.Code != 404 {
		t.Errorf("a write to /system: %d", w.Code)
	}
}

func TestWhatIsShownIsEscaped(t *testing.T) {
	s := newSite(t, plainBase)
	evil := `"><script>alert(1)</script>`
	for _, body := range []string{
		s.get("/notifications/rules").Body.String(),
		s.send("POST", "/notifications/rules/new", url.Values{"name": {evil}, "branches": {"</textarea>" + evil}, "format": {evil}}).Body.String(),
		s.as("").get("/sign-in?to=/" + url.QueryEscape(evil)).Body.String(),
		s.as("").send("POST", "/sign-in", url.Values{"user": {evil}, "password": {"x"}}).Body.String(),
		s.get("/" + url.PathEscape(evil)).Body.String(),
	} {
		if strings.Contains(body, "<script>") || strings.Contains(body, "<b>anywhere") {
			t.Errorf("not escaped: %s", body)
		}
	}
}
