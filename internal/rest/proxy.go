package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// proxies are those whose X-Forwarded-For and X-Forwarded-Proto count.
type proxies []netip.Prefix

func parseProxies(cidrs []string) (proxies, error) {
	var p proxies
	for _, c := range cidrs {
		prefix, err := netip.ParsePrefix(c)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q: %w", c, err)
		}
		p = append(p, prefix.Masked())
	}
	return p, nil
}

// TrustProxies replaces the CIDRs whose X-Forwarded-For and X-Forwarded-Proto count,
// for requests that begin from now on. On an error it changes nothing.
func (rt *Router) TrustProxies(cidrs []string) error {
	p, err := parseProxies(cidrs)
	if err != nil {
		return err
	}
	rt.proxies.Store(&p)
	rt.unlisted.forget(p)
	return nil
}

func (p proxies) trust(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// client is the address of the client: that of the connection or, when that is
// a trusted proxy's, the last one in X-Forwarded-For that is not. Whatever a
// client itself wrote into the header stands before that and is not believed.
func (p proxies) client(r *http.Request) string {
	peer, ok := parseAddr(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	if len(p) == 0 || !p.trust(peer) {
		return peer.String()
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(peer); i-- {
		hop, ok := parseAddr(strings.TrimSpace(hops[i]))
		if !ok {
			break // the proxy that is trusted says nothing that can be read: it is the last known
		}
		peer = hop
	}
	return peer.String()
}

// https reports whether the client came by https, here or at a trusted proxy.
func (p proxies) https(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	said := r.Header["X-Forwarded-Proto"]
	if len(said) == 0 || len(p) == 0 {
		return false
	}
	peer, ok := parseAddr(r.RemoteAddr)
	if !ok || !p.trust(peer) {
		return false
	}
	// A proxy that adds to what the client wrote adds at the end.
	last := said[len(said)-1]
	return strings.EqualFold(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:]), "https")
}

// parseAddr reads an address with or without a port. IPv4 in IPv6 is IPv4, and
// a zone, which means nothing elsewhere, is dropped.
func parseAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}, false
	}
	return a.Unmap().WithZone(""), true
}

// Network is what counts as one client where clients are held to a share: an
// IPv4 address, or an IPv6 /64, which is what one subscriber gets.
func Network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Is4() {
		return address
	}
	p, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}

func networkOf(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return Network(tcp.AddrPort().Addr().Unmap().WithZone("").String())
	}
	return a.String()
}
