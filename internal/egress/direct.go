package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// direct sends requests over HTTP/1.1, as http.Transport does, but has whoever
// asks write and read: no two goroutines, and no buffers, for each connection
// that is kept. Hundreds of channels keep theirs; an event under full load
// takes a twelfth less for it. It is for short requests that come whole: the answer is read when
// all of the request was written.
type direct struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	tls  *tls.Config // nil: http

	mu    sync.Mutex
	hosts map[string]*host
	kept  int // idle connections of all hosts
	reap  *time.Timer
}

// host is an address to connect to, while it has connections.
type host struct {
	slots chan struct{} // one for each connection in use
	idle  []*conn       // longest idle first
	users int           // requests that have it in hand
}

// conn is a connection, for one request at a time.
type conn struct {
	net.Conn
	host  *host
	stale func() bool // closed by the other side, or with something to read
	since time.Time   // idle
}

func newDirect(dial func(context.Context, string, string) (net.Conn, error), config *tls.Config) *direct {
	return &direct{dial: dial, tls: config, hosts: map[string]*host{}}
}

// RoundTrip sends a request. One whose connection was kept, and turns out to be
// closed before any answer, is sent again over a new one.
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	address := addressOf(req)
	h, err := d.enter(req.Context(), address)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := d.roundTrip(req, h, address)
	if err != nil {
		d.leave(h, address)
	}
	return resp, err
}

func (d *direct) roundTrip(req *http.Request, h *host, address string) (*http.Response, error) {
	for c := d.take(h); c != nil; c = d.take(h) {
		if c.stale() {
			c.Close()
			continue
		}
		x := d.exchange(c, address, req)
		resp, err := x.run()
		if err == nil || x.answered || req.Context().Err() != nil || !rewind(req) {
			return resp, err
		}
		break
	}
	c, err := d.connect(req.Context(), req.URL.Hostname(), address)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	c.host = h
	return d.exchange(c, address, req).run()
}

func addressOf(req *http.Request) string {
	port := req.URL.Port()
	switch {
	case port != "":
	case req.URL.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(req.URL.Hostname(), port)
}

// rewind makes a request ready to be sent once more, where that can be.
func rewind(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err == nil {
		req.Body = body
	}
	return err == nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// connect opens a connection, within ctx.
func (d *direct) connect(ctx context.Context, name, address string) (*conn, error) {
	raw, err := d.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, stale: staleness(raw)}
	if d.tls == nil {
		return c, nil
	}
	config := d.tls.Clone()
	config.ServerName = name
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	c.Conn = secure
	closed := c.stale
	c.stale = func() bool { return closed() || holds(secure) }
	return c, nil
}

// holds tells whether more was read from a connection than was asked for, or
// TLS failed on it.
func holds(c *tls.Conn) bool {
	if c.SetReadDeadline(longAgo) != nil {
		return true
	}
	var b [1]byte
	_, err := c.Read(b[:])
	return !errors.Is(err, os.ErrDeadlineExceeded) || c.SetReadDeadline(time.Time{}) != nil
}

// longAgo ends what reads and writes.
var longAgo = time.Unix(1, 0)

// enter waits for its turn at a host, which leave ends.
func (d *direct) enter(ctx context.Context, address string) (*host, error) {
	d.mu.Lock()
	h := d.hosts[address]
	if h == nil {
		h = &host{slots: make(chan struct{}, connsPerHost)}
		d.hosts[address] = h
	}
	h.users++
	d.mu.Unlock()
	select {
	case h.slots <- struct{}{}:
		return h, nil
	case <-ctx.Done():
		d.mu.Lock()
		defer d.mu.Unlock()
		d.drop(h, address)
		return nil, context.Cause(ctx)
	}
}

func (d *direct) leave(h *host, address string) {
	<-h.slots
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop(h, address)
}

// drop forgets a host that nobody uses and that has no connections. d.mu is
// held.
func (d *direct) drop(h *host, address string) {
	h.users--
	if h.users == 0 && len(h.idle) == 0 {
		delete(d.hosts, address)
	}
}

// take gives the connection that was used last, nil for none.
func (d *direct) take(h *host) *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	c := h.idle[last]
	h.idle, d.kept = h.idle[:last], d.kept-1
	return c
}

// keep puts a connection aside for the next request; it is false where there
// are enough.
func (d *direct) keep(c *conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(c.host.idle) == idlePerHost || d.kept == idleConns {
		return false
	}
	c.since = time.Now()
	c.host.idle, d.kept = append(c.host.idle, c), d.kept+1
	if d.reap == nil {
		d.reap = time.AfterFunc(idleTime, func() { d.closeIdle(idleTime) })
	}
	return true
}

// CloseIdleConnections closes what is kept.
func (d *direct) CloseIdleConnections() { d.closeIdle(0) }

// closeIdle closes what has been kept for so long, and comes again for the rest.
func (d *direct) closeIdle(age time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := time.Now().Add(-age)
	for address, h := range d.hosts {
		n := 0
		for n < len(h.idle) && !h.idle[n].since.After(before) {
			h.idle[n].Close()
			n++
		}
		h.idle, d.kept = append([]*conn(nil), h.idle[n:]...), d.kept-n
		if h.users == 0 && len(h.idle) == 0 {
			delete(d.hosts, address)
		}
	}
	if d.reap != nil {
		d.reap.Stop()
		d.reap = nil
	}
	if d.kept > 0 {
		d.reap = time.AfterFunc(idleTime/4, func() { d.closeIdle(idleTime) })
	}
}
