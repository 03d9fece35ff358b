package rest

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxUnlisted is how many peers that look like proxies are named: a client can
// write the headers too, and must neither fill the log nor hide a real proxy.
const maxUnlisted = 5

// UnlistedProxy is a peer that sent forwarding headers and is not in
// trusted_proxies.
type UnlistedProxy struct {
	Address string
	Header  string // the first that it sent
	Line    string // of the configuration, with which it is trusted
	FirstAt time.Time
	LastAt  time.Time
}

// unlisted are the proxies that are not trusted.
type unlisted struct {
	mu    sync.Mutex
	peers []UnlistedProxy
}

// forget drops those that are trusted now.
func (u *unlisted) forget(trusted proxies) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.peers = slices.DeleteFunc(u.peers, func(p UnlistedProxy) bool {
		if p.Address == fromSocket {
			return trusted.socket
		}
		return trusted.trustPeer(p.Address)
	})
}

// UnlistedProxies lists them, as this node has seen them since its start.
func (rt *Router) UnlistedProxies() []UnlistedProxy {
	rt.unlisted.mu.Lock()
	defer rt.unlisted.mu.Unlock()
	return slices.Clone(rt.unlisted.peers)
}

// noteUnlisted says of each such proxy once that its clients all count as one.
func (rt *Router) noteUnlisted(r *http.Request, now time.Time) {
	header := forwarding(r.Header)
	if header == "" {
		return
	}
	if rt.proxies.Load().trustPeer(r.RemoteAddr) {
		return
	}
	line, ok := rt.proxies.Load().lineWith(r.RemoteAddr)
	if !ok {
		return
	}
	address := nameOfPeer(r.RemoteAddr)
	rt.unlisted.mu.Lock()
	defer rt.unlisted.mu.Unlock()
	i := slices.IndexFunc(rt.unlisted.peers, func(p UnlistedProxy) bool { return p.Address == address })
	switch {
	case i >= 0:
		rt.unlisted.peers[i].LastAt = now
	case len(rt.unlisted.peers) < maxUnlisted:
		p := UnlistedProxy{Address: address, Header: header, Line: line, FirstAt: now, LastAt: now}
		rt.unlisted.peers = append(rt.unlisted.peers, p)
		rt.log.Warn("a request came with a forwarding header from an address that is not in trusted_proxies: all clients behind it count as "+
			"one, so one that types wrong passwords locks out all; if it is your proxy, put the line into the configuration file",
			slog.String("peer", p.Address), slog.String("header", p.Header), slog.String("line", p.Line))
	}
}

// forwarding names the header by which a proxy says for whom it asks; "" for
// none.
func forwarding(h http.Header) string {
	for _, name := range [...]string{"X-Forwarded-For", "Forwarded", "X-Real-Ip"} {
		if len(h[name]) > 0 {
			return cmp.Or(map[string]string{"X-Real-Ip": "X-Real-IP"}[name], name)
		}
	}
	return ""
}

// lineWith is trusted_proxies with one more; false where the address of the peer
// cannot be read.
func (p proxies) lineWith(remote string) (line string, ok bool) {
	var all []string
	add := func(entry string) { all = append(all, `"`+entry+`"`) }
	for _, prefix := range p.networks {
		add(prefix.String())
	}
	if p.socket || isSocket(remote) {
		add(fromSocket)
	}
	if !isSocket(remote) {
		peer, ok := parseAddr(remote)
		if !ok {
			return "", false
		}
		add(netip.PrefixFrom(peer, peer.BitLen()).String())
	}
	return "trusted_proxies: [" + strings.Join(all, ", ") + "]", true
}
