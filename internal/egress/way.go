package egress

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

// way is how a request goes: by which proxy, and how far it came.
type way struct {
	route
	asked context.Context    // by whom the request is wanted
	end   context.CancelFunc // of the request's own, which is over with its answer
	open  atomic.Bool        // there is a tunnel to the host, or a kept connection that was one
	// public: what answers is where webhooks may go without notify.allowed_networks.
	public atomic.Bool
	trace  httptrace.ClientTrace // by which net/http tells
}

type wayKey struct{}

// onWay returns the context of a request, which ends with the limit of its time.
func (c *Caller) onWay(asked context.Context) (context.Context, *way) {
	w := &way{asked: asked}
	ctx := asked
	if c.limit == 0 {
		ctx, w.end = context.WithCancel(ctx)
	} else {
		ctx, w.end = context.WithTimeout(ctx, c.limit)
	}
	return httptrace.WithClientTrace(context.WithValue(ctx, wayKey{}, w), &w.trace), w
}

// by has a request go by a route. isPublic judges the other end of a connection to
// the host itself; nil: it is not checked.
func (w *way) by(by route, isPublic func(addr net.Addr, plaintext bool) bool, plaintext bool) {
	w.route = by
	switch {
	case by.proxy != nil:
		w.trace.GotConn = func(httptrace.GotConnInfo) { w.open.Store(true) }
		if by.proxy.Scheme == "socks5" { // uses no TLS itself, and net/http does not tell when it is through
			w.trace.TLSHandshakeStart = func() { w.open.Store(true) }
		}
	case isPublic != nil:
		w.trace.GotConn = func(c httptrace.GotConnInfo) { w.public.Store(isPublic(c.Conn.RemoteAddr(), plaintext)) }
	}
}

// Public reports whether an answer came from where webhooks may go without
// notify.allowed_networks: a public address, by https, on a port of chat
// platforms. Behind a proxy that is what the host's name resolves to here, or the
// chat platforms' own names; of what else only the proxy knows, it is false.
func Public(resp *http.Response) bool {
	return resp.Request != nil && wayOf(resp.Request.Context()).public.Load()
}

// wayOf is never nil.
func wayOf(ctx context.Context) *way {
	if w, ok := ctx.Value(wayKey{}).(*way); ok {
		return w
	}
	return &way{}
}

// isTunnel reports whether the proxy lets everything through as it is, after it
// has connected. Requests of plain http it answers itself.
func (w *way) isTunnel(u *url.URL) bool { return u.Scheme == "https" || w.proxy.Scheme == "socks5" }
