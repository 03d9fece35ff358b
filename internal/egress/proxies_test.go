package egress

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// testProxy is a proxy that works, of any kind. What it is asked for it finds
// in hosts, as no name server has it.
type testProxy struct {
	address        string
	user, password string // "" wants none
	hosts          map[string]string

	mu    sync.Mutex
	asked []string
}

func (p *testProxy) dial(host string) (net.Conn, error) {
	p.mu.Lock()
	p.asked = append(p.asked, host)
	p.mu.Unlock()
	address, ok := p.hosts[host]
	if !ok {
		return nil, fmt.Errorf("no host %s", host)
	}
	return net.Dial("tcp", address)
}

func (p *testProxy) questions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// serveHTTPProxy serves a proxy of http, or https with the certificate that
// httptest has.
func serveHTTPProxy(t *testing.T, secure bool, p *testProxy) *testProxy {
	t.Helper()
	server := httptest.NewUnstartedServer(p)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	p.address = server.Listener.Addr().String()
	return p
}

func (p *testProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	user, password, _ := asked.BasicAuth()
	if p.user != "" && (user != p.user || password != p.password) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		forward := httputil.ReverseProxy{
			Rewrite:   func(*httputil.ProxyRequest) {},
			Transport: &http.Transport{DialContext: func(_ context.Context, _, host string) (net.Conn, error) { return p.dial(host) }, DisableKeepAlives: true},
			ErrorLog:  log.New(io.Discard, "", 0),
		}
		forward.ServeHTTP(w, r)
		return
	}
	there, err := p.dial(r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	tunnel(here, buffered, there)
}

func tunnel(here net.Conn, in io.Reader, there net.Conn) {
	var all sync.WaitGroup
	all.Go(func() { _, _ = io.Copy(there, in); _ = there.Close() })
	all.Go(func() { _, _ = io.Copy(here, there); _ = here.Close() })
	all.Wait()
}

// serveSOCKS serves SOCKS 5 (RFC 1928, RFC 1929).
func serveSOCKS(t *testing.T, p *testProxy) *testProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = l.Addr().String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer c.Close(); p.socks(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return p
}

func (p *testProxy) socks(c net.Conn) {
	in := bufio.NewReader(c)
	if !p.greet(in, c) {
		return
	}
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return
	}
	var host string
	if head[3] == 3 {
		host = readShort(in)
	} else {
		address := make(net.IP, map[byte]int{1: 4, 4: 16}[head[3]])
		_, _ = io.ReadFull(in, address)
		host = address.String()
	}
	var port [2]byte
	_, _ = io.ReadFull(in, port[:])
	there, err := p.dial(net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port[:])))))
	reply := byte(0)
	switch {
	case host == "forbidden.example.com":
		reply = 2
	case err != nil:
		reply = 4 // host unreachable
	}
	_, _ = c.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0})
	if err == nil {
		tunnel(c, in, there)
	}
}

// greet agrees on how the client signs in.
func (p *testProxy) greet(in *bufio.Reader, c net.Conn) bool {
	if version, _ := in.ReadByte(); version != 5 {
		return false
	}
	offered := readShort(in)
	method := byte(0)
	if p.user != "" {
		method = 2
	}
	if !containsByte(offered, method) {
		_, _ = c.Write([]byte{5, 0xff})
		return false
	}
	_, _ = c.Write([]byte{5, method})
	if method == 0 {
		return true
	}
	_, _ = in.ReadByte() // the version of the negotiation
	user, password := readShort(in), readShort(in)
	if user != p.user || password != p.password {
		_, _ = c.Write([]byte{1, 1})
		return false
	}
	_, _ = c.Write([]byte{1, 0})
	return true
}

func readShort(in *bufio.Reader) string {
	n, _ := in.ReadByte()
	b := make([]byte, n)
	_, _ = io.ReadFull(in, b)
	return string(b)
}

func containsByte(s string, b byte) bool {
	for i := range len(s) {
		if s[i] == b {
			return true
		}
	}
	return false
}

// certificateFile writes a server's certificate, as ca_file takes it.
func certificateFile(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func proxyURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := ParseProxy(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func failingDial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no name server answers")
}

// serveAtOnce says something to whatever connects, before it is asked.
func serveAtOnce(t *testing.T, says string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, says)
			all.Go(func() { _, _ = io.Copy(io.Discard, c); _ = c.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l.Addr().String()
}
