package egress

import (
	"context"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

// way is how a request goes: by which proxy, and how far it came.
type way struct {
	proxy *url.URL    // nil: none
	open  atomic.Bool // there is a tunnel to the host, or a kept connection that was one
}

type wayKey struct{}

// onWay gives the context of a request by a proxy; nil is none.
func onWay(ctx context.Context, proxy *url.URL) (context.Context, *way) {
	w := &way{proxy: proxy}
	if proxy == nil {
		return ctx, w
	}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { w.open.Store(true) }}
	if proxy.Scheme == "socks5" { // uses no TLS itself, and net/http does not tell when it is through
		trace.TLSHandshakeStart = func() { w.open.Store(true) }
	}
	return httptrace.WithClientTrace(context.WithValue(ctx, wayKey{}, w), trace), w
}

// wayOf is never nil.
func wayOf(ctx context.Context) *way {
	if w, ok := ctx.Value(wayKey{}).(*way); ok {
		return w
	}
	return &way{}
}

// isTunnel tells whether the proxy lets everything through as it is, after it
// has connected. Requests of plain http it answers itself.
func (w *way) isTunnel(u *url.URL) bool { return u.Scheme == "https" || w.proxy.Scheme == "socks5" }
