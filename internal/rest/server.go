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

// Server is an HTTP server for the handler, best on a Listener. A request body
// must arrive within 30 s, at no less than 16 KiB a second after the first 5 s,
// whether the handler reads it or not; see BeginUpload. There is no time limit
// for answers: exports and live streams take theirs.
func Server(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           paced(handler, bodyPace),
		ConnContext:       withConn,
		ConnState:         noteState,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		// net/http's own answer to OPTIONS * waits for the body.
		DisableGeneralOptionsHandler: true,
		// What it says is about clients that break off or speak no TLS. What
		// Accept fails with is said by Listener.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// paced has request bodies keep the pace, and tells a connection when it has
// the whole of a request.
func paced(next http.Handler, p pace) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r.Context())
		own := *r // the server's must not be changed
		if r.Body == nil || r.Body == http.NoBody {
			c.begin()
			defer c.end()
		} else {
			body := newPacedBody(w, r, c, p)
			defer body.handled(w, r)
			own.Body = body
		}
		next.ServeHTTP(w, &own)
	})
}
