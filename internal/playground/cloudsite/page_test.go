package cloudsite

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	s := New(Options{})
	mux := http.NewServeMux()
	mux.Handle("/cloud/", http.StripPrefix("/cloud", (&Page{Site: s, Console: "http://console.example"}).Handler()))
	server := httptest.NewServer(mux)
	defer server.Close()
	get := func(path string) string {
		t.Helper()
		r, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(r.Body); err != nil || r.StatusCode != 200 {
			t.Errorf("%s: %d, %v", path, r.StatusCode, err)
		}
		return b.String()
	}
	if page := get("/cloud/"); !strings.Contains(page, "No issue has threads yet") || !strings.Contains(page, "http://console.example") ||
		regexp.MustCompile(`<style|style="|<script>|onclick`).MatchString(page) {
		t.Errorf("at first: %s", page)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/cloud/live", nil)
	live, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Body.Close()
	const says = "event: issues\ndata: new\n\n"
	event := make([]byte, len(says))
	if _, err := io.ReadFull(live.Body, event); err != nil || string(event) != says {
		t.Fatalf("live says %q at first, %v", event, err)
	}
	ask(s.Handler(), "PUT", "7/properties/"+Threads, `{"v":1,"generation":1,"parents":{"11783":"11782","11782":"11781"}}`)
	ask(s.Handler(), "PUT", "8/properties/"+Threads, `"<b>mine</b>"`)
	// Once or twice: the reader may be late.
	if _, err := io.ReadFull(live.Body, event); err != nil || string(event) != says {
		t.Errorf("live says %q, %v", event, err)
	}
	page := get("/cloud/issues")
	for _, want := range []string{"2 issues have properties", "asked 2 times", `data-issue="7"`, "<small>2 replies</small>",
		"<li>Comment 11781<ul><li>Comment 11782<ul><li>Comment 11783</li></ul></li></ul></li>", "outrigger.threads cannot be read"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in %s", want, page)
		}
	}
	if strings.Index(page, `data-issue="8"`) > strings.Index(page, `data-issue="7"`) {
		t.Error("what was written last is not first")
	}
	r, err := server.Client().PostForm(server.URL+"/cloud/mode", url.Values{"mode": {"too-often"}, "requests": {"9"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Request.URL.Path != "/cloud/" || !strings.Contains(string(body), `value="too-often" selected`) || !strings.Contains(string(body), `max="1000000" value="9"`) {
		t.Errorf("the mode leads to %s, %v: %s", r.Request.URL, err, body)
	}
	if got := s.Counts(); got != (Counts{Requests: 2, Writes: 2, AtOnce: 1, WritesAtOnce: 1}) {
		t.Errorf("%+v", got)
	}
	for _, path := range []string{"/cloud/web/site.css", "/cloud/web/site.js"} {
		get(path)
	}
}
