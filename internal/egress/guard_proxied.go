package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"
)

// lookupTime is how long the name of a host that notify.proxied_hosts names is
// looked up. Networks with a proxy often have name servers that know nothing of
// the world outside, and some of those answer slowly or not at all.
const lookupTime = 2 * time.Second

// judgeProxied reports whether a proxy may be asked for a URL. The proxy resolves
// the name again and dials what it finds, so this is what can be known here: a
// literal address and whatever the name resolves to is judged as if it were
// dialled, all of it; a name that does not resolve must be one of
// notify.proxied_hosts. public is as for Public.
func (g *guard) judgeProxied(ctx context.Context, u *url.URL) (public bool, err error) {
	host, port, plaintext := u.Hostname(), portOf(u), u.Scheme == "http"
	if g.policy.allowsName(host, port) {
		return isChatPlatform(host) && !plaintext, nil
	}
	var addrs []netip.Addr
	if addr, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{addr}
	} else if addrs, err = g.lookup(ctx, host); err != nil {
		return isChatPlatform(host) && !plaintext, g.judgeUnresolved(host, plaintext, err)
	}
	public = len(addrs) > 0
	for _, addr := range addrs {
		target := netip.AddrPortFrom(addr, port)
		if err := g.policy.judge(host, target, plaintext); err != nil {
			return false, err
		}
		public = public && g.policy.public(target, plaintext)
	}
	return public, nil
}

func (g *guard) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if g.policy.proxiedName(host) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lookupTime)
		defer cancel()
	}
	return g.dialer.Resolver.LookupNetIP(ctx, "ip", host)
}

func (g *guard) judgeUnresolved(host string, plaintext bool, err error) error {
	if g.policy.proxiedName(host) {
		if plaintext {
			return fmt.Errorf("%s %w: http is only for what notify.allowed_networks names", host, ErrRefused)
		}
		return nil
	}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return fmt.Errorf("%s %w: the name does not resolve here, and notify.proxied_hosts does not name it", host, ErrRefused)
	}
	// The name server may be out of order for now.
	return &hostError{fmt.Sprintf("the name %s cannot be looked up here, and notify.proxied_hosts does not name it", host)}
}
