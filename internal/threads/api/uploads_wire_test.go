package api

import (
	"net"
	"sync"
)

// wire is a listener whose connections can be made to break.
type wire struct {
	net.Listener
	mu   sync.Mutex
	cuts []int
}

// set has the next connections break: the first that brings more than so many
// bytes, then the first that brings more than the next number, and so on.
func (w *wire) set(cuts ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cuts = cuts
}

// due reports whether a connection that brought n bytes breaks.
func (w *wire) due(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cuts) == 0 || n <= w.cuts[0] {
		return false
	}
	w.cuts = w.cuts[1:]
	return true
}

// Accept wraps a connection.
func (w *wire) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &frail{Conn: c, wire: w}, nil
}

// frail is a connection that breaks when its wire says so.
type frail struct {
	net.Conn
	wire *wire
	n    int
}

// Read returns net.ErrClosed once the connection is broken.
func (f *frail) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if f.n += n; f.wire.due(f.n) {
		f.Close()
		return 0, net.ErrClosed
	}
	return n, err
}
