package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outrigger/internal/secret"
)

// A wrong --server is the first mistake of a new reader of the manual: each says
// what would be right.
func TestWrongServer(t *testing.T) {
	nothing := http.NotFoundHandler()
	plain := httptest.NewServer(nothing)
	defer plain.Close()
	secure := httptest.NewUnstartedServer(nothing)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer proxy.Close()
	otherScheme := func(s *httptest.Server, from, to string) string { return strings.Replace(s.URL, from, to, 1) }

	for _, c := range []struct{ name, base, want string }{
		{"HTTP to an HTTPS port", otherScheme(secure, "https:", "http:"), " answered 400 Bad Request; if it is an HTTPS server, begin --server (or OUTRIGGER_SERVER) with https://"},
		{"HTTPS to an HTTP port", otherScheme(plain, "http:", "https:"), " does not speak HTTPS; begin --server (or OUTRIGGER_SERVER) with http://"},
		{"wrong path", plain.URL + "/wrong", " answered 404 Not Found; --server (or OUTRIGGER_SERVER) must be the base_url of an Outrigger server"},
		{"proxy without a server", proxy.URL, " answered 502 Bad Gateway"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := &client{base: c.base, credentials: credentials{token: secret.New("some")}}
			want := c.base + c.want
			if err := asked.do(t.Context(), "GET", "/rest/outrigger/1.0/users", nil, nil); err == nil || err.Error() != want {
				t.Errorf("do: %v\nwant: %s", err, want)
			}
			if err := asked.copyTo(t.Context(), io.Discard, "/rest/outrigger/1.0/audit"); err == nil || err.Error() != want {
				t.Errorf("copyTo: %v\nwant: %s", err, want)
			}
		})
	}
}
