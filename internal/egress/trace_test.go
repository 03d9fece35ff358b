package egress

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outrigger/internal/trace"
)

// What is asked for a request that belongs to a trace has that trace, by every way;
// what is asked for no request has none.
func TestTraceIsPassedOn(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	came := trace.From(http.Header{trace.Header: {"00-" + id + "-00f067aa0ba902b7-01"}})
	seen := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("traceparent") }))
	defer server.Close()
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.0/8"}}})
	ask := func(ctx context.Context, by *Caller) string {
		t.Helper()
		req, err := NewRequest(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := by.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return <-seen
	}
	for name, by := range map[string]*Caller{"webhook": c.Webhook(), "trusted": c.Trusted(), "unlimited": c.Unlimited()} {
		if got := ask(trace.With(t.Context(), came), by); !strings.HasPrefix(got, "00-"+id+"-") || !strings.HasSuffix(got, "-01") || strings.Contains(got, "00f067aa0ba902b7") {
			t.Errorf("%s: %q", name, got)
		}
		if got := ask(t.Context(), by); got != "" {
			t.Errorf("%s: without a trace, %q", name, got)
		}
	}
}
