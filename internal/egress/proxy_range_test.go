package egress

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// What a proxy of the settings could read, it is not sent; one of the environment
// is the operator's own.
func TestCredentialsGoThroughTheProxyOfTheSettingsOverHTTPSOnly(t *testing.T) {
	for _, kind := range []string{"http", "socks5"} {
		for _, set := range []bool{true, false} {
			var hits atomic.Int32
			take := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) })
			secure, plain := httptest.NewTLSServer(take), httptest.NewServer(take)
			t.Cleanup(secure.Close)
			t.Cleanup(plain.Close)
			p := &testProxy{hosts: map[string]string{
				"code.example.com:443": secure.Listener.Addr().String(), "code.example.com:80": plain.Listener.Addr().String(),
			}}
			if kind == "http" {
				serveHTTPProxy(t, false, p)
			} else {
				serveSOCKS(t, p)
			}
			if !set {
				t.Setenv("HTTP_PROXY", kind+"://"+p.address)
				t.Setenv("HTTPS_PROXY", kind+"://"+p.address)
			}
			c := newClient(t, Options{CAFile: certificateFile(t, secure)})
			if set {
				c.UseProxy(proxyURL(t, kind+"://"+p.address))
			}
			for _, tc := range []struct {
				name, header, value string
				secret              bool
			}{
				{"nothing", "", "", false},
				{"a token", "Authorization", "Bearer SECRET", true},
				{"a password", "Authorization", "Basic SECRET", true},
				{"a cookie", "Cookie", "session=SECRET", true},
				{"a form", "Content-Type", "application/x-www-form-urlencoded", true},
				{"JSON", "Content-Type", "application/json", false},
			} {
				for _, scheme := range []string{"https", "http"} {
					for _, by := range []*Caller{c.Trusted(), c.Unlimited()} {
						before := hits.Load()
						req, err := NewRequest(t.Context(), http.MethodPost, scheme+"://code.example.com/", strings.NewReader("{}"))
						if err != nil {
							t.Fatal(err)
						}
						if tc.header != "" {
							req.Header.Set(tc.header, tc.value)
						}
						resp, err := by.Do(req)
						if err == nil {
							_ = resp.Body.Close()
						}
						refused := set && tc.secret && scheme == "http"
						if errors.Is(err, ErrExposed) != refused || (err == nil) == refused || (hits.Load() > before) == refused {
							t.Errorf("%s proxy of the settings %t, %s with %s: %v, %d hits", kind, set, scheme, tc.name, err, hits.Load()-before)
						}
					}
				}
			}
			if c.Exposes("http://code.example.com/x") != set || c.Exposes("https://code.example.com/x") || c.Exposes("http://localhost/x") || c.Exposes("") {
				t.Errorf("%s proxy of the settings %t: exposes is wrong", kind, set)
			}
		}
	}
}

// Every other address is the administrator's word; those where clouds hand out
// credentials are not, whatever name leads there.
func TestAddressesOfTheProxyOfTheSettings(t *testing.T) {
	for address, refused := range map[string]bool{
		"169.254.169.254": true, "169.254.1.1": true, "[fe80::1]": true, "[fd00:ec2::254]": true, "168.63.129.16": true, "[::ffff:169.254.169.254]": true,
		"100.100.100.200": true, "[::ffff:100.100.100.200]": true, "[64:ff9b::a9fe:a9fe]": true, "[2002:a9fe:a9fe::1]": true, "169.254.169.254.": true,
		"metadata.google.internal": true, "METADATA.google.internal.": true, "2852039166": true, "0xa9fea9fe": true, "169.254.43518": true, "[fe80::1%25eth0]": true,
		"[2002:808:808::1]": false, "100.100.100.201": false, "metadata.example.com": false, "proxy.example.com.": false,
		"10.0.0.1": false, "127.0.0.1": false, "[::1]": false, "192.168.1.1": false, "8.8.8.8": false, "proxy.example.com": false,
	} {
		for _, scheme := range []string{"http", "https", "socks5"} {
			proxy := proxyURL(t, scheme+"://"+address+":3128")
			if err := CheckProxy(proxy); (err != nil) != refused {
				t.Errorf("%s: %v", proxy, err)
			}
		}
	}
	for _, scheme := range []string{"http", "https", "socks5"} {
		c := newClient(t, Options{Resolver: nameServer(func(int) []string { return []string{"169.254.169.254"} })})
		c.UseProxy(proxyURL(t, scheme+"://proxy.internal:3128"))
		_, err := post(t, c.Trusted(), "https://code.example.com/")
		if !errors.Is(err, ErrProxy) || !strings.Contains(err.Error(), "instance metadata") {
			t.Errorf("a name that leads to metadata: %v", err)
		}
	}
}

// A proxy that answers with pages instead of doing its work has reached nothing.
func TestTryOfProxiesThatAreNone(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.example.com/", http.StatusFound)
		},
		"200 and page": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>Welcome to the portal</html>"))
		},
		"200 and close": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") },
	} {
		var hits atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			if r.Header.Get("Authorization") != "" {
				t.Errorf("%s heard a credential", name)
			}
			answer(w, r)
		}))
		t.Cleanup(server.Close)
		c := newClient(t, Options{Resolver: nowhere, Policy: Policy{Proxied: []string{"chat.example.com"}}})
		proxy := proxyURL(t, server.URL)
		for range 3 {
			if _, err := c.Try(t.Context(), proxy, "https://chat.example.com/"); err == nil {
				t.Errorf("%s counts as reached", name)
			}
			c.UseProxy(proxy)
			req, err := NewRequest(t.Context(), http.MethodGet, "https://code.example.com/", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer SECRET")
			if _, err := c.Trusted().Do(req); err == nil || strings.Contains(err.Error(), "portal") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if hits.Load() == 0 {
			t.Errorf("%s was not asked", name)
		}
	}
}
