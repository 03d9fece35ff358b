// Package egress is outgoing HTTP: where it may go, through which proxy, how
// long it may take, and what errors may say about it.
//
// A webhook may go to public addresses, by https. Loopback, private,
// link-local, metadata and every other special range of RFC 6890 is refused
// when the connection is dialled, after its name was resolved, unless the
// Policy names it; plain http is for what the Policy names. Hosts that a
// SYS_ADMIN configures are not under this rule: see Client.Trusted.
//
// With a proxy (UseProxy, else HTTP_PROXY and HTTPS_PROXY of the environment,
// and never for what NO_PROXY names), only the proxy is dialled. A webhook's
// host is judged before the proxy is asked for it: see guard.judgeProxied. Requests
// that carry credentials go through the proxy of UseProxy over https only: what
// is set in the console must not read them.
//
// Redirects are not followed: a 3xx is an answer like any other.
package egress

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Timeout is how long a request may take, from resolving the name to the last
// byte of the answer's body.
const Timeout = 10 * time.Second

// Options are what a Client needs. The zero value is a strict one.
type Options struct {
	Policy   Policy
	CAFile   string        // PEM certificates to trust besides the system's; "" for none
	Version  string        // for the User-Agent
	Resolver *net.Resolver // nil for the system's
}

// Client makes outgoing requests. It is safe for concurrent use.
type Client struct {
	policy     *policy
	proxies    *proxies
	webhook    *Caller
	trusted    *Caller
	unlimited  *Caller
	transports []*http.Transport
	resolver   *net.Resolver
}

// New makes a Client. It refuses an entry of Policy, a CAFile or a proxy of the
// environment that cannot be understood.
func New(o Options) (*Client, error) {
	p, err := o.Policy.parse()
	if err != nil {
		return nil, err
	}
	roots, err := Roots(o.CAFile)
	if err != nil {
		return nil, err
	}
	proxies, err := newProxies()
	if err != nil {
		return nil, err
	}
	agent := "Outrigger"
	if o.Version != "" {
		agent += "/" + o.Version
	}
	// Without the charset some flows read the body as UTF-16.
	json := http.Header{"User-Agent": {agent}, "Content-Type": {"application/json; charset=utf-8"}}
	resolver := cmp.Or(o.Resolver, net.DefaultResolver)
	dialer := net.Dialer{Timeout: Timeout, Resolver: resolver}
	secure := &guard{policy: p, dialer: dialer}
	plain := &guard{policy: p, dialer: dialer, plaintext: true}
	proxied := newProxied(roots, resolver)
	free := newTransport(roots, dialer.DialContext)
	webhook := &Caller{
		secure: newTransport(roots, secure.dial), plain: newTransport(roots, plain.dial),
		proxied: proxied, proxies: proxies, judge: secure.judgeProxied, isPublic: p.isPublic, json: json, limit: Timeout,
	}
	trusted := &Caller{secure: free, plain: free, proxied: proxied, proxies: proxies, json: json, limit: Timeout}
	unlimited := *trusted
	unlimited.limit = 0
	return &Client{
		policy: p, resolver: resolver, proxies: proxies, webhook: webhook, trusted: trusted, unlimited: &unlimited,
		transports: []*http.Transport{webhook.secure, webhook.plain, free, proxied},
	}, nil
}

// Webhook is for URLs that users give: every address is judged.
func (c *Client) Webhook() *Caller { return c.webhook }

// Trusted is for hosts that a SYS_ADMIN configures: platforms, the cloud site.
// It goes anywhere, by http too.
func (c *Client) Trusted() *Caller { return c.trusted }

// Unlimited is Trusted without a limit of time: for downloads that take long,
// whose caller notices when nothing comes any more.
func (c *Client) Unlimited() *Caller { return c.unlimited }

// UseProxy has requests that begin from now on go through a proxy that
// ParseProxy took; nil is the one of the environment, if any.
func (c *Client) UseProxy(proxy *url.URL) {
	c.proxies.use(proxy)
	c.webhook.proxied.CloseIdleConnections()
}

// ByProxy reports whether requests to a URL go by the proxy that is in use. What
// is no URL goes nowhere.
func (c *Client) ByProxy(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && c.proxies.forURL(u).proxy != nil
}

// Exposes reports whether requests to a URL that carry credentials are refused
// because the proxy of UseProxy would read them.
func (c *Client) Exposes(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && c.proxies.forURL(u).reads(u)
}

// Trial is what came of asking a host once.
type Trial struct {
	Host  string // that was asked
	Proxy string // host and port of the proxy on the way; "" for none
}

// Try asks for a webhook's host by a proxy (nil: the environment's), as if it
// were the one in use, and changes nothing. Any answer will do: the host was
// reached. The errors are those of Do.
func (c *Client) Try(ctx context.Context, proxy *url.URL, target string) (Trial, error) {
	req, err := NewRequest(ctx, http.MethodHead, target, nil)
	if err != nil {
		return Trial{}, err
	}
	trial := Trial{Host: req.URL.Hostname()}
	by := c.proxies.with(proxy)(req.URL)
	if by.proxy != nil {
		trial.Proxy = by.proxy.Host
	}
	resp, err := c.webhook.through(by, req)
	if err != nil {
		return trial, err
	}
	return trial, resp.Body.Close()
}

// Close closes the connections that are kept open.
func (c *Client) Close() {
	for _, t := range c.transports {
		t.CloseIdleConnections()
	}
}
