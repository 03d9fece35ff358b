package rest

import (
	"log/slog"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second  // a client that sends its header slower holds a connection for nothing
	idleTimeout   = 120 * time.Second // above the 60 s after which common proxies let go of theirs
	maxHeader     = 64 << 10          // cookies of a whole domain, and a token
)

// Server is an HTTP server for the handler. There is no time limit for a whole
// request: uploads and live streams take theirs.
func Server(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		// What it says is about clients that break off or speak no TLS.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
