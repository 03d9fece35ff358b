package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer resolves every name to what answer says for the nth question
// about IPv4 addresses (from 0); no name has IPv6 addresses.
func nameServer(answer func(n int) []string) *net.Resolver {
	var asked atomic.Int32
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe() // no packets: the resolver speaks DNS over TCP
		go func() {
			defer func() { _ = theirs.Close() }()
			for answerOne(theirs, func() []string { return answer(int(asked.Add(1)) - 1) }) == nil {
			}
		}()
		return ours, nil
	}}
}

func answerOne(conn net.Conn, addrs func() []string) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	raw := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, raw); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(raw); err != nil {
		return err
	}
	m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		for _, a := range addrs() {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(a).To4())},
			})
		}
	}
	raw, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(raw))), raw...))
	return err
}

// hitsOn serves on an address of the loopback network and counts requests.
func hitsOn(t *testing.T, addr string) (port string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, hits
}

func TestNameThatResolvesToLoopback(t *testing.T) {
	port, hits := hitsOn(t, "127.0.0.1:0")
	for _, scheme := range []string{"https", "http"} {
		c := newClient(t, Options{Resolver: nameServer(func(int) []string { return []string{"127.0.0.1"} })})
		_, err := post(t, c.Webhook(), scheme+"://chat.example.com:"+port+secretPath)
		if !errors.Is(err, ErrRefused) || !strings.HasPrefix(err.Error(), "chat.example.com may not be dialled: it is in 127.0.0.0/8 (loopback") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	if hits.Load() != 0 {
		t.Error("a request came through")
	}
}

// 127.0.0.2 plays the public address: it is the only one that is allowed.
func TestRebindingNameServer(t *testing.T) {
	port, good := hitsOn(t, "127.0.0.2:0")
	_, inside := hitsOn(t, "127.0.0.1:"+port)
	c := newClient(t, Options{
		Policy: Policy{Allowed: []string{"127.0.0.2"}},
		Resolver: nameServer(func(n int) []string {
			if n == 0 {
				return []string{"127.0.0.2"}
			}
			return []string{"127.0.0.1"}
		}),
	})
	url := "http://rebind.example.com:" + port + secretPath
	resp, err := post(t, c.Webhook(), url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	c.Close() // the next request has to dial
	if _, err := post(t, c.Webhook(), url); !errors.Is(err, ErrRefused) {
		t.Errorf("the second answer of the name server: %v", err)
	}
	if good.Load() != 1 || inside.Load() != 0 {
		t.Errorf("%d requests to the good address, %d inside", good.Load(), inside.Load())
	}
}

func TestOfSeveralAddressesOnlyTheGoodAreDialled(t *testing.T) {
	port, good := hitsOn(t, "127.0.0.2:0")
	_, inside := hitsOn(t, "127.0.0.1:"+port)
	mixed := nameServer(func(int) []string { return []string{"127.0.0.1", "127.0.0.2"} })
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.2"}}, Resolver: mixed})
	if _, err := post(t, c.Webhook(), "http://mixed.example.com:"+port+secretPath); err != nil {
		t.Error(err)
	}
	if good.Load() != 1 || inside.Load() != 0 {
		t.Errorf("%d requests to the good address, %d inside", good.Load(), inside.Load())
	}
	// The good one is down: that is no refusal, and passes.
	c = newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.3"}}, Resolver: nameServer(func(int) []string { return []string{"127.0.0.1", "127.0.0.3"} })})
	if _, err := post(t, c.Webhook(), "http://mixed.example.com:"+port+secretPath); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("the good address is down: %v", err)
	}
}

func TestAllowedNameGoesAnywhere(t *testing.T) {
	port, hits := hitsOn(t, "127.0.0.1:0")
	c := newClient(t, Options{
		Policy:   Policy{Allowed: []string{"Chat.Internal"}},
		Resolver: nameServer(func(int) []string { return []string{"127.0.0.1"} }),
	})
	if _, err := post(t, c.Webhook(), "http://chat.internal:"+port+secretPath); err != nil || hits.Load() != 1 {
		t.Errorf("%d requests, %v", hits.Load(), err)
	}
	if _, err := post(t, c.Webhook(), "http://other.internal:"+port+secretPath); !errors.Is(err, ErrRefused) {
		t.Errorf("another name: %v", err)
	}
}

func TestPlainHTTPIsForAllowedOnly(t *testing.T) {
	v := verdict{guard: &guard{policy: strict(t, "10.0.0.0/8"), plaintext: true}, host: "chat.example.com"}
	if err := v.judge("8.8.8.8:80"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "http is only for") {
		t.Errorf("a public address by http: %v", err)
	}
	if err := v.judge("10.0.0.1:80"); err != nil {
		t.Errorf("an allowed address by http: %v", err)
	}
	if err := v.judge("not an address"); !errors.Is(err, ErrRefused) {
		t.Errorf("what cannot be read: %v", err)
	}
}

func TestNameThatDoesNotResolve(t *testing.T) {
	c := newClient(t, Options{Resolver: nameServer(func(int) []string { return nil })})
	if _, err := post(t, c.Webhook(), "https://nowhere.example.com"+secretPath); err == nil || errors.Is(err, ErrRefused) || err.Error() != "the name nowhere.example.com cannot be resolved" {
		t.Errorf("got %v", err)
	}
}

// Two servers on each address: only the one on a port that is named is reached,
// whatever name, redirect or kept connection leads to the other.
func TestOnlyNamedPortsAreDialled(t *testing.T) {
	resolver := nameServer(func(int) []string { return []string{"127.0.0.1"} })
	for _, address := range []string{"127.0.0.1", "[::1]"} {
		for range 2 {
			open, good := hitsOn(t, address+":0")
			other, inside := hitsOn(t, address+":0")
			bare := strings.Trim(address, "[]")
			for _, host := range []string{address, "chat.internal", "localhost"} {
				if bare == "::1" && host != address {
					continue // the name server knows no IPv6
				}
				for _, entry := range []string{net.JoinHostPort(bare, open), net.JoinHostPort(bare+"/16", open), net.JoinHostPort(strings.Trim(host, "[]"), open)} {
					c := newClient(t, Options{Policy: Policy{Allowed: []string{entry}}, Resolver: resolver})
					for _, path := range []string{"/a", "/b"} {
						if _, err := post(t, c.Webhook(), "http://"+host+":"+open+path); err != nil {
							t.Errorf("%s by %s: %v", host, entry, err)
						}
						if _, err := post(t, c.Webhook(), "http://"+host+":"+other+path); !errors.Is(err, ErrRefused) {
							t.Errorf("%s, another port, by %s: %v", host, entry, err)
						}
					}
				}
			}
			if good.Load() == 0 || inside.Load() != 0 {
				t.Errorf("%s: %d requests to the port that is named, %d to the other", address, good.Load(), inside.Load())
			}
		}
	}
}

// A proxy dials what it is asked for, so the port is judged before it is asked.
func TestOnlyNamedPortsAreAskedOfAProxy(t *testing.T) {
	for _, c := range []struct {
		allowed, resolves, target string
		good                      bool
	}{
		{"chat.internal:8065", "", "http://chat.internal:8065/a", true},
		{"chat.internal:8065", "", "http://chat.internal/a", false},
		{"chat.internal:8065", "", "https://chat.internal/a", false},
		{"chat.internal:443", "", "https://chat.internal/a", true},
		{"10.0.0.0/8:443", "", "https://10.1.2.3/a", true},
		{"10.0.0.0/8:443", "", "https://10.1.2.3:8443/a", false},
		{"10.0.0.0/8:443", "", "http://10.1.2.3/a", false},
		{"10.0.0.0/8:80", "10.1.2.3", "http://chat.internal/a", true},
		{"10.0.0.0/8:80", "10.1.2.3", "http://chat.internal:81/a", false},
		{"10.0.0.0/8:80", "10.1.2.3", "https://chat.internal/a", false},
		{"[fd00::/8]:443", "", "https://[fd00::1]/a", true},
		{"[fd00::/8]:443", "", "https://[fd00::1]:22/a", false},
	} {
		var asked atomic.Int32
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		}))
		client := newClient(t, Options{Policy: Policy{Allowed: []string{c.allowed}}, Resolver: nameServer(func(int) []string {
			if c.resolves == "" {
				return nil
			}
			return []string{c.resolves}
		})})
		client.UseProxy(proxyURL(t, proxy.URL))
		for range 2 {
			_, err := post(t, client.Webhook(), c.target)
			if refused := errors.Is(err, ErrRefused); refused == c.good {
				t.Errorf("%s with %s: %v", c.target, c.allowed, err)
			}
		}
		if n := asked.Load(); (n == 2) != c.good || !c.good && n != 0 {
			t.Errorf("%s with %s: the proxy was asked %d times", c.target, c.allowed, n)
		}
		proxy.Close()
	}
}
