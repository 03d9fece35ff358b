package rest

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkHook is what the router costs a webhook.
func BenchmarkHook(b *testing.B) {
	rt, err := NewRouter(Options{Identity: people{}, Log: slog.New(slog.DiscardHandler), BaseURL: "http://localhost:8090"})
	if err != nil {
		b.Fatal(err)
	}
	rt.handle(Route{Method: "POST", Path: "/hooks/{connection}", Raw: true, MaxBody: 10 << 20}, func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
		return err
	})
	body := bytes.Repeat([]byte("x"), 5<<10)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/hooks/main", bytes.NewReader(body))
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, r)
		if w.Code != http.StatusAccepted {
			b.Fatal(w.Code)
		}
	}
}
