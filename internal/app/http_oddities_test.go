package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/secret"
)

// oddities asks a server as the administrator, and holds every answer to what all
// errors under /rest have in common.
type oddities struct {
	*App
	t    *testing.T
	edit func(*http.Request) // what else a request has
}

// oddAnswer is what came back.
type oddAnswer struct {
	status int
	header http.Header
	body   []byte
}

func (o *oddities) send(method, path, contentType string, body io.Reader) oddAnswer {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), method, "http://"+o.Addr()+path, body)
	if err != nil {
		o.t.Fatal(err)
	}
	asAdmin(r)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if o.edit != nil {
		o.edit(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
	if err != nil {
		o.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		o.t.Fatalf("%s %s: %v", method, path, err)
	}
	if res.StatusCode == http.StatusInternalServerError {
		o.t.Errorf("%s %s: %d %s", method, path, res.StatusCode, got)
	}
	return oddAnswer{res.StatusCode, res.Header, got}
}

// refused wants an error with one of the statuses, and with the body of all errors.
func (o *oddities) refused(method, path, contentType string, body io.Reader, want ...int) oddAnswer {
	o.t.Helper()
	got := o.send(method, path, contentType, body)
	if !slices.Contains(want, got.status) {
		o.t.Errorf("%s %s as %q: %d, want %d: %.200s", method, path, contentType, got.status, want, got.body)
		return got
	}
	var refusal struct {
		Status  int    `json:"status-code"`
		Message string `json:"message"`
	}
	err := json.Unmarshal(got.body, &refusal)
	if method != http.MethodHead && (err != nil || refusal.Status != got.status || refusal.Message == "") || got.header.Get("Content-Type") != "application/json" {
		o.t.Errorf("%s %s: %d as %s: %.200s", method, path, got.status, got.header.Get("Content-Type"), got.body)
	}
	return got
}

// What no client should send is refused in the words of the API on every route of it.
func TestEveryRouteWithOddHTTP(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret")}}
	o := &oddities{App: start(t, cfg), t: t}
	all, err := described(t, o.App).Operations()
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string][]string{} // of each path
	for _, op := range all {
		path, _, _ := strings.Cut(op.URL, "?")
		methods[path] = append(methods[path], op.Method)
	}
	for _, op := range all {
		// A webhook's body is nobody's until its signature is checked, and rules of a
		// workspace are refused whatever they are.
		if slices.Equal(op.Body, []string{"application/json"}) && strings.HasPrefix(op.URL, "/rest/") && op.URL != "/rest/mtbs/1.0/cloud/atlas/rules" {
			o.bodies(op.Method, op.URL, op.Bare)
		}
		if op.Method == http.MethodGet && !op.Stream {
			o.head(op.URL)
		}
	}
	for _, op := range all {
		if changes := op.Method != http.MethodGet && op.Method != http.MethodHead && op.Method != http.MethodOptions; changes && !op.Conditional && strings.HasPrefix(op.URL, "/rest/") {
			o.unconditional(op.Method, op.URL)
		}
	}
	o.long("POST", "/rest/outrigger/1.0/users", 10<<20)
	for path, has := range methods {
		o.methods(path, has)
		if strings.HasPrefix(path, "/rest/") || strings.HasPrefix(path, "/hooks/") {
			o.paths(path)
		}
	}
}

// bodies sends what is no body of an operation that takes a JSON object; bare is that
// it is taken without one too.
func (o *oddities) bodies(method, path string, bare bool) {
	for _, contentType := range []string{"", "text/plain", "application/xml", "application/json; charset=latin1", "application/json,", "*/*", "json", "application/x-www-form-urlencoded"} {
		o.refused(method, path, contentType, strings.NewReader(`{}`), 415)
	}
	const kind = "application/json"
	o.edit = func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }
	if got := o.refused(method, path, kind, strings.NewReader("\x1f\x8b\x08"), 415); !strings.Contains(string(got.body), "Content-Encoding") {
		o.t.Errorf("%s %s, compressed: %s", method, path, got.body)
	}
	o.edit = nil
	if !bare {
		o.refused(method, path, kind, strings.NewReader(""), 400)
	}
	for _, body := range []string{
		" \n", "null", "[]", "[{}]", "1", `"{}"`, "true", "{", "}", "{}{}", "{} {}", "{},", "{}x", `{"bogus":1,"bogus":2}`, `{"a":}`, `{"a"}`, "{'a':1}",
		"\ufeff{}", "\xff", `{"` + "\xff" + `":1}`, `{"a":"\ud800"}`, "{\x00}", strings.Repeat(`{"a":`, 20_000), strings.Repeat("[", 20_000), "<x/>",
	} {
		o.refused(method, path, kind, strings.NewReader(body), 400)
	}
	o.refused(method, path, kind, strings.NewReader(`{"bogus":1}`), 400, 404, 409) // some look first whether the thing is there
	o.long(method, path, 1<<20+1)
}

// long sends a body of a size that is over the limit.
func (o *oddities) long(method, path string, size int) {
	big := bytes.Repeat([]byte(" "), size)
	copy(big, `{"a":"`)
	o.refused(method, path, "application/json", bytes.NewReader(big), 413)
	o.refused(method, path, "application/json", io.MultiReader(bytes.NewReader(big)), 413) // of unknown length
}

// unconditional asks for a change of the version that it names, where nothing has
// versions: the change must not be made.
func (o *oddities) unconditional(method, path string) {
	o.edit = func(r *http.Request) { r.Header.Set("If-Match", `"1-1"`) }
	defer func() { o.edit = nil }()
	if got := o.refused(method, path, "application/json", strings.NewReader(`{"bogus":1}`), 412); !strings.Contains(string(got.body), "has an ETag") {
		o.t.Errorf("%s %s says %s", method, path, got.body)
	}
}

// head asks for the headers of what GET answers.
func (o *oddities) head(path string) {
	get, head := o.send("GET", path, "", nil), o.send("HEAD", path, "", nil)
	if head.status != get.status || len(head.body) > 0 || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
		o.t.Errorf("HEAD %s: %d %s %q, and GET %d %s", path, head.status, head.header.Get("Content-Type"), head.body, get.status, get.header.Get("Content-Type"))
	}
}

// methods uses those that a path does not have.
func (o *oddities) methods(path string, has []string) {
	if slices.Contains(has, "GET") {
		has = append(has, "HEAD")
	}
	slices.Sort(has)
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"} {
		if slices.Contains(has, method) {
			continue
		}
		got := o.refused(method, path, "", nil, 405)
		if allow := got.header.Get("Allow"); allow != strings.Join(slices.Compact(has), ", ") {
			o.t.Errorf("%s %s: Allow is %q, and it has %s", method, path, allow, has)
		}
	}
}

// paths asks for what is beside a path. Under /rest a path with a slash behind it is
// the same path.
func (o *oddities) paths(path string) {
	if !strings.HasPrefix(path, "/rest/") {
		o.refused("POST", path+"/", "application/json", strings.NewReader(`{"bogus":1}`), 401, 404)
	}
	for _, beside := range []string{path + "//", "/" + path, "/" + strings.Replace(path[1:], "/", "//", 1), path + "/.", path + "/../x", "/x/.." + path, path + ";a=b", path + ".html", path + "%20"} {
		for _, method := range []string{"GET", "POST", "HEAD"} {
			// Where the last part of the path is a name, it is that of nothing, or one
			// that cannot be.
			o.refused(method, beside, "application/json", strings.NewReader(`{"bogus":1}`), 400, 401, 404, 405, 409, 412, 415)
		}
	}
}
