package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrProxy is in every error that is the proxy's own: it is out of reach, wants
// other credentials, or is no proxy. No host behind it can be asked until that
// is mended.
var ErrProxy = errors.New("cannot be used")

// proxyDialTime is less than Timeout, so that a proxy that does not answer is
// told from a host behind it that does not.
const proxyDialTime = 5 * time.Second

// newProxied makes a Transport that dials the proxy of a request's context, and
// nothing else.
func newProxied(roots *x509.CertPool, resolver *net.Resolver) *http.Transport {
	dialer := net.Dialer{Timeout: proxyDialTime, Resolver: resolver, ControlContext: judgeProxyAddress}
	t := newTransport(roots, dialer.DialContext)
	t.Proxy = func(r *http.Request) (*url.URL, error) { return wayOf(r.Context()).proxy, nil }
	t.OnProxyConnectResponse = judgeConnect
	return t
}

// judgeConnect says what a proxy's answer to CONNECT means.
func judgeConnect(ctx context.Context, proxy *url.URL, connect *http.Request, resp *http.Response) error {
	status, host := resp.StatusCode, connect.URL.Opaque
	said := fmt.Sprintf("%d %s", status, http.StatusText(status))
	switch {
	case status == http.StatusOK:
		wayOf(ctx).open.Store(true)
		return nil
	case status == http.StatusProxyAuthRequired:
		return wantsCredentials(proxy)
	case status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		return fmt.Errorf("%s %w: the proxy %s does not let requests through to it (%s)", host, ErrRefused, proxy.Host, said)
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return &hostError{fmt.Sprintf("the proxy %s cannot reach %s: %s", proxy.Host, host, said)}
	}
	return fmt.Errorf("the proxy %s %w: it answered %s to CONNECT", proxy.Host, ErrProxy, said)
}

func wantsCredentials(proxy *url.URL) error {
	if proxy.User == nil {
		return fmt.Errorf("the proxy %s %w: it asks for a user and a password (407)", proxy.Host, ErrProxy)
	}
	return fmt.Errorf("the proxy %s %w: it does not take the user and the password (407)", proxy.Host, ErrProxy)
}

// hostError is a failure of one host; a proxy on the way is well.
type hostError struct{ message string }

func (e *hostError) Error() string { return e.message }

// answerOf passes on what came of a request through a proxy. An answer with
// status 407 is the proxy's where it forwards a request of plain http; through
// a tunnel it is the host's.
func answerOf(resp *http.Response, err error) (*http.Response, error) {
	if err != nil || resp.StatusCode != http.StatusProxyAuthRequired || resp.Request.URL.Scheme != "http" {
		return resp, err
	}
	proxy := wayOf(resp.Request.Context()).proxy
	if proxy.Scheme == "socks5" {
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, wantsCredentials(proxy)
}

// describeProxy says what is wrong with the proxy itself, or what it did not do
// about a host; nil: nothing that the error tells.
func describeProxy(u *url.URL, w *way, err error) error {
	var op *net.OpError
	proxy, host := w.proxy, u.Hostname()
	switch is := errors.As(err, &op); {
	case proxy == nil:
		return nil
	case is && op.Op == "proxyconnect":
		return fmt.Errorf("the proxy %s %w: %s", proxy.Host, ErrProxy, cause(proxy.Hostname(), op.Err, proxyDialTime))
	case is && op.Op == "socks connect" && !isTimeout(op.Err):
		return describeSOCKS(host, proxy, op.Err)
	case w.isTunnel(u) && w.open.Load():
		return nil // it did what it is for
	case isTimeout(err): // perhaps it waits for the host itself
		return fmt.Errorf("the proxy %s did not answer when asked for %s", proxy.Host, host)
	case broke(err):
		return fmt.Errorf("the proxy %s closed the connection when asked for %s", proxy.Host, host)
	}
	return fmt.Errorf("the proxy %s %w: it does not answer in HTTP", proxy.Host, ErrProxy)
}

// describeSOCKS tells the proxy's own failures from those of the host behind
// it. net/http has no types for them, only texts, which a test holds: the
// proxy's reply about the host (RFC 1928, 6.) comes after "unknown error".
func describeSOCKS(host string, proxy *url.URL, err error) error {
	reply, beyond := strings.CutPrefix(err.Error(), "unknown error ")
	switch {
	case broke(err): // some do so where they cannot reach the host
		return fmt.Errorf("the proxy %s closed the connection when asked for %s", proxy.Host, host)
	case !beyond:
		return fmt.Errorf("the proxy %s %w: %s", proxy.Host, ErrProxy, socksCause(err))
	case reply == "connection not allowed by ruleset":
		return fmt.Errorf("%s %w: the proxy %s does not let requests through to it", host, ErrRefused, proxy.Host)
	}
	return fmt.Errorf("the proxy %s cannot reach %s: %s", proxy.Host, host, reply)
}

func socksCause(err error) string {
	switch s := err.Error(); s {
	case "no acceptable authentication methods":
		return "it asks for a user and a password"
	case "username/password authentication failed":
		return "it does not take the user and the password"
	}
	return "it does not speak SOCKS 5"
}
