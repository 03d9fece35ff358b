package acceptance

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesAreValidHTML reads every page that an administrator reaches by links, with
// something in its lists, pages that refuse a form, and those of the demo's outside
// world: html-validate has nothing to say about any.
func TestPagesAreValidHTML(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	d.send(t)
	d.refuseMail(t)
	d.mode(t, "off")
	d.send(t)
	r := newPageReader(t, d)
	for _, path := range []string{"/sign-in", "/sign-in/passkey", "/no/such/page", "/docs/"} {
		r.read(d.console + path)
	}
	r.post("/sign-in", url.Values{"user": {"admin"}, "password": {d.password}, "to": {"/"}})
	r.post("/account/tokens/new", url.Values{"name": {"monitor"}, "scope": {"monitoring"}})
	r.post("/system/users/new", url.Values{"name": {"grace"}})
	for _, form := range []string{"/notifications/rules/new?level=repository", "/notifications/reports/new", "/notifications/new-connection", "/system/users/new"} {
		r.post(form, url.Values{"branchMask": {"("}})
	}
	r.follow("/", "/confirm", "/find?q=rule", "/mail/messages/delete", "/notifications/new-connection?kind=bitbucket-cloud",
		"/notifications/renames", "/system/about/licence?module=Go", "/threads/admin/issue", "/threads/admin/migration/verify")
	for _, path := range []string{"/", "/mail/", "/cloud/", "/bitbucket/"} {
		r.read(d.chat + path)
	}
	if len(r.saved) < 100 {
		t.Errorf("only %d pages were reached", len(r.saved))
	}
	check := exec.CommandContext(t.Context(), "node_modules/.bin/html-validate", "--config", "config.js", "--max-warnings", "0", "pages/*.html")
	check.Dir = r.dir
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("html-validate: %v\n%s", err, out)
	}
}

// pageReader is a browser that keeps the pages that it is served, each in a file.
type pageReader struct {
	t      *testing.T
	d      demo
	client *http.Client
	dir    string
	saved  map[string]bool // by method and address
}

func newPageReader(t *testing.T, d demo) *pageReader {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := npmInstalled(t, "testdata/htmlvalidate")
	if err := os.Mkdir(filepath.Join(dir, "pages"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &pageReader{t: t, d: d, client: &http.Client{Jar: jar, Timeout: patience}, dir: dir, saved: map[string]bool{}}
}

var (
	linked  = regexp.MustCompile(`<a [^>]*href="(/[^"]*)"`)
	number  = regexp.MustCompile(`\d+`)
	after   = regexp.MustCompile(`[?#].*`)
	notName = regexp.MustCompile(`[^\w.=?&-]+`)
)

// follow reads pages of the console and what they link to, one of each kind: pages
// that differ in a number, or after the path, are of one kind.
func (r *pageReader) follow(paths ...string) {
	r.t.Helper()
	seen := map[string]bool{}
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		kind := number.ReplaceAllString(after.ReplaceAllString(path, ""), "1")
		if seen[kind] {
			continue
		}
		seen[kind] = true
		for _, link := range linked.FindAllStringSubmatch(r.read(r.d.console+path), -1) {
			paths = append(paths, html.UnescapeString(link[1]))
		}
	}
}

// read returns the page at an address; "" where what is there is no page.
func (r *pageReader) read(address string) string {
	r.t.Helper()
	resp, err := r.client.Get(address)
	return r.keep("GET "+address, resp, err)
}

func (r *pageReader) post(path string, form url.Values) {
	r.t.Helper()
	resp, err := r.client.PostForm(r.d.console+path, form)
	r.keep("POST "+path, resp, err)
}

func (r *pageReader) keep(name string, resp *http.Response, err error) string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		r.t.Errorf("%s: %s", name, resp.Status)
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return ""
	}
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	name = notName.ReplaceAllString(strings.ReplaceAll(name, r.d.console, ""), "_")
	r.saved[name] = true
	if err := os.WriteFile(filepath.Join(r.dir, "pages", name+".html"), page, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return string(page)
}
