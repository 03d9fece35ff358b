package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// sayEvery is how often the log says that there are too many connections:
// clients that open many must not fill it.
const sayEvery = 10 * time.Second

// closedShare of the cap is closed at once, so that a flood does not have every
// connection looked at for each new one.
const closedShare = 32

// writeTime is the least that a client has to take a piece of an answer, twice
// that the most: a minute at 64 KiB is a tenth of the pace of bodies.
const (
	writeTime  = 30 * time.Second
	writePiece = 64 << 10
)

// Listen is l with a cap of open connections. Past it some go of the address
// that has most, those that have been idle longest: first of those that wait for
// their client, then of those that wait for an answer. That and failures to
// accept are said to log.
func Listen(l net.Listener, most int, log *slog.Logger) *Listener {
	return &Listener{
		Listener: l, most: most, log: log, open: map[*conn]struct{}{},
		full: rate.Sometimes{Interval: sayEvery}, refused: rate.Sometimes{Interval: sayEvery},
	}
}

// Listener knows the connections that it accepted; see Listen.
type Listener struct {
	net.Listener
	most          int
	log           *slog.Logger
	full, refused rate.Sometimes

	accepting sync.Mutex // held until what was accepted is in open

	mu     sync.Mutex
	open   map[*conn]struct{}
	closed int // connections closed for others since the log said so
}

func (l *Listener) Accept() (net.Conn, error) {
	l.accepting.Lock()
	defer l.accepting.Unlock()
	accepted, err := l.Listener.Accept()
	if err != nil {
		l.failed(err)
		return nil, err
	}
	c := &conn{Conn: accepted, listener: l, network: networkOf(accepted.RemoteAddr())}
	c.touch()
	l.mu.Lock()
	full := len(l.open) >= l.most
	l.open[c] = struct{}{}
	l.mu.Unlock()
	if full {
		l.makeRoom(c)
	}
	return c, nil
}

// failed says why no connection is accepted. Where descriptors ran out, some
// connections are closed: the server tries again in a moment.
func (l *Listener) failed(err error) {
	if errors.Is(err, net.ErrClosed) {
		return
	}
	l.refused.Do(func() { l.log.Error("connections cannot be accepted", "error", err) })
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		l.makeRoom(nil)
	}
}

// makeRoom closes connections, but not newest.
func (l *Listener) makeRoom(newest *conn) {
	l.mu.Lock()
	open := len(l.open)
	goes := expendable(l.open, newest, max(1, l.most/closedShare))
	l.closed += len(goes)
	l.mu.Unlock()
	for _, c := range goes {
		_ = c.Close() // its client may have closed it already
	}
	l.full.Do(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log.Warn("too many connections are open, the longest idle of the addresses with most are closed", "open", open, "most", l.most,
			"closed", l.closed)
		l.closed = 0
	})
}

// candidate is a connection that may be closed.
type candidate struct {
	*conn
	since int64 // when it was last used
	rank  int   // how many its address has open once those before it are closed
}

// expendable chooses up to n of those that wait for their client, and if there
// are none, one of those that wait for an answer: one after the other, always
// the longest idle of the address that has most. Behind a proxy all have one
// address, and it is simply the longest idle.
func expendable(open map[*conn]struct{}, newest *conn, n int) []*conn {
	var waiting, busy []candidate
	count := map[string]int{}
	for c := range open {
		count[c.network]++
		switch since := c.last.Load(); {
		case c == newest:
		case c.busy.Load() > 0:
			busy = append(busy, candidate{conn: c, since: since})
		default:
			waiting = append(waiting, candidate{conn: c, since: since})
		}
	}
	if len(waiting) == 0 {
		waiting, n = busy, 1
	}
	slices.SortFunc(waiting, func(a, b candidate) int { return cmp.Compare(a.since, b.since) })
	for i := range waiting {
		c := &waiting[i]
		c.rank = count[c.network]
		count[c.network]--
	}
	slices.SortStableFunc(waiting, func(a, b candidate) int { return cmp.Compare(b.rank, a.rank) })
	var goes []*conn
	for _, c := range waiting[:min(n, len(waiting))] {
		goes = append(goes, c.conn)
	}
	return goes
}

// conn is a connection that knows how long it has been idle.
type conn struct {
	net.Conn
	listener *Listener
	network  string       // of the client; see Network
	last     atomic.Int64 // when a byte was read or written or a request handled, in ns
	busy     atomic.Int32 // requests that are here to their end and are being answered
	active   atomic.Bool  // a request's header is here, and its answer is not complete
	leaving  atomic.Bool  // it is closed unless something comes at this moment

	writeUntil atomic.Int64 // the deadline of writing, in ns; 0: there is none
	ownUntil   atomic.Bool  // the handler set it
}

// begin and end are around the answer to a request that is here to its end.
func (c *conn) begin() {
	if c != nil {
		c.busy.Add(1)
	}
}

func (c *conn) end() {
	if c != nil {
		c.touch() // its answer may not be written yet
		c.busy.Add(-1)
	}
}

func (c *conn) touch() { c.last.Store(time.Now().UnixNano()) }

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil && c.leaving.Load() {
		n, err = c.lastRead(p, err)
	}
	if n > 0 {
		c.touch()
	}
	return n, err
}

// Write ends when the client does not take the answer: writeTime for each piece
// of it, unless the handler has set a deadline.
func (c *conn) Write(p []byte) (written int, err error) {
	for {
		piece := p[written:min(len(p), written+writePiece)]
		c.allowWrite()
		n, err := c.Conn.Write(piece)
		if written += n; n > 0 {
			c.touch()
		}
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// allowWrite leaves a write at least writeTime. The deadline is moved when half
// of its time is over: that costs more than a small write.
func (c *conn) allowWrite() {
	now := time.Now()
	if c.ownUntil.Load() || c.writeUntil.Load()-now.UnixNano() >= int64(writeTime) {
		return
	}
	until := now.Add(2 * writeTime)
	c.writeUntil.Store(until.UnixNano())
	_ = c.Conn.SetWriteDeadline(until) // fails on closed connections only
}

// SetWriteDeadline is for handlers that know how long their client may take; the
// zero time takes it back.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.ownUntil.Store(!t.IsZero())
	c.writeUntil.Store(0)
	return c.Conn.SetWriteDeadline(t)
}

// CloseWrite lets the client read the answer to a request that was not read to
// its end: net/http asks for it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

type connKey struct{}

// withConn is the ConnContext of a server.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if own := ownConn(c); own != nil {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// ownConn is the connection below c; nil where a Listener did not accept it.
func ownConn(c net.Conn) *conn {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secured.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// maxConnections bounds the memory of connections, of which each takes about
// 20 KiB: six for each of 1,000 browsers with live pages, and proxies' own.
const maxConnections = 8192

// MaxConnections is how many connections a server may hold open: half of the
// process's descriptors, so that the database, mail and outgoing requests have
// the other half.
func MaxConnections() int { return int(min(descriptors()/2, maxConnections)) }
