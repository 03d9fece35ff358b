package dbtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands before a PostgreSQL server and plays its being away.
type Proxy struct {
	target string
	listen net.Listener
	away   bool
	mu     sync.Mutex
	conns  map[net.Conn]bool
	all    sync.WaitGroup
}

// NewProxy stands before the server of a database's URL, and gives the URL by
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
		p.all.Go(func() { p.pump(client, server) })
		p.all.Go(func() { p.pump(server, client) })
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

// pump copies until one end closes, and closes the other.
func (p *Proxy) pump(to, from net.Conn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
}
