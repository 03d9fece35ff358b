package jmx

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/secret"
)

// exporter answers every request with the body, and keeps the last request.
type exporter struct {
	body string
	seen *http.Request
	sent string
}

func (e *exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	e.seen, e.sent = r, string(raw)
	_, _ = io.WriteString(w, e.body)
}

// at makes Options for a server.
func at(t *testing.T, h http.Handler) Options {
	t.Helper()
	server := httptest.NewServer(h)
	c, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); server.Close() })
	return Options{Client: c.Trusted(), MailJMX: config.MailJMX{URL: server.URL, User: "monitor", Password: secret.New("x")}}
}

func file(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// judge fails unless the source gives these sizes, or the end of this error.
func judge(t *testing.T, s mailqueue.Source, want mailqueue.Sizes, failure string) {
	t.Helper()
	sizes, err := s.Sizes(t.Context())
	if failure == "" && err != nil || failure != "" && (!fault.Is(err, fault.Unavailable) || !strings.HasSuffix(err.Error(), failure)) || sizes != want {
		t.Errorf("%+v, %v\nwant %+v, %s", sizes, err, want, failure)
	}
}
