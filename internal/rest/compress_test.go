package rest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAnswersAreCompressed(t *testing.T) {
	long := strings.Repeat("one line of an answer\n", 100)
	for name, c := range map[string]struct {
		method, path, accept, encoding, body string
		compressed                           bool
	}{
		"long":                  {"GET", "/rules", "text/html", "gzip, br", long, true},
		"short":                 {"GET", "/rules", "text/html", "gzip", "short", false},
		"not taken":             {"GET", "/rules", "text/html", "", long, false},
		"refused by its weight": {"GET", "/rules", "text/html", "gzip;q=0", long, false},
		"a secret shown once":   {"POST", "/tokens", "text/html", "gzip", long, false},
		"a stream":              {"GET", "/live", "text/event-stream", "gzip", long, false},
		"excepted":              {"GET", "/mail/messages/1", "text/html", "gzip", long, false},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = io.WriteString(w, c.body)
			}), func(path string) bool { return strings.HasPrefix(path, "/mail/messages/") })
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(c.method, c.path, nil)
			r.Header.Set("Accept", c.accept)
			r.Header.Set("Accept-Encoding", c.encoding)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.compressed {
				t.Fatalf("compressed: %v", got)
			}
			body := io.Reader(w.Body)
			if c.compressed {
				if w.Body.Len() > len(c.body)/4 || w.Header().Get("Vary") != "Accept-Encoding" {
					t.Errorf("%d of %d bytes, Vary %q", w.Body.Len(), len(c.body), w.Header().Get("Vary"))
				}
				if body, err = gzip.NewReader(w.Body); err != nil {
					t.Fatal(err)
				}
			}
			if text, err := io.ReadAll(body); err != nil || string(text) != c.body {
				t.Errorf("%q %v", text, err)
			}
		})
	}
}
