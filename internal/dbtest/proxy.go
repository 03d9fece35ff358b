package dbtest

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands before a PostgreSQL server and plays its being away.
type Proxy struct {
	target string
	listen net.Listener
	all    sync.WaitGroup

	mu    sync.Mutex
	away  bool
	lose  []byte // what LoseAnswer waits for
	conns map[net.Conn]bool
}

// NewProxy stands before the server of a database's URL, and returns the URL by
// which the database is reached through it.
func NewProxy(t testing.TB, databaseURL string) (p *Proxy, through string) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &Proxy{target: u.Host, listen: listen, conns: map[net.Conn]bool{}}
	p.all.Go(p.serve)
	t.Cleanup(func() {
		listen.Close()
		p.Away()
		p.all.Wait()
	})
	u.Host = listen.Addr().String()
	return p, u.String()
}

// Away cuts every connection and refuses new ones.
func (p *Proxy) Away() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = true
	p.cut()
}

// Back lets connections through again.
func (p *Proxy) Back() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = false
}

// Restart cuts every connection, and lets new ones through.
func (p *Proxy) Restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

func (p *Proxy) cut() {
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) serve() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		if !p.admit(client, server) {
			client.Close()
			server.Close()
			continue
		}
		var lost atomic.Bool // the next answer is
		p.all.Go(func() {
			p.pump(client, server, func([]byte) {
				if lost.Load() {
					client.Close()
				}
			})
		})
		p.all.Go(func() {
			p.pump(server, client, func(sent []byte) {
				if p.loses(sent) {
					lost.Store(true)
				}
			})
		})
	}
}

// admit notes the two ends of a connection; false while the server is away.
func (p *Proxy) admit(ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.away {
		for _, c := range ends {
			p.conns[c] = true
		}
	}
	return !p.away
}

// LoseAnswer waits for a client to send text, lets that through, and when the
// server answers cuts the client off instead, once.
func (p *Proxy) LoseAnswer(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = []byte(text)
}

// loses reports whether sent is what LoseAnswer waits for.
func (p *Proxy) loses(sent []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.lose != nil && bytes.Contains(sent, p.lose)
	if found {
		p.lose = nil
	}
	return found
}

// pump copies until one end closes, showing what it copies before it does, and
// closes the other.
func (p *Proxy) pump(to, from net.Conn, show func([]byte)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		show(buf[:n])
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			break
		}
	}
	to.Close()
	from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
}
