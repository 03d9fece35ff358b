package docs

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/console"
	"outrigger/internal/identity/identitytest"

	pages "outrigger/docs"
)

// The index lists every page once, by the title that the page has or a shorter one.
func TestIndexListsEveryPage(t *testing.T) {
	index, err := Index(pages.Pages)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, s := range index.Sections {
		if s.Title == "" || len(s.Entries) == 0 {
			t.Errorf("the section %q has %d pages", s.Title, len(s.Entries))
		}
		for _, e := range s.Entries {
			listed = append(listed, e.Name+".md")
		}
	}
	slices.Sort(listed)
	files, err := fs.Glob(pages.Pages, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return name == "README.md" })
	if !slices.Equal(listed, files) {
		t.Errorf("listed %q\nthere are %q", listed, files)
	}
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	fence        = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	codeSpan     = regexp.MustCompile("`[^`\n]*`")
	anchorID     = regexp.MustCompile(`<h[2-6] id="([^"]*)"`)
)

// anchors are the ids of the headings of a page, twice where two have one text.
func anchors(t *testing.T, file string) (ids []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := Render(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, match := range anchorID.FindAllStringSubmatch(string(page.Body), -1) {
		ids = append(ids, match[1])
	}
	return ids
}

// Every link in the documentation, and in the files at the root of the repository,
// leads to a file that is there, and to a heading that it has.
func TestLinksResolve(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
		files = append(files, filepath.Join(root, name))
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prose := codeSpan.ReplaceAllString(fence.ReplaceAllString(string(text), ""), "")
		for _, match := range markdownLink.FindAllStringSubmatch(prose, -1) {
			found++
			checkLink(t, file, match[1])
		}
	}
	if found < 100 {
		t.Errorf("only %d links were found", found)
	}
}

func checkLink(t *testing.T, file, link string) {
	t.Helper()
	// The description of the endpoints is on a server, beside the pages there.
	if strings.HasPrefix(link, "https://") || link == "../rest/openapi.yaml" {
		return
	}
	name, anchor, _ := strings.Cut(link, "#")
	target := filepath.Join(filepath.Dir(file), name)
	if name == "" {
		target = file
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s links to %s: %v", file, link, err)
		return
	}
	if anchor != "" && !slices.Contains(anchors(t, target), anchor) {
		t.Errorf("%s links to %s, and there is no such heading in %q", file, link, anchors(t, target))
	}
}

// Each heading of a page can be linked to: none has the id of another.
func TestHeadingsAreDistinct(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ids := anchors(t, file)
		slices.Sort(ids)
		if distinct := slices.Compact(slices.Clone(ids)); len(distinct) != len(ids) {
			t.Errorf("%s: %q", file, ids)
		}
		for _, id := range ids {
			if strings.HasSuffix(id, "-1") {
				t.Errorf("%s has two headings with one text: %s", file, id)
			}
		}
	}
}

// The page that a page of the console links to is there, with its heading.
func TestDocumentedPagesExist(t *testing.T) {
	for of, name := range documented {
		name, anchor, _ := strings.Cut(name, "#")
		if name == "" {
			continue // the index
		}
		file := filepath.Join("..", "..", "..", "docs", name+".md")
		if ids := anchors(t, file); anchor != "" && !slices.Contains(ids, anchor) {
			t.Errorf("%s is documented at %s#%s, and its headings are %q", of, name, anchor, ids)
		}
	}
}

func TestAbout(t *testing.T) {
	for page, want := range map[string]string{
		"/":                               "/docs/",
		"/nothing/of/this":                "/docs/",
		"/notifications/rules/new":        "/docs/rules",
		"/notifications/rules/17/delete":  "/docs/rules",
		"/notifications/cloud/rules/3":    "/docs/cloud-rules",
		"/notifications/cloud/accounts":   "/docs/bitbucket-cloud#let-users-authorise-accounts",
		"/system/users/named/ann/disable": "/docs/users",
		"/mail":                           "/docs/mail",
		"/mailbox":                        "/docs/",
		"/docs/rules":                     "",
		"/docs/":                          "",
		"/sign-in":                        "/docs/troubleshooting#you-cannot-sign-in",
		"/sign-in/factor":                 "/docs/second-factors#if-it-is-lost",
	} {
		if got := about(page); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

// site is a console with the documentation, below a path.
func site(t *testing.T) (ask func(path string) *httptest.ResponseRecorder) {
	t.Helper()
	c, err := console.New(console.Options{Identity: identitytest.Everybody(), BaseURL: "https://tools.example.com/outrigger"})
	if err != nil {
		t.Fatal(err)
	}
	Register(c)
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	handler, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://tools.example.com/outrigger"+path, nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
}

// Every page is served to anyone, with links to the pages around it.
func TestEveryPageIsServed(t *testing.T) {
	ask := site(t)
	index, err := Index(pages.Pages)
	if err != nil {
		t.Fatal(err)
	}
	w := ask("/docs/")
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `<h1>Documentation</h1>`) || !strings.Contains(body, `<a href="install">Install</a>`) {
		t.Errorf("the index: %d %s", w.Code, body)
	}
	all := index.entries()
	for i, e := range all {
		w := ask("/docs/" + e.Name)
		body := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(body, `aria-current="page">`+e.Title) {
			t.Errorf("%s: %d", e.Name, w.Code)
		}
		if next := `rel="next" href="/outrigger/docs/`; strings.Contains(body, next) != (i+1 < len(all)) {
			t.Errorf("%s: whether there is a next page is wrong", e.Name)
		}
		if strings.Contains(body, `.md"`) || strings.Contains(body, `.md#`) || strings.Contains(body, "<!-- raw HTML omitted -->") {
			t.Errorf("%s links to a file, or has HTML", e.Name)
		}
	}
}

// Who cannot sign in is led to what helps.
func TestSignInIsDocumented(t *testing.T) {
	ask := site(t)
	if body := ask("/sign-in").Body.String(); !strings.Contains(body, `href="/outrigger/docs/troubleshooting#you-cannot-sign-in">Documentation<`) {
		t.Errorf("%s", body)
	}
}

// What is no page of the documentation is not found, above all no other file.
func TestNoOtherFileIsServed(t *testing.T) {
	ask := site(t)
	for _, path := range []string{
		"/docs/README", "/docs/README.md", "/docs/install.md", "/docs/docs.go", "/docs/nothing", "/docs/Install", "/docs/install/",
		"/docs/..%2fREADME", "/docs/..%2f..%2fetc%2fpasswd", "/docs/%2e%2e/CHANGELOG.md", "/docs/%2fetc%2fpasswd", "/docs/install%00",
		"/docs/../README.md", "/docs/../../../../etc/passwd", `/docs/..\README`,
	} {
		w := ask(path)
		for range 3 { // a browser follows the address that is written cleanly
			if to := w.Header().Get("Location"); to != "" {
				w = ask(strings.TrimPrefix(to, "/outrigger"))
			}
		}
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// A page is Markdown with a title; what it has of HTML is left out.
func TestRender(t *testing.T) {
	page, err := Render([]byte("# A *title*\n\nSee [rules](rules.md#masks), [all](README.md), [this](#two-words), [out](https://example.com/x.md).\n\n" +
		"## Two words\n\n<script>alert(1)</script>\n\n| a | b |\n|---|---|\n| `x` | y |\n\n```\na < b <pre>\n```\n\n    indented\n"))
	if err != nil {
		t.Fatal(err)
	}
	if page.Title != "A title" {
		t.Errorf("the title is %q", page.Title)
	}
	for _, want := range []string{
		`<a href="rules#masks">rules</a>`, `<a href="./">all</a>`, `<a href="#two-words">this</a>`, `<a href="https://example.com/x.md">out</a>`,
		`<h2 id="two-words"><a href="#two-words">Two words</a></h2>`, `<td><code>x</code></td>`,
		`<pre tabindex="0" role="group" aria-label="Example 1"><code>a &lt; b &lt;pre&gt;`, `<pre tabindex="0" role="group" aria-label="Example 2"><code>indented`,
	} {
		if !strings.Contains(string(page.Body), want) {
			t.Errorf("%q is not in %s", want, page.Body)
		}
	}
	if strings.Contains(string(page.Body), "<script") || strings.Contains(string(page.Body), "<h1") {
		t.Errorf("%s", page.Body)
	}
	for _, text := range []string{"", "No title", "## Not the first"} {
		if _, err := Render([]byte(text)); err == nil {
			t.Errorf("%q is a page", text)
		}
	}
}
