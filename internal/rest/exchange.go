package rest

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/identity"
)

// exchange is one request and what became of it. It is the ResponseWriter that
// handlers get, and notes what they answer.
type exchange struct {
	http.ResponseWriter
	router   *Router
	endpoint *endpoint // nil: no route has the path
	route    *Route    // nil: no route, or none with the method
	caller   identity.Caller
	started  time.Time
	status   int // 0: nothing answered yet
	bytes    int64
	gone     bool // broken off by the client, or by our own stop
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// WriteHeader notes the status; interim ones (1xx) are not the answer.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController flush and set deadlines.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// RequestID is what X-Request-Id of the answer says; "" outside a request.
func RequestID(ctx context.Context) string { return identity.OriginOf(ctx).RequestID }

// ClientAddr is the client's address without its port, seen through the
// proxies that are trusted; "" outside a request.
func ClientAddr(ctx context.Context) string { return identity.OriginOf(ctx).Address }

// Link is the absolute URL of a path such as "/rest/mtbs/1.0/…" under the
// base URL; the path alone outside a request.
func Link(ctx context.Context, path string) string {
	if x := exchangeOf(ctx); x != nil {
		return x.router.base.link + path
	}
	return path
}
