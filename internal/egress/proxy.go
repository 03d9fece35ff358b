package egress

import (
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/net/http/httpproxy"

	"outrigger/internal/fault"
)

// maxProxyURL is the longest URL of a proxy in bytes.
const maxProxyURL = 2048

// ParseProxy reads the URL of a proxy as administrators give it: http, https
// or socks5, with user and password if it wants them. What is wrong comes as a
// fault.Invalid sentence that does not quote the URL.
func ParseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case len(raw) > maxProxyURL:
		return nil, fault.New(fault.Invalid, "The proxy's URL is longer than 2,048 bytes.")
	case err != nil || u.Scheme == "" || u.Host == "":
		// The cause would quote the URL.
		return nil, fault.New(fault.Invalid, "Give the proxy's URL as http://host:port, https://host:port or socks5://host:port; "+
			"characters such as @ and / in the user or the password are written %%40 and %%2F.")
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5":
		return nil, fault.New(fault.Invalid, "The proxy's URL must begin with http://, https:// or socks5://.")
	case u.Hostname() == "":
		return nil, fault.New(fault.Invalid, "The proxy's URL names no host.")
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, fault.New(fault.Invalid, "The proxy's URL must end after the port.")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, fault.New(fault.Invalid, "The port of the proxy must be a number from 1 to 65535.")
		}
	}
	if password, _ := u.User.Password(); u.Scheme == "socks5" && u.User != nil &&
		(u.User.Username() == "" || password == "" || len(u.User.Username()) > 255 || len(password) > 255) {
		return nil, fault.New(fault.Invalid, "A SOCKS proxy takes a user and a password of 1 to 255 bytes each (RFC 1929), or neither.")
	}
	u.Path = ""
	return u, nil
}

// chooser returns the way to a URL.
type chooser func(*url.URL) route

// route is how a URL is reached.
type route struct {
	proxy *url.URL // nil: none
	set   bool     // the proxy is that of the settings, not of the environment
}

// proxies chooses the proxy for a URL.
type proxies struct {
	environment *httpproxy.Config
	inUse       atomic.Pointer[chooser]
}

func newProxies() (*proxies, error) {
	p := &proxies{environment: httpproxy.FromEnvironment()}
	// REQUEST_METHOD in the environment means nothing here: this is no CGI
	// program.
	p.environment.CGI = false
	for name, value := range map[string]*string{"HTTP_PROXY": &p.environment.HTTPProxy, "HTTPS_PROXY": &p.environment.HTTPSProxy} {
		if *value == "" {
			continue
		}
		if !strings.Contains(*value, "://") {
			*value = "http://" + *value
		}
		// socks5h is another name for what net/http does with socks5: the
		// proxy resolves.
		*value = strings.Replace(*value, "socks5h://", "socks5://", 1)
		if _, err := ParseProxy(*value); err != nil {
			return nil, fault.New(fault.Invalid, "%s of the environment: %s", name, fault.As(err).Message)
		}
	}
	p.use(nil)
	return p, nil
}

// with returns the choice that there is with a proxy; nil is the environment's.
// NO_PROXY, localhost and loopback addresses go past either.
func (p *proxies) with(proxy *url.URL) chooser {
	c := *p.environment
	if proxy != nil {
		c.HTTPProxy, c.HTTPSProxy = proxy.String(), proxy.String()
	}
	choose := c.ProxyFunc()
	return func(u *url.URL) route {
		chosen, _ := choose(u) // the only error is about CGI programs
		return route{chosen, chosen != nil && proxy != nil}
	}
}

func (p *proxies) use(proxy *url.URL) {
	choose := p.with(proxy)
	p.inUse.Store(&choose)
}

// forURL returns the way to a URL.
func (p *proxies) forURL(u *url.URL) route { return (*p.inUse.Load())(u) }
