package egress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/fault"
)

// chats are a chat platform over https and one over http, which only a proxy
// finds.
func chats(t *testing.T) (hosts map[string]string, caFile string, hits *atomic.Int32) {
	t.Helper()
	hits = new(atomic.Int32)
	take := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); string(body) == "{}" && r.RequestURI == secretPath {
			hits.Add(1)
		}
	})
	secure, plain := httptest.NewTLSServer(take), httptest.NewServer(take)
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	return map[string]string{
		"chat.example.com:443": secure.Listener.Addr().String(),
		"chat.example.com:80":  plain.Listener.Addr().String(),
	}, certificateFile(t, secure), hits
}

var nowhere = nameServer(func(int) []string { return nil })

func TestThroughEveryKindOfProxy(t *testing.T) {
	hosts, caFile, hits := chats(t)
	for _, kind := range []string{"http", "https", "socks5"} {
		for _, user := range []string{"", "ana"} {
			p := &testProxy{user: user, password: "p@ss/SECRET", hosts: hosts}
			if kind == "socks5" {
				serveSOCKS(t, p)
			} else {
				serveHTTPProxy(t, kind == "https", p)
			}
			c := newClient(t, Options{
				Policy: Policy{Allowed: []string{"chat.example.com"}}, CAFile: caFile, Resolver: nowhere,
			})
			for _, target := range []string{"https", "http"} {
				t.Run(fmt.Sprintf("%s to %s as %q", target, kind, user), func(t *testing.T) {
					hits.Store(0)
					for as, want := range map[string]error{"": nil, "ana:p%40ss%2FSECRET@": nil, "ana:SECRET-old@": ErrProxy} {
						if user == "" && want != nil {
							continue // it takes any
						}
						if user != "" && as == "" {
							want = ErrProxy
						}
						c.UseProxy(proxyURL(t, kind+"://"+as+p.address))
						before := hits.Load()
						_, err := post(t, c.Webhook(), target+"://chat.example.com"+secretPath)
						if !errors.Is(err, want) {
							t.Errorf("signed in as %q: %v, want %v", as, err, want)
						}
						if came := hits.Load()-before == 1; came != (want == nil) {
							t.Errorf("signed in as %q: the message came: %t", as, came)
						}
						if want != nil && !strings.HasPrefix(err.Error(), "the proxy "+p.address+" cannot be used: it ") {
							t.Errorf("signed in as %q: %v", as, err)
						}
					}
				})
			}
		}
	}
}

func TestProxyOutOfReach(t *testing.T) {
	const closed = "127.0.0.1:1"                        // tcpmux, which no machine has any more
	plain := httptest.NewServer(http.NotFoundHandler()) // no proxy at all
	defer plain.Close()
	mail := serveAtOnce(t, "220 mail.example.com ESMTP\r\n")
	for _, tc := range []struct{ proxy, target, says string }{
		{"http://ana:SECRET@" + closed, "https", "connection refused"},
		{"http://" + closed, "http", "connection refused"},
		{"https://" + closed, "https", "connection refused"},
		{"socks5://" + closed, "https", "connection refused"},
		{"http://proxy.example.com:3128", "https", "the name proxy.example.com cannot be resolved"},
		{"http://" + plain.Listener.Addr().String(), "https", "it answered 404 Not Found to CONNECT"},
		{"https://" + plain.Listener.Addr().String(), "https", "does not speak TLS"},
		{"socks5://" + mail, "https", "it does not speak SOCKS 5"},
	} {
		c := newClient(t, Options{Policy: Policy{Allowed: []string{"chat.example.com"}}, Resolver: nowhere})
		c.UseProxy(proxyURL(t, tc.proxy))
		for name, caller := range map[string]*Caller{"webhook": c.Webhook(), "trusted": c.Trusted()} {
			if _, err := post(t, caller, tc.target+"://chat.example.com"+secretPath); !errors.Is(err, ErrProxy) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s, %s by %s: %v, want %q", name, tc.target, tc.proxy, err, tc.says)
			}
		}
	}
}

// What a proxy says about one host is no failure of the proxy.
func TestProxyThatCannotReachTheHost(t *testing.T) {
	hosts, caFile, _ := chats(t)
	httpProxy := serveHTTPProxy(t, false, &testProxy{hosts: hosts})
	socks := serveSOCKS(t, &testProxy{hosts: hosts})
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"down.example.com", "forbidden.example.com"}}, CAFile: caFile, Resolver: nowhere})
	for _, tc := range []struct {
		proxy, host, says string
		refused           bool
	}{
		{"http://" + httpProxy.address, "down.example.com", "cannot reach down.example.com:443: 502 Bad Gateway", false},
		{"socks5://" + socks.address, "down.example.com", "cannot reach down.example.com: host unreachable", false},
		{"socks5://" + socks.address, "forbidden.example.com", "does not let requests through", true},
	} {
		c.UseProxy(proxyURL(t, tc.proxy))
		_, err := post(t, c.Webhook(), "https://"+tc.host+secretPath)
		if err == nil || errors.Is(err, ErrProxy) || errors.Is(err, ErrRefused) != tc.refused || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s by %s: %v, want %q", tc.host, tc.proxy, err, tc.says)
		}
	}
}

// A host behind a tunnel that answers 407 says nothing about the proxy.
func TestHostThatAnswers407(t *testing.T) {
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
	defer host.Close()
	hosts := map[string]string{"chat.example.com:80": host.Listener.Addr().String()}
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"chat.example.com"}}, Resolver: nowhere})
	c.UseProxy(proxyURL(t, "socks5://"+serveSOCKS(t, &testProxy{hosts: hosts}).address))
	if resp, err := post(t, c.Webhook(), "http://chat.example.com"+secretPath); err != nil || resp.StatusCode != http.StatusProxyAuthRequired {
		t.Errorf("got %v", err)
	}
}

func TestAnswersToCONNECT(t *testing.T) {
	var status atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	defer proxy.Close()
	c := newClient(t, Options{})
	c.UseProxy(proxyURL(t, proxy.URL))
	for code, want := range map[int]error{
		400: ErrProxy, 401: ErrProxy, 403: ErrRefused, 404: ErrProxy, 405: ErrProxy, 407: ErrProxy, 451: ErrRefused,
		301: ErrProxy, 408: nil, 429: nil, 500: nil, 502: nil, 503: nil, 504: nil,
	} {
		status.Store(int32(code))
		_, err := post(t, c.Webhook(), "https://8.8.8.8"+secretPath)
		if err == nil || errors.Is(err, ErrProxy) != (want == ErrProxy) || errors.Is(err, ErrRefused) != (want == ErrRefused) {
			t.Errorf("%d: %v, want %v", code, err, want)
		}
	}
}

// What may not be dialled may not be asked of a proxy either.
func TestHostsAreJudgedBeforeTheProxyIsAsked(t *testing.T) {
	proxy := serveHTTPProxy(t, false, new(testProxy))
	for _, tc := range []struct {
		url     string
		answers []string // of the name server
		says    string   // "" is passed on
	}{
		{"https://8.8.8.8/", nil, ""},
		{"https://10.0.0.1/", nil, "10.0.0.0/8 (private network"},
		{"https://169.254.169.254/", nil, "instance metadata"},
		{"https://[::ffff:10.0.0.1]/", nil, "private network"},
		{"https://[64:ff9b::a00:1]/", nil, "private network"},
		{"http://8.8.8.8/", nil, "http is only for"},
		{"https://public.example.com/", []string{"8.8.8.8"}, ""},
		{"http://public.example.com/", []string{"8.8.8.8"}, "http is only for"},
		{"https://inside.example.com/", []string{"10.0.0.1"}, "private network"},
		{"https://both.example.com/", []string{"8.8.8.8", "127.0.0.1"}, "loopback"},
		{"https://hooks.slack.com/", nil, ""},
		{"https://HOOKS.slack.com./", nil, ""},
		{"http://hooks.slack.com/", nil, "http is only for"},
		{"https://hooks.slack.com/", []string{"10.0.0.1"}, "private network"},
		{"https://evil.hooks.slack.com/", nil, "notify.proxied_hosts does not name it"},
		{"https://prod-1.westeurope.logic.azure.com/", nil, ""},
		{"https://logic.azure.com/", nil, "notify.proxied_hosts does not name it"},
		{"https://evillogic.azure.com/", nil, "notify.proxied_hosts does not name it"},
		{"https://intranet/", nil, "notify.proxied_hosts does not name it"},
		{"https://2130706433/", nil, "notify.proxied_hosts does not name it"},
		{"https://allowed.example.com/", []string{"10.0.0.1"}, ""},
	} {
		c := newClient(t, Options{
			Policy:   Policy{Allowed: []string{"allowed.example.com"}, Proxied: []string{"Hooks.Slack.com", "*.logic.azure.com"}},
			Resolver: nameServer(func(int) []string { return tc.answers }),
		})
		c.UseProxy(proxyURL(t, "http://"+proxy.address))
		before := len(proxy.questions())
		_, err := post(t, c.Webhook(), tc.url)
		asked := len(proxy.questions()) > before
		if tc.says == "" && !asked {
			t.Errorf("%s (%v): the proxy was not asked: %v", tc.url, tc.answers, err)
		}
		if tc.says != "" && (asked || !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s (%v): asked %t, %v; want %q", tc.url, tc.answers, asked, err, tc.says)
		}
	}
}

// A name server that is out of order breaks no channel.
func TestNameServerOutOfOrder(t *testing.T) {
	proxy := serveHTTPProxy(t, false, new(testProxy))
	down := &net.Resolver{PreferGo: true, Dial: failingDial}
	c := newClient(t, Options{Policy: Policy{Proxied: []string{"hooks.slack.com"}}, Resolver: down})
	c.UseProxy(proxyURL(t, "http://"+proxy.address))
	if _, err := post(t, c.Webhook(), "https://chat.example.com"+secretPath); err == nil || errors.Is(err, ErrRefused) || errors.Is(err, ErrProxy) || len(proxy.questions()) != 0 {
		t.Errorf("a name that cannot be looked up: %v, asked %v", err, proxy.questions())
	}
	if _, err := post(t, c.Webhook(), "https://hooks.slack.com"+secretPath); err == nil || len(proxy.questions()) != 1 {
		t.Errorf("a name of notify.proxied_hosts: %v, asked %v", err, proxy.questions())
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	hosts, caFile, hits := chats(t)
	environment := serveHTTPProxy(t, false, &testProxy{hosts: hosts})
	setting := serveHTTPProxy(t, false, &testProxy{hosts: hosts})
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("HTTPS_PROXY", environment.address)
	t.Setenv("NO_PROXY", "direct.example.com,10.0.0.0/8")
	c := newClient(t, Options{CAFile: caFile, Resolver: nameServer(func(int) []string { return []string{"8.8.8.8"} })})
	ask := func(caller *Caller, url string) {
		t.Helper()
		if _, err := post(t, caller, url+secretPath); err != nil {
			t.Error(err)
		}
	}
	ask(c.Webhook(), "https://chat.example.com")
	c.UseProxy(proxyURL(t, "http://"+setting.address))
	ask(c.Webhook(), "https://chat.example.com")
	ask(c.Trusted(), "https://chat.example.com")
	c.UseProxy(nil)
	ask(c.Trusted(), "https://chat.example.com")
	// The second request of the setting's proxy finds the tunnel of the first.
	one := "chat.example.com:443"
	if e, s := environment.questions(), setting.questions(); !slices.Equal(e, []string{one, one}) || !slices.Equal(s, []string{one}) || hits.Load() != 4 {
		t.Errorf("the environment's proxy was asked for %v, the setting's for %v; %d messages came", e, s, hits.Load())
	}
	for _, proxy := range []string{"", "http://" + setting.address} {
		c.UseProxy(nil)
		if proxy != "" {
			c.UseProxy(proxyURL(t, proxy))
		}
		// Both are judged and dialled here, or not at all: neither proxy sees them.
		if _, err := post(t, c.Webhook(), "https://10.0.0.1"+secretPath); !errors.Is(err, ErrRefused) {
			t.Errorf("NO_PROXY by address: %v", err)
		}
		if _, err := post(t, newClient(t, Options{Resolver: nowhere}).Webhook(), "https://direct.example.com"+secretPath); err == nil || err.Error() != "the name direct.example.com cannot be resolved" {
			t.Errorf("NO_PROXY by name: %v", err)
		}
	}
	if n := len(environment.questions()) + len(setting.questions()); n != 3 {
		t.Errorf("a proxy was asked for what NO_PROXY names")
	}
	t.Setenv("HTTPS_PROXY", "ftp://ana:SECRET@proxy.example.com")
	if _, err := New(Options{}); err == nil || !strings.HasPrefix(err.Error(), "HTTPS_PROXY of the environment: The proxy's URL must begin with") || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("a proxy of no known kind: %v", err)
	}
}

func TestParseProxy(t *testing.T) {
	for raw, want := range map[string]string{
		"http://proxy:3128":                 "http://proxy:3128",
		"https://proxy.example.com/":        "https://proxy.example.com",
		"socks5://ana:p%40ss@10.0.0.1:1080": "socks5://ana:p%40ss@10.0.0.1:1080",
		"http://[fd00::1]:3128":             "http://[fd00::1]:3128",
	} {
		if u, err := ParseProxy(raw); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", raw, u, err)
		}
	}
	for _, raw := range []string{
		"", "proxy:3128", "10.0.0.1:3128", "proxy", "//proxy", "ftp://proxy", "socks4://proxy", "http://", "http://:3128", "http://proxy:0", "http://proxy:70000",
		"http://proxy/path", "http://proxy?x", "http://proxy?", "http://proxy#x", "http://ana:p@ss/SECRET@proxy", "http://proxy:SECRET", "http://%zzSECRET",
		"socks5://ana@proxy", "socks5://:SECRET@proxy", "socks5://ana:" + strings.Repeat("p", 256) + "@proxy", "http://" + strings.Repeat("p", maxProxyURL),
	} {
		if u, err := ParseProxy(raw); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, %v", raw, u, err)
		}
	}
}
