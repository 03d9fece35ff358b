package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// fromSocket is the address of all that connect to a Unix socket, as it is in
// trusted_proxies, in the audit trail and where attempts are counted.
const fromSocket = "unix"

// proxies are those whose X-Forwarded-For and X-Forwarded-Proto count.
type proxies struct {
	networks []netip.Prefix
	socket   bool // what connects to the Unix socket is one
}

func parseProxies(entries []string) (p proxies, err error) {
	for _, e := range entries {
		if e == fromSocket {
			p.socket = true
			continue
		}
		prefix, err := netip.ParsePrefix(e)
		if err != nil {
			return proxies{}, fmt.Errorf("trusted proxy %q: %w", e, err)
		}
		p.networks = append(p.networks, prefix.Masked())
	}
	return p, nil
}

// TrustProxies replaces those whose X-Forwarded-For and X-Forwarded-Proto count, as
// trusted_proxies lists them, for requests that begin from now on. On an error it
// changes nothing.
func (rt *Router) TrustProxies(entries []string) error {
	p, err := parseProxies(entries)
	if err != nil {
		return err
	}
	rt.proxies.Store(&p)
	rt.unlisted.forget(p)
	return nil
}

func (p proxies) trust(a netip.Addr) bool {
	for _, prefix := range p.networks {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// trustPeer reports whether the other end of a connection is a proxy.
func (p proxies) trustPeer(remote string) bool {
	if isSocket(remote) {
		return p.socket
	}
	peer, ok := parseAddr(remote)
	return ok && p.trust(peer)
}

// isSocket reports whether the address of a peer is that of a client of a Unix
// socket, which has no name.
func isSocket(remote string) bool { return remote == "@" || remote == "" }

// nameOfPeer is an address without its port.
func nameOfPeer(remote string) string {
	if isSocket(remote) {
		return fromSocket
	}
	if peer, ok := parseAddr(remote); ok {
		return peer.String()
	}
	return remote
}

// client is the address of the client: that of the connection or, when that is
// a trusted proxy's, the last one in X-Forwarded-For that is not. Whatever a
// client itself wrote into the header stands before that and is not believed.
func (p proxies) client(r *http.Request) string {
	last, proxy := nameOfPeer(r.RemoteAddr), p.trustPeer(r.RemoteAddr)
	if !proxy {
		return last
	}
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0 && proxy; i-- {
		hop, ok := parseAddr(strings.TrimSpace(hops[i]))
		if !ok {
			break // the proxy that is trusted says nothing that can be read: it is the last known
		}
		last, proxy = hop.String(), p.trust(hop)
	}
	return last
}

// https reports whether the client came by https, here or at a trusted proxy.
func (p proxies) https(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	said := r.Header["X-Forwarded-Proto"]
	if len(said) == 0 || !p.trustPeer(r.RemoteAddr) {
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
