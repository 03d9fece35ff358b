package egress

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A proxy that hangs, or answers something else than its protocol, is named:
// the host behind it has not been asked.
func TestAProxyThatHangs(t *testing.T) {
	silent := serveAtOnce(t, "")
	garbage := serveAtOnce(t, "220 mail.example.com ESMTP\r\n")
	for _, tc := range []struct {
		proxy, target, says string
		own                 bool // it is the proxy's own fault, whatever the host
	}{
		{"http://" + silent, "https", "the proxy " + silent + " did not answer when asked for chat.example.com", false},
		{"http://" + silent, "http", "the proxy " + silent + " did not answer when asked for chat.example.com", false},
		{"https://" + silent, "https", "the proxy " + silent, true},
		{"socks5://" + silent, "https", "the proxy " + silent + " did not answer when asked for chat.example.com", false},
		{"http://" + garbage, "https", "the proxy " + garbage + " cannot be used: it does not answer in HTTP", true},
		{"http://" + garbage, "http", "the proxy " + garbage + " cannot be used: it does not answer in HTTP", true},
	} {
		c := newClient(t, Options{Policy: Policy{Allowed: []string{"chat.example.com"}}, Resolver: nowhere})
		c.UseProxy(proxyURL(t, tc.proxy))
		if tc.own {
			c.webhook.proxied.TLSHandshakeTimeout = 100 * time.Millisecond
		} else {
			c.webhook.limit = time.Second // the others end by themselves, on a busy machine later
		}
		_, err := post(t, c.Webhook(), tc.target+"://chat.example.com"+secretPath)
		if err == nil || !strings.Contains(err.Error(), tc.says) || errors.Is(err, ErrProxy) != tc.own {
			t.Errorf("%s by %s: %v, want %q", tc.target, tc.proxy, err, tc.says)
		}
	}
}

// A host that hangs behind the proxy's tunnel is the one that is named.
func TestAHostThatHangsBehindAProxy(t *testing.T) {
	silent := serveAtOnce(t, "")
	hosts := map[string]string{"chat.example.com:443": silent}
	for _, proxy := range []string{
		"http://" + serveHTTPProxy(t, false, &testProxy{hosts: hosts}).address,
		"https://" + serveHTTPProxy(t, true, &testProxy{hosts: hosts}).address,
		"socks5://" + serveSOCKS(t, &testProxy{hosts: hosts}).address,
	} {
		c := newClient(t, Options{Policy: Policy{Allowed: []string{"chat.example.com"}}, Resolver: nowhere})
		if strings.HasPrefix(proxy, "https") {
			c.webhook.proxied.TLSClientConfig.InsecureSkipVerify = true // the proxy's certificate is a test's
		}
		c.UseProxy(proxyURL(t, proxy))
		c.webhook.limit = time.Second // enough for the tunnel on a busy machine
		_, err := post(t, c.Webhook(), "https://chat.example.com"+secretPath)
		if err == nil || !strings.HasPrefix(err.Error(), "chat.example.com did not answer") {
			t.Errorf("by %s: %v", proxy, err)
		}
	}
}

// What goes by the proxy is told apart from what NO_PROXY names.
func TestByProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("NO_PROXY", "direct.example.com,10.0.0.0/8")
	c := newClient(t, Options{})
	for _, proxied := range []bool{false, true} {
		for url, want := range map[string]bool{
			"https://chat.example.com/x": proxied, "https://direct.example.com/x": false, "https://10.1.2.3/x": false, "%": false,
		} {
			if got := c.ByProxy(url); got != want {
				t.Errorf("%s with a proxy (%t): %t", url, proxied, got)
			}
		}
		c.UseProxy(proxyURL(t, "http://proxy.example.com:3128"))
	}
}
