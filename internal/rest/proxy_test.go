package rest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestClientAddress(t *testing.T) {
	for _, c := range []struct {
		name, peer string
		trusted    []string
		forwarded  []string
		want       string
	}{
		{"no proxy", "192.0.2.7:4711", nil, nil, "192.0.2.7"},
		{"Unix socket", "@", nil, []string{"198.51.100.1"}, "unix"},
		{"Unix socket that only a network is trusted beside", "@", []string{"10.0.0.0/8"}, []string{"198.51.100.1"}, "unix"},
		{"trusted Unix socket", "@", []string{"unix"}, []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"trusted Unix socket behind a proxy", "@", []string{"unix", "10.0.0.0/8"}, []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"trusted Unix socket without a header", "@", []string{"unix"}, nil, "unix"},
		{"trusted Unix socket, and who is not there", "192.0.2.7:1", []string{"unix"}, []string{"198.51.100.1"}, "192.0.2.7"},
		{"no proxy, IPv6", "[2001:db8::7]:4711", nil, nil, "2001:db8::7"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.7]:4711", nil, nil, "192.0.2.7"},
		{"zone", "[fe80::1%eth0]:4711", nil, nil, "fe80::1"},
		{"a header that nobody vouches for", "192.0.2.7:1", nil, []string{"198.51.100.1"}, "192.0.2.7"},
		{"a peer that is not trusted", "192.0.2.7:1", []string{"10.0.0.0/8"}, []string{"198.51.100.1"}, "192.0.2.7"},
		{"one proxy", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"198.51.100.1"}, "198.51.100.1"},
		{"what the client wrote is not believed", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"two proxies", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"203.0.113.9, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"two headers", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		{"proxies all the way", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"no header", "10.0.0.1:1", []string{"10.0.0.0/8"}, nil, "10.0.0.1"},
		{"nonsense", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"nonsense further out", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"unknown, 198.51.100.1"}, "198.51.100.1"},
		{"ports and brackets", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"[2001:db8::1]:99"}, "2001:db8::1"},
		{"brackets", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"a port", "10.0.0.1:1", []string{"10.0.0.0/8"}, []string{"198.51.100.1:1234"}, "198.51.100.1"},
		{"an IPv6 proxy", "[2001:db8::1]:1", []string{"2001:db8::/64"}, []string{"198.51.100.1"}, "198.51.100.1"},
		{"a socket without an address", "@", []string{"10.0.0.0/8"}, []string{"198.51.100.1"}, "unix"},
	} {
		p, err := parseProxies(c.trusted)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header = http.Header{"X-Forwarded-For": c.forwarded}
		if got := p.client(r); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTrustedProxyMustBeCIDR(t *testing.T) {
	if _, err := parseProxies([]string{"10.0.0.1"}); err == nil {
		t.Error("an address without a length is taken for a CIDR")
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "somewhere": "somewhere", "": "",
	} {
		if got := Network(address); got != want {
			t.Errorf("%q counts as %q, want %q", address, got, want)
		}
	}
}
