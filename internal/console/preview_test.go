package console

import (
	"net"
	"net/http"
	"os"
	"testing"
)

// TestPreview serves the sample pages for a look with a browser until the
// test times out, where CONSOLE_PREVIEW is an address to listen on:
//
//	CONSOLE_PREVIEW=127.0.0.1:8099 go test -run TestPreview -timeout 1h ./internal/console
//
// ?as=nobody on any page shows it signed out.
func TestPreview(t *testing.T) {
	addr := os.Getenv("CONSOLE_PREVIEW")
	if addr == "" {
		return
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Identity: &sessions{}, BaseURL: "http://" + addr, Version: "0.1.0 (preview)"})
	if err != nil {
		t.Fatal(err)
	}
	sampleWing(c)
	h, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("as") != "nobody" {
			r.AddCookie(&http.Cookie{Name: "outrigger_session", Value: "s-ada"})
		}
		if f := r.URL.Query().Get("flash"); f != "" {
			x := &exchange{c: c, w: &headerOnly{header: http.Header{}}, r: r}
			x.setFlash(f, Good)
			r.Header.Add("Cookie", x.w.Header().Get("Set-Cookie"))
		}
		if r.URL.Query().Get("post") != "" {
			r.Method = http.MethodPost
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		h.ServeHTTP(w, r)
	})))
}
