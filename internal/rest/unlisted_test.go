package rest

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/identity/identitytest"
)

// The first request through a proxy that is not listed is said, with the line that
// lists it; the second is not, and neither is what no proxy sent.
func TestAProxyThatIsNotListedIsSaidOnce(t *testing.T) {
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-IP"} {
		var log bytes.Buffer
		rt, err := NewRouter(Options{
			Identity: identitytest.Everybody(), Log: slog.New(slog.NewTextHandler(&log, nil)), BaseURL: "http://localhost:8090",
			TrustedProxies: []string{"10.0.0.0/8"},
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(peer, header string) {
			r := httptest.NewRequest(http.MethodGet, "/rest/outrigger/1.0/users", nil)
			r.RemoteAddr = peer
			if header != "" {
				r.Header.Set(header, "for=198.51.100.1")
			}
			rt.ServeHTTP(httptest.NewRecorder(), r)
		}
		ask("192.0.2.1:1", "")
		ask("10.0.0.1:1", header)
		if list := rt.UnlistedProxies(); len(list) != 0 || log.Len() != 0 {
			t.Fatalf("%s: %+v %s", header, list, &log)
		}
		var all sync.WaitGroup
		for range 10 { // two of them at once
			all.Go(func() { ask("192.0.2.1:1", header) })
			all.Go(func() { ask("[2001:db8::1]:1", header) })
		}
		all.Wait()
		list := rt.UnlistedProxies()
		if len(list) != 2 || list[0].Header != header {
			t.Fatalf("%s: %+v", header, list)
		}
		for _, p := range list {
			want := `trusted_proxies: ["10.0.0.0/8", "192.0.2.1/32"]`
			if p.Address != "192.0.2.1" {
				want = `trusted_proxies: ["10.0.0.0/8", "2001:db8::1/128"]`
			}
			if p.Line != want {
				t.Errorf("%s: %s", header, p.Line)
			}
		}
		if n := strings.Count(log.String(), " peer="); n != 2 {
			t.Errorf("%s: said %d times: %s", header, n, &log)
		}
		for i := range 20 { // clients that write the header themselves
			ask(fmt.Sprintf("203.0.113.%d:1", i), header)
		}
		if len(rt.UnlistedProxies()) != maxUnlisted || strings.Count(log.String(), " peer=") != maxUnlisted {
			t.Errorf("%s: %d proxies", header, len(rt.UnlistedProxies()))
		}
	}
}
