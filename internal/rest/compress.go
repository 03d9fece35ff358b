package rest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzhttp"
)

// compressFrom is the size from which on an answer is compressed.
const compressFrom = 1 << 10

// Compress compresses what h answers to GET, where the client takes it and except
// does not keep the path from it. Answers to other methods stay as they are: a secret
// that is shown once is in one of them, and its length would help in guessing it.
// Streams of events stay too.
func Compress(h http.Handler, except func(path string) bool) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(flate.BestSpeed), gzhttp.EnableZstd(false), gzhttp.SetContentType(false),
	)
	if err != nil {
		return nil, fmt.Errorf("compress answers: %w", err)
	}
	compressed := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := strings.Contains(r.Header.Get("Accept"), "text/event-stream")
		if r.Method != http.MethodGet || stream || r.Header.Get("Range") != "" || except(r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		compressed(w, r)
	}), nil
}
