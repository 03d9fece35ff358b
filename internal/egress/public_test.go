package egress

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestIsPublic(t *testing.T) {
	p := strict(t, "10.0.0.0/8", "8.8.8.8", "chat.internal", "127.0.0.1")
	for _, c := range []struct {
		addr      string
		plaintext bool
		public    bool
	}{
		{"8.8.8.8:443", false, true}, {"8.8.8.8:8443", false, true}, {"[2606:4700::1111]:443", false, true}, {"[::ffff:8.8.8.8]:443", false, true},
		{"8.8.8.8:80", true, false}, {"8.8.8.8:8080", true, false}, {"8.8.8.8:25", false, false}, // allowed alone
		{"10.1.2.3:443", false, false}, {"127.0.0.1:443", false, false}, {"[::1]:443", false, false}, {"[::ffff:10.1.2.3]:443", false, false},
		{"[64:ff9b::10.1.2.3]:443", false, false}, {"[fe80::1%eth0]:443", false, false}, {"169.254.169.254:443", false, false},
	} {
		if got := p.isPublic(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.addr)), c.plaintext); got != c.public {
			t.Errorf("%s, plain %t: public is %t", c.addr, c.plaintext, got)
		}
	}
	if p.isPublic(&net.UnixAddr{Name: "/run/x"}, false) {
		t.Error("a socket of this machine is public")
	}
}

// Behind a proxy only names tell where an answer is from.
func TestWhatIsPublicBehindAProxy(t *testing.T) {
	for _, c := range []struct {
		target   string
		resolves []string // nil: not at all
		public   bool
	}{
		{"https://chat.example.com/x", []string{"8.8.8.8"}, true},
		{"https://chat.example.com/x", []string{"8.8.8.8", "10.1.2.3"}, false},
		{"https://chat.example.com/x", []string{"10.1.2.3"}, false},
		{"https://8.8.8.8/x", nil, true},
		{"https://10.1.2.3/x", nil, false},
		{"http://10.1.2.3/x", nil, false},
		{"https://hooks.slack.com/x", nil, true},
		{"https://prod-1.westeurope.logic.azure.com/x", nil, true},
		{"https://hooks.slack.com/x", []string{"10.1.2.3"}, false},
		{"https://chat.corp.example/x", nil, false}, // of notify.proxied_hosts: the proxy alone knows where it is
		{"https://chat.internal/x", nil, false},
		{"https://chat.internal/x", []string{"8.8.8.8"}, false},
		{"http://chat.internal/x", nil, false},
	} {
		p, err := Policy{Allowed: []string{"10.0.0.0/8", "chat.internal"}, Proxied: []string{"hooks.slack.com", "*.logic.azure.com", "*.corp.example"}}.parse()
		if err != nil {
			t.Fatal(err)
		}
		g := &guard{policy: p, dialer: net.Dialer{Resolver: nameServer(func(int) []string { return c.resolves })}}
		u, err := url.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		if public, err := g.judgeProxied(t.Context(), u); err != nil || public != c.public {
			t.Errorf("%s that is %v: public is %t, %v", c.target, c.resolves, public, err)
		}
	}
}

// Of new connections and of kept ones, with a proxy and without.
func TestPublicAnswers(t *testing.T) {
	hosts, caFile, _ := chats(t)
	inside := httptest.NewServer(http.NotFoundHandler())
	defer inside.Close()
	proxy := serveHTTPProxy(t, false, &testProxy{hosts: hosts})
	for resolves, public := range map[string]bool{"8.8.8.8": true, "10.1.2.3": false} {
		c := newClient(t, Options{
			Policy: Policy{Allowed: []string{"10.0.0.0/8", "127.0.0.1"}}, CAFile: caFile, Resolver: nameServer(func(int) []string { return []string{resolves} }),
		})
		c.UseProxy(proxyURL(t, "http://"+proxy.address))
		for target, public := range map[string]bool{"https://chat.example.com" + secretPath: public, inside.URL + secretPath: false} {
			for range 3 {
				resp, err := post(t, c.Webhook(), target)
				if err != nil {
					t.Fatal(err)
				}
				if Public(resp) != public {
					t.Errorf("%s that is %s: public is %t", target, resolves, !public)
				}
				_ = resp.Body.Close()
			}
		}
	}
	if Public(&http.Response{}) {
		t.Error("an answer of nowhere is public")
	}
}

// What stands in a certificate is a server's answer too.
func TestErrorsSayNothingOfCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler()) // for example.com
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	for _, tc := range []struct{ host, caFile, says string }{
		{"127.0.0.1", "", "it is signed by an unknown authority"}, {"chat.internal", certificateFile(t, server), "it is for another host name"},
	} {
		c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.0/8"}}, CAFile: tc.caFile, Resolver: nameServer(func(int) []string { return []string{"127.0.0.1"} })})
		for caller, names := range map[*Caller]bool{c.Webhook(): false, c.Trusted(): tc.caFile != ""} {
			_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
			_, err := post(t, caller, "https://"+tc.host+":"+port+secretPath)
			if err == nil || !strings.HasPrefix(err.Error(), "the certificate of "+tc.host+" is not trusted: ") || strings.Contains(err.Error(), "example.com") != names ||
				caller == c.Webhook() && !strings.HasSuffix(err.Error(), tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		}
	}
}
