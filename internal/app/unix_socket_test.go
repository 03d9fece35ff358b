package app

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
)

// throughSocket asks a process that listens on a Unix socket.
func throughSocket(t *testing.T, path, url string, edit func(*http.Request)) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	edit(r)
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// Behind a proxy that connects to the Unix socket, clients are told apart once
// trusted_proxies has unix; before, the overview says what to write.
func TestUnixSocketBehindAProxy(t *testing.T) {
	for _, trusted := range [][]string{nil, {config.TrustSocket}} {
		cfg := settings(t)
		path := filepath.Join(t.TempDir(), "http.sock")
		cfg.Listen, cfg.BaseURL, cfg.TrustedProxies = "unix:"+path, "https://tools.example.com/outrigger", trusted
		a := start(t, cfg)
		if a.URL() != "https://tools.example.com/outrigger" || a.Addr() != path {
			t.Errorf("it is at %s and %s", a.URL(), a.Addr())
		}
		as := func(client, password string) func(*http.Request) {
			return func(r *http.Request) {
				r.Header.Set("X-Forwarded-For", client)
				r.SetBasicAuth("admin", password)
			}
		}
		const url = "https://tools.example.com/outrigger/rest/outrigger/1.0/users"
		plain := strings.Replace(url, "https", "http", 1)
		for range 40 {
			throughSocket(t, path, plain, as("198.51.100.1", "wrong"))
		}
		want := http.StatusOK
		if trusted == nil {
			want = http.StatusTooManyRequests
		}
		if got := throughSocket(t, path, plain, as("203.0.113.7", password)); got != want {
			t.Errorf("trusted %v: the other client is answered %d", trusted, got)
		}
		notices := a.router.UnlistedProxies()
		if named := len(notices) == 1 && notices[0].Line == `trusted_proxies: ["unix"]` && time.Since(notices[0].FirstAt) < patience; named != (trusted == nil) {
			t.Errorf("trusted %v: named are %+v", trusted, notices)
		}
	}
}
