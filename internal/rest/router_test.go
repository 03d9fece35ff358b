package rest

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// stage is a router with a log that can be read.
type stage struct {
	*Router
	log *bytes.Buffer
}

func newStage(t *testing.T, baseURL string) stage {
	t.Helper()
	var log bytes.Buffer
	rt, err := NewRouter(Options{
		Identity: people{},
		Log:      slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		BaseURL:  baseURL,
	})
	if err != nil {
		t.Fatal(err)
	}
	return stage{rt, &log}
}

// do sends a request with headers given as pairs.
func (s stage) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

type queue struct {
	XMLName xml.Name `json:"-" xml:"queue"`
	Size    int      `json:"size" xml:"size"`
	Nodes   []string `json:"nodes" xml:"node"`
}

func answer(v any) Handler {
	return func(w http.ResponseWriter, r *http.Request) error { return Write(w, r, http.StatusOK, v) }
}

func fail(err error) Handler {
	return func(http.ResponseWriter, *http.Request) error { return err }
}

func TestRepresentations(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	s.handle(Route{Method: "GET", Path: "/rest/q/1.0/status", Access: Anyone, XML: true}, answer(queue{Size: 26, Nodes: []string{"a", "b"}}))
	s.handle(Route{Method: "GET", Path: "/rest/q/1.0/empty", Access: Anyone, XML: true}, answer(queue{}))
	s.handle(Route{Method: "GET", Path: "/rest/q/1.0/json", Access: Anyone}, answer(queue{Size: 1}))
	s.handle(Route{Method: "GET", Path: "/rest/q/1.0/csv", Access: Anyone, Own: true}, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "text/csv")
		_, err := io.WriteString(w, "a,b\n")
		return err
	})
	const (
		jsonBody = `{"size":26,"nodes":["a","b"]}`
		xmlBody  = xmlHeader + `<queue><size>26</size><node>a</node><node>b</node></queue>`
		only     = `{"size":1,"nodes":[]}`
	)
	for _, c := range []struct {
		path, accept string
		status       int
		body         string
	}{
		{"status", "", 200, jsonBody},
		{"status", "*/*", 200, jsonBody},
		{"status", "application/xml", 200, xmlBody},
		{"status.xml", "", 200, xmlBody},
		{"status.xml", "application/json", 200, xmlBody},
		{"status.json", "application/xml", 200, jsonBody},
		{"status.json", "text/html", 200, jsonBody},
		{"status", "text/html", 406, `{"status-code":406,"message":"The answer comes as application/json or application/xml; accept that."}`},
		{"empty", "", 200, `{"size":0,"nodes":[]}`},
		{"empty", "application/xml", 200, xmlHeader + `<queue><size>0</size></queue>`},
		{"json", "", 200, only},
		{"json.json", "", 200, only},
		{"json", "application/xml", 406, xmlHeader + `<status><status-code>406</status-code><message>The answer comes as application/json; accept that.</message></status>`},
		{"json.xml", "application/json", 406, xmlHeader + `<status><status-code>406</status-code><message>The answer comes as application/json; accept that.</message></status>`},
		{"csv", "application/xml", 200, "a,b\n"},
		{"csv.xml", "", 404, xmlHeader + `<status><status-code>404</status-code><message>There is nothing at /rest/q/1.0/csv.xml.</message></status>`},
	} {
		w := s.do("GET", "/rest/q/1.0/"+c.path, "", "Accept", c.accept)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s, Accept: %s: %d %s", c.path, c.accept, w.Code, w.Body)
		}
		h := w.Header()
		if h.Get("Vary") != "Accept" || h.Get("Cache-Control") != "no-store" || h.Get("X-Request-Id") == "" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", c.path, h)
		}
		wantType := "application/json"
		switch {
		case strings.HasPrefix(c.body, "<"):
			wantType = "application/xml"
		case strings.HasPrefix(c.body, "a,b"):
			wantType = "text/csv"
		}
		if h.Get("Content-Type") != wantType {
			t.Errorf("%s, Accept: %s: Content-Type %s, want %s", c.path, c.accept, h.Get("Content-Type"), wantType)
		}
	}
}

func TestErrorBodies(t *testing.T) {
	fields := fault.Fields{{Name: "branchMask", Message: "The mask <(> is not closed."}, {Name: "name", Message: "The name is missing."}}
	for _, c := range []struct {
		err    error
		status int
		json   string
		xml    string
	}{
		{
			fields.Err(), 400,
			`{"status-code":400,"message":"2 members are invalid; see errors.","errors":[{"field":"branchMask","message":"The mask <(> is not closed."},{"field":"name","message":"The name is missing."}]}`,
			`<status><status-code>400</status-code><message>2 members are invalid; see errors.</message>` +
				`<error><field>branchMask</field><message>The mask &lt;(&gt; is not closed.</message></error><error><field>name</field><message>The name is missing.</message></error></status>`,
		},
		{
			identity.ErrUnauthenticated(), 401,
			`{"status-code":401,"message":"Client must be authenticated to access this resource."}`,
			`<status><status-code>401</status-code><message>Client must be authenticated to access this resource.</message></status>`,
		},
		{fault.New(fault.Forbidden, "No."), 403, `{"status-code":403,"message":"No."}`, `<status><status-code>403</status-code><message>No.</message></status>`},
		{fault.New(fault.NotFound, "No."), 404, `{"status-code":404,"message":"No."}`, `<status><status-code>404</status-code><message>No.</message></status>`},
		{fault.New(fault.Conflict, "No."), 409, `{"status-code":409,"message":"No."}`, `<status><status-code>409</status-code><message>No.</message></status>`},
		{fault.New(fault.TooLarge, "No."), 413, `{"status-code":413,"message":"No."}`, `<status><status-code>413</status-code><message>No.</message></status>`},
		{fault.New(fault.RateLimited, "No."), 429, `{"status-code":429,"message":"No."}`, `<status><status-code>429</status-code><message>No.</message></status>`},
		{
			fault.Wrap(errors.New("password=x"), fault.Unavailable, "The database does not answer since 10:00."), 503,
			`{"status-code":503,"message":"The database does not answer since 10:00."}`,
			`<status><status-code>503</status-code><message>The database does not answer since 10:00.</message></status>`,
		},
		{
			fault.New(fault.Invalid, "a\x01\xff"), 400,
			"{\"status-code\":400,\"message\":\"a\\u0001\ufffd\"}",
			"<status><status-code>400</status-code><message>a\ufffd\ufffd</message></status>",
		},
	} {
		s := newStage(t, "http://localhost:8090")
		s.handle(Route{Method: "GET", Path: "/rest/x", Access: Anyone}, fail(c.err))
		if w := s.do("GET", "/rest/x", ""); w.Code != c.status || w.Body.String() != c.json {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
		if w := s.do("GET", "/rest/x", "", "Accept", "application/json;q=0.1, application/xml"); w.Code != c.status || w.Body.String() != xmlHeader+c.xml {
			t.Errorf("%v as XML: %d %s", c.err, w.Code, w.Body)
		}
	}
}

func TestErrorHeaders(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	limited := fault.New(fault.RateLimited, "Too often.")
	limited.RetryAfter = 1500e6 // a second and a half
	s.handle(Route{Method: "GET", Path: "/rest/limited", Access: Anyone}, fail(limited))
	s.handle(Route{Method: "GET", Path: "/rest/nobody", Access: Anyone}, fail(identity.ErrUnauthenticated()))
	s.handle(Route{Method: "GET", Path: "/rest/created", Access: Anyone}, func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", "/rest/created/1")
		w.Header().Set("Content-Disposition", "attachment")
		return fault.New(fault.Conflict, "No.")
	})
	if got := s.do("GET", "/rest/limited", "").Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After: %s, want 2", got)
	}
	if got := s.do("GET", "/rest/nobody", "").Header().Get("WWW-Authenticate"); got != `Basic realm="Outrigger"` {
		t.Errorf("WWW-Authenticate: %s", got)
	}
	if h := s.do("GET", "/rest/created", "").Header(); h.Get("Location") != "" || h.Get("Content-Disposition") != "" {
		t.Errorf("an error keeps what its handler said about a success: %v", h)
	}
}

func TestMethods(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	s.handle(Route{Method: "GET", Path: "/rest/thing/{id}", Access: Anyone}, answer(queue{}))
	s.handle(Route{Method: "DELETE", Path: "/rest/thing/{id}", Access: Anyone}, func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
	w := s.do("POST", "/rest/thing/1", "")
	if w.Code != 405 || w.Header().Get("Allow") != "DELETE, GET, HEAD" {
		t.Errorf("POST: %d, Allow: %s", w.Code, w.Header().Get("Allow"))
	}
	if want := `{"status-code":405,"message":"POST is not allowed here; use DELETE, GET, HEAD."}`; w.Body.String() != want {
		t.Errorf("POST: %s", w.Body)
	}
	if w := s.do("DELETE", "/rest/thing/1", ""); w.Code != 204 || w.Body.Len() != 0 {
		t.Errorf("DELETE: %d %s", w.Code, w.Body)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	res, err := http.Head(server.URL + "/rest/thing/1")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 200 || len(body) != 0 || res.ContentLength != int64(len(`{"size":0,"nodes":[]}`)) {
		t.Errorf("HEAD: %d, length %d, body %q", res.StatusCode, res.ContentLength, body)
	}
}

func TestBasePath(t *testing.T) {
	s := newStage(t, "https://tools.example.com/outrigger/")
	s.handle(Route{Method: "GET", Path: "/rest/thing/{id}", Access: Anyone}, func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.WriteString(w, r.PathValue("id")+" "+Link(r.Context(), "/rest/thing/2"))
		return err
	})
	s.Fallback(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "console "+r.URL.Path)
	}))
	for path, want := range map[string]string{
		"/outrigger/rest/thing/1":  "1 https://tools.example.com/outrigger/rest/thing/2",
		"/outrigger":               "console /outrigger",
		"/outrigger/":              "console /outrigger/",
		"/outrigger/notifications": "console /outrigger/notifications",
		"/outrigger/rests":         "console /outrigger/rests",
		"/rest/thing/1":            `{"status-code":404,"message":"There is nothing at /rest/thing/1."}`,
		"/":                        `{"status-code":404,"message":"There is nothing at /."}`,
		"/outriggers":              `{"status-code":404,"message":"There is nothing at /outriggers."}`,
		"/outrigger/rest":          `{"status-code":404,"message":"There is nothing at /outrigger/rest."}`,
		"/outrigger/rest/":         `{"status-code":404,"message":"There is nothing at /outrigger/rest/."}`,
		"/outrigger/hooks/x/y":     `{"status-code":404,"message":"There is nothing at /outrigger/hooks/x/y."}`,
	} {
		if got := s.do("GET", path, "").Body.String(); got != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
}

func TestInternalErrors(t *testing.T) {
	for name, h := range map[string]Handler{
		"a foreign error": fail(errors.New("the cause of it")),
		"an internal one": fail(fault.Wrap(errors.New("the cause of it"), fault.Internal, "Something public.")),
		"a panic":         func(http.ResponseWriter, *http.Request) error { panic("the cause of it") },
		"an answer that cannot be written": func(w http.ResponseWriter, r *http.Request) error {
			return WriteJSON(w, r, 200, map[string]any{"the cause of it": make(chan int)})
		},
	} {
		s := newStage(t, "http://localhost:8090")
		s.handle(Route{Method: "GET", Path: "/rest/x", Access: Anyone}, h)
		w := s.do("GET", "/rest/x", "")
		referral := regexp.MustCompile(`^\{"status-code":500,"message":"An internal error occurred. Quote referral number ([0-9a-f]{16}) to your administrator."\}$`).FindStringSubmatch(w.Body.String())
		if w.Code != 500 || referral == nil {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
			continue
		}
		log := s.log.String()
		if strings.Count(log, "internal error") != 1 || !strings.Contains(log, "referral="+referral[1]) || name != "an answer that cannot be written" && !strings.Contains(log, "the cause of it") {
			t.Errorf("%s: the log says %s", name, log)
		}
	}
}

func TestAnswerThatBreaksOff(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	s.handle(Route{Method: "GET", Path: "/rest/x", Access: Anyone, Own: true}, func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = io.WriteString(w, "the first half")
		return errors.New("no second half")
	})
	server := httptest.NewServer(s)
	res, err := http.Get(server.URL + "/rest/x")
	if err == nil {
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	server.Close()
	if err == nil {
		t.Error("half an answer looks whole")
	}
	if !strings.Contains(s.log.String(), "no second half") {
		t.Errorf("the log says %s", s.log)
	}
}

// TestBrokenOffIsNoSuccess: what a stopping server cancels must not look done.
func TestBrokenOffIsNoSuccess(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	ctx, cancel := context.WithCancel(t.Context())
	s.handle(Route{Method: "POST", Path: "/hooks/{connection}", Raw: true}, func(_ http.ResponseWriter, r *http.Request) error {
		cancel()
		return fault.Wrap(r.Context().Err(), fault.Unavailable, "The database does not answer.")
	})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/hooks/a", nil).WithContext(ctx))
	if w.Code != 503 || !strings.Contains(s.log.String(), "status=499") || strings.Contains(s.log.String(), "WARN") {
		t.Errorf("%d %s\n%s", w.Code, w.Body, s.log)
	}
}

func TestBodyLimits(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	read := func(_ http.ResponseWriter, r *http.Request) error {
		var v sample
		return readJSON(r, &v)
	}
	s.handle(Route{Method: "POST", Path: "/rest/default", Access: Anyone}, read)
	s.handle(Route{Method: "POST", Path: "/rest/small", Access: Anyone, MaxBody: 100}, read)
	s.handle(Route{Method: "POST", Path: "/hooks/{connection}", Raw: true, MaxBody: 10 << 20}, func(_ http.ResponseWriter, r *http.Request) error {
		_, err := io.Copy(io.Discard, r.Body)
		return err
	})
	for _, c := range []struct {
		path    string
		size    int
		message string
	}{
		{"/rest/default", 1 << 20, ""},
		{"/rest/default", 1<<20 + 1, "The body is larger than 1 MiB."},
		{"/rest/small", 100, ""},
		{"/rest/small", 101, "The body is larger than 100 bytes."},
		{"/hooks/a", 10 << 20, ""},
		{"/hooks/a", 10<<20 + 1, "The body is larger than 10 MiB."},
	} {
		for _, chunked := range []bool{false, true} {
			body := `{"name":"` + strings.Repeat("a", c.size-len(`{"name":""}`)) + `"}`
			r := httptest.NewRequest("POST", c.path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if chunked {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			want := 200
			if c.message != "" {
				want = 413
			}
			if w.Code != want || !strings.Contains(w.Body.String(), c.message) {
				t.Errorf("%s with %d bytes, chunked %v: %d %s", c.path, c.size, chunked, w.Code, w.Body)
			}
		}
	}
}

func TestBadWiring(t *testing.T) {
	for _, o := range []Options{
		{BaseURL: ""}, {BaseURL: "/outrigger"}, {BaseURL: "http://h/{a}"}, {BaseURL: "http://h", TrustedProxies: []string{"x"}},
	} {
		o.Log = slog.New(slog.DiscardHandler)
		if _, err := NewRouter(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a route can be added twice")
		}
	}()
	s := newStage(t, "http://localhost:8090")
	s.handle(Route{Method: "GET", Path: "/rest/x"}, answer(1))
	s.handle(Route{Method: "GET", Path: "/rest/x"}, answer(2))
}
