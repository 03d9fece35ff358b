package app

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/identity"
)

// A sign-in at a browser takes the place of the session that was there,
// which nothing could end any more but its time.
func TestSigningInByPasswordEndsTheSessionThatWasThere(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	other := signedIn(t, a, "admin") // in another browser
	old := signedIn(t, a, "admin")
	for range 10 {
		var fresh string
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.Addr()+"/sign-in", nil)
		if err != nil {
			t.Fatal(err)
		}
		form := url.Values{"user": {"admin"}, "password": {password}}.Encode()
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(form)), int64(len(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: old})
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, c := range resp.Cookies() {
			if c.Name == identity.SessionCookie(false, "") {
				fresh = c.Value
			}
		}
		if _, err := a.identity.Session(t.Context(), old); err == nil {
			t.Fatal("the session that was there goes on")
		}
		for _, session := range []string{fresh, other} {
			if _, err := a.identity.Session(t.Context(), session); err != nil {
				t.Fatalf("%d: %v", resp.StatusCode, err)
			}
		}
		old = fresh
	}
}
