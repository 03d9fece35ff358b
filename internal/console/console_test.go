package console

import (
	"bytes"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"outrigger/internal/identity"
)

// site is a console with the sample wing, and a browser of ada's at it.
type site struct {
	t        *testing.T
	c        *Console
	handler  http.Handler
	sessions *sessions
	log      *bytes.Buffer
	base     string
	cookies  []*http.Cookie
}

func newSite(t *testing.T, base string) *site {
	t.Helper()
	s := &site{t: t, sessions: &sessions{}, log: &bytes.Buffer{}, base: base}
	c, err := New(Options{Identity: s.sessions, BaseURL: base, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(s.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	sampleWing(c)
	if s.handler, err = c.Handler(); err != nil {
		t.Fatal(err)
	}
	s.c = c
	return s.as("s-ada")
}

// as is the browser with that session, "" for none.
func (s *site) as(session string) *site {
	other := *s
	other.cookies = nil
	if session != "" {
		u, err := url.Parse(s.base)
		if err != nil {
			s.t.Fatal(err)
		}
		name := identity.SessionCookie(u.Scheme == "https", strings.TrimSuffix(u.Path, "/"))
		other.cookies = []*http.Cookie{{Name: name, Value: session}}
	}
	return &other
}

// send makes a request; form nil is no body.
func (s *site) send(method, target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest(method, s.base+target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *site) get(target string) *httptest.ResponseRecorder { return s.send("GET", target, nil) }

const plainBase = "http://outrigger.test"

func TestBaseURLIsChecked(t *testing.T) {
	for _, base := range []string{"", "outrigger.test", "ftp://outrigger.test", "/outrigger", "http://", "http://%zz"} {
		if _, err := New(Options{Identity: &sessions{}, BaseURL: base}); err == nil || !strings.Contains(err.Error(), "base URL") {
			t.Errorf("base URL %q: %v", base, err)
		}
	}
}

func TestTemplatesAreChecked(t *testing.T) {
	page := func(body string) map[string]string {
		return map[string]string{"p.html": `{{define "content"}}` + body + `{{end}}`}
	}
	for _, tc := range []struct {
		name  string
		files map[string]string
		pages []string
		want  string
	}{
		{"all there", page(`{{template "badge" (badge "good" "on")}}`), []string{"p"}, ""},
		{"a part of the wing", map[string]string{"p.html": `{{define "content"}}{{template "row" .}}{{end}}`, "row.html": `{{define "row"}}{{end}}`}, []string{"p"}, ""},
		{"a page that is not there", page(``), []string{"q"}, `GET /p names the page "q", which is not there`},
		{"a part that is not there", page(`{{if .}}{{range .}}{{with .}}{{template "rwo" .}}{{end}}{{end}}{{end}}`), nil, `content calls the template "rwo"`},
		{"a name that the shell has", map[string]string{"overview.html": `{{define "content"}}{{end}}`}, nil, "two pages are named overview"},
		{"a syntax error", page(`{{if}}`), nil, "missing value for if"},
		{"a function that is not there", page(`{{shout "x"}}`), nil, `function "shout" not defined`},
		{"an inline style", page(`<p style="color:red">`), nil, "belong in an asset"},
		{"a style element", page(`<style>p{}</style>`), nil, "belong in an asset"},
		{"an inline script", page(`<script>alert(1)</script>`), nil, "belong in an asset"},
		{"an inline module", page(`<script type="module">alert(1)</script>`), nil, "belong in an asset"},
		{"an event attribute", page(`<p onclick="alert(1)">`), nil, "belong in an asset"},
		{"a javascript address", page(`<a href="javascript:alert(1)">`), nil, "belong in an asset"},
		{"a script from elsewhere", page(`<script src="https://cdn.example/x.js"></script>`), nil, "belong in an asset"},
		{"a style sheet from elsewhere", page(`<link rel="stylesheet" href="//cdn.example/x.css">`), nil, "belong in an asset"},
		{"an address without link", page(`<a href="/rules">`), nil, "go through link"},
		{"a form action without link", page(`<form action="/rules">`), nil, "go through link"},
		{"an address elsewhere is fine", page(`<a href="https://example.com/docs">`), nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := New(Options{Identity: &sessions{}, BaseURL: plainBase})
			if err != nil {
				t.Fatal(err)
			}
			c.AddPages(wingOf(tc.files))
			c.Handle("GET /p", Anyone, func(*http.Request) (Response, error) { return Page{}, nil }, tc.pages...)
			if _, err = c.Handler(); err == nil {
				err = c.Check()
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAPageThatWasNotNamedIsRefused(t *testing.T) {
	c, err := New(Options{Identity: &sessions{}, BaseURL: plainBase})
	if err != nil {
		t.Fatal(err)
	}
	c.Handle("GET /p", Anyone, func(*http.Request) (Response, error) { return Page{Template: "sign-in"}, nil })
	h, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/p", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("status %d", w.Code)
	}
}

// samplePages are addresses that show every part of the shell.
var samplePages = []string{
	"/", "/notifications/rules", "/notifications/deliveries", "/notifications/rules/new",
	"/notifications/rules/7/delete", "/fault/not_found", "/fault/internal", "/nowhere",
}

// TestPagesAreSound holds what a reader with a keyboard, a screen reader or a
// base URL with a path needs of every page.
func TestPagesAreSound(t *testing.T) {
	s := newSite(t, "https://tools.test/outrigger")
	bodies := map[string]string{}
	for _, path := range samplePages {
		bodies[path] = s.get(path).Body.String()
	}
	bodies["refused"] = s.send("POST", "/notifications/rules/new", url.Values{"name": {""}}).Body.String()
	bodies["sign-in"] = s.as("").get("/sign-in?to=/notifications/rules").Body.String()
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			page := parsePage(t, body)
			for _, id := range page.references {
				if page.ids[id] != 1 {
					t.Errorf("%q is referred to, and is there %d times", id, page.ids[id])
				}
			}
			for id, n := range page.ids {
				if n > 1 {
					t.Errorf("the id %q is there %d times", id, n)
				}
			}
			for _, address := range page.addresses {
				if !strings.HasPrefix(address, "/outrigger/") && !strings.HasPrefix(address, "#") {
					t.Errorf("the address %q is not below the base URL", address)
				}
			}
			if page.h1 != 1 {
				t.Errorf("%d titles", page.h1)
			}
			if len(page.unnamed) > 0 {
				t.Errorf("no name for screen readers: %v", page.unnamed)
			}
			if found := regexp.MustCompile(`(?i)\sstyle=|\son[a-z]+=|<style|<script[^>]*>[^<]`).FindString(body); found != "" {
				t.Errorf("inline: %q", found)
			}
		})
	}
}

type parsedPage struct {
	ids        map[string]int
	references []string
	addresses  []string
	unnamed    []string
	labelled   map[string]bool
	fields     []string
	h1         int
}

func parsePage(t *testing.T, body string) parsedPage {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	p := parsedPage{ids: map[string]int{}, labelled: map[string]bool{}}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			p.element(n)
		}
	}
	for _, id := range p.fields {
		if !p.labelled[id] {
			p.unnamed = append(p.unnamed, "field "+id)
		}
	}
	return p
}

func (p *parsedPage) element(n *html.Node) {
	attr := map[string]string{}
	for _, a := range n.Attr {
		attr[a.Key] = a.Val
		switch a.Key {
		case "id":
			p.ids[a.Val]++
		case "for":
			p.labelled[a.Val] = true
			p.references = append(p.references, a.Val)
		case "aria-describedby", "aria-labelledby":
			p.references = append(p.references, strings.Fields(a.Val)...)
		case "href", "src", "action", "data-live":
			p.addresses = append(p.addresses, a.Val)
			if id, ok := strings.CutPrefix(a.Val, "#"); ok {
				p.references = append(p.references, id)
			}
		}
	}
	switch n.Data {
	case "h1":
		p.h1++
	case "input", "textarea", "select":
		inLabel := n.Parent.Data == "label"
		if attr["type"] != "hidden" && !inLabel {
			p.fields = append(p.fields, attr["id"])
		}
	case "button", "a":
		if text(n) == "" && attr["aria-label"] == "" && attr["data-theme-toggle"] != "" {
			p.unnamed = append(p.unnamed, n.Data)
		}
	case "img":
		if _, ok := attr["alt"]; !ok {
			p.unnamed = append(p.unnamed, "img "+attr["src"])
		}
	}
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestAssetsAreOurOwn: every file that is served is from this repository and
// reaches for nothing else.
func TestAssetsAreOurOwn(t *testing.T) {
	reach := regexp.MustCompile(`https?:|//[a-z]|@import|\bimport\b|\beval\b|new Function`)
	err := fs.WalkDir(shellAssets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(shellAssets, name)
		for line := range strings.Lines(string(body)) {
			line = strings.ReplaceAll(line, "http://www.w3.org/2000/svg", "")
			if !strings.HasPrefix(line, "//") && reach.MatchString(line) {
				t.Errorf("%s: %s", name, line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
