package app

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"outrigger/internal/identity"
)

var (
	documentation = regexp.MustCompile(`<a class="about" href="([^"]*)">Documentation<`)
	heading       = regexp.MustCompile(`<h1>([^<]*)</h1>`)
)

// The heading of each page links to the page of the documentation about it, which is
// there, with the heading that it is about. Only the overview leads to all of them.
func TestEveryPageIsDocumented(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	session, _, err := a.identity.SignIn(t.Context(), "admin", password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	open := func(path string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	pages := 0
	for _, pattern := range a.pages.Patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		if method != http.MethodGet || strings.Contains(path, "{") || strings.HasSuffix(path, "/live") || strings.HasPrefix(path, "/docs/") {
			continue
		}
		resp, body := open(path)
		if resp.StatusCode != http.StatusOK || !heading.MatchString(body) {
			continue // what leads elsewhere, or is no page
		}
		pages++
		link := documentation.FindStringSubmatch(body)
		if link == nil {
			t.Errorf("%s has no link to the documentation", path)
			continue
		}
		to, anchor, _ := strings.Cut(link[1], "#")
		if to == "/docs/" && path != "/" {
			t.Errorf("%s leads to the index of the documentation", path)
		}
		resp, body = open(to)
		if resp.StatusCode != http.StatusOK || anchor != "" && !strings.Contains(body, ` id="`+anchor+`"`) {
			t.Errorf("%s leads to %s: %d", path, link[1], resp.StatusCode)
		}
	}
	if pages < 30 {
		t.Errorf("only %d pages were opened", pages)
	}
}
