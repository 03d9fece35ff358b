package pages

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/about"
	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
)

// All users see the version and what is inside, and each licence in full.
func TestAbout(t *testing.T) {
	c, err := console.New(console.Options{Identity: identitytest.Everybody(), BaseURL: "https://tools.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	Register(c, "v1.2.3")
	handler, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	open := func(path, who string, status int, texts ...string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), "GET", "https://tools.example.com"+path, nil)
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(true, ""), Value: who})
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
		for _, text := range texts {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s does not say %q: %s", path, text, w.Body)
			}
		}
	}
	open(path, "repo", 200, "<dd>v1.2.3</dd>", "github.com/alecthomas/kong", "modernc.org/sqlite", "BSD-3-Clause")
	modules, err := about.Modules()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		open(path+"/licence?module="+url.QueryEscape(m.Path), "repo", 200, "Licence of "+m.Path)
	}
	open(path+"/licence?module=github.com/alecthomas/kong", "admin", 200, "Permission is hereby granted, free of charge")
	open(path+"/licence?module=example.com/other", "admin", 404)
	open(path, "", 303)
}
