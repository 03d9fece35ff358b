package egress

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/fault"
)

// Policy says where webhooks may go besides public addresses.
type Policy struct {
	// Allowed holds networks (10.0.0.0/8), addresses and host names, each with
	// or without a port, as ParseAllowed reads them. Plain http is for these
	// only. A host name allows whatever it resolves to; it allows no names
	// below it.
	Allowed []string
	// Proxied holds the host names, as in notify.proxied_hosts, that a proxy
	// may be asked for though they do not resolve here. *.example.com is every
	// name below example.com, and not itself.
	Proxied []string
}

// policy is a Policy that was understood.
type policy struct {
	special []block
	allowed []Allowed
	proxied []string // example.com, or .example.com for names below it
}

func (p Policy) parse() (*policy, error) {
	out := &policy{special: specialBlocks()}
	for _, entry := range p.Allowed {
		a, err := ParseAllowed(entry)
		if err != nil {
			return nil, fault.New(fault.Invalid, "notify.allowed_networks: %v.", err)
		}
		out.allowed = append(out.allowed, a)
	}
	for _, entry := range p.Proxied {
		name, below := strings.CutPrefix(hostName(strings.TrimSpace(entry)), "*.")
		if !isHostName(name) {
			return nil, fault.New(fault.Invalid, "notify.proxied_hosts: %q is neither a host name nor *. and a host name.", entry)
		}
		if below {
			name = "." + name
		}
		out.proxied = append(out.proxied, name)
	}
	return out, nil
}

// proxiedName reports whether a proxy may be asked for a host that does not resolve
// here.
func (p *policy) proxiedName(host string) bool {
	host = hostName(host)
	for _, name := range p.proxied {
		if host == name || name[0] == '.' && strings.HasSuffix(host, name) {
			return true
		}
	}
	return false
}

// allowsName reports whether a host is allowed by its name on a port.
func (p *policy) allowsName(host string, port uint16) bool {
	host = hostName(host)
	return slices.ContainsFunc(p.allowed, func(a Allowed) bool { return a.Name != "" && a.Name == host && a.onPort(port) })
}

// allowsAddr reports whether an address is in an allowed network on a port.
func (p *policy) allowsAddr(addr netip.Addr, port uint16) bool {
	addr = addr.WithZone("").Unmap()
	inner := plainAddr(addr)
	return slices.ContainsFunc(p.allowed, func(a Allowed) bool { return a.holds(addr, inner) && a.onPort(port) })
}

// refuses names the special range that keeps addr from being dialled on a port,
// unless it is in an allowed network.
func (p *policy) refuses(addr netip.Addr, port uint16) (block, bool) {
	if p.allowsAddr(addr, port) {
		return block{}, false
	}
	return p.blockOf(addr)
}

// blockOf returns the special range that an address is in.
func (p *policy) blockOf(addr netip.Addr) (block, bool) {
	addr = plainAddr(addr)
	for _, b := range p.special {
		if b.prefix.Contains(addr) {
			return b, true
		}
	}
	return block{}, false
}

// judge refuses an address of host that may not be dialled; plaintext is http.
func (p *policy) judge(host string, target netip.AddrPort, plaintext bool) error {
	addr, port := target.Addr(), target.Port()
	if b, is := p.refuses(addr, port); is {
		return fmt.Errorf("%s %w: it is in %s, which notify.allowed_networks does not name%s", host, ErrRefused, b, p.forPort(host, addr, port))
	}
	if plaintext && !p.allowsAddr(addr, port) {
		return fmt.Errorf("%s %w: http is only for what notify.allowed_networks names%s", host, ErrRefused, p.forPort(host, addr, port))
	}
	return nil
}

// public reports whether an address may be dialled without an entry that allows
// it.
func (p *policy) public(target netip.AddrPort, plaintext bool) bool {
	_, special := p.blockOf(target.Addr())
	return !special && !plaintext && isFreePort(target.Port())
}

// isPublic is public for the other end of a connection.
func (p *policy) isPublic(addr net.Addr, plaintext bool) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && p.public(tcp.AddrPort(), plaintext)
}

// forPort ends a sentence about what is not allowed: " for port 22" where it is
// on another port.
func (p *policy) forPort(host string, addr netip.Addr, port uint16) string {
	addr, host = addr.WithZone("").Unmap(), hostName(host)
	inner := plainAddr(addr)
	if slices.ContainsFunc(p.allowed, func(a Allowed) bool { return a.Name != "" && a.Name == host || a.holds(addr, inner) }) {
		return fmt.Sprintf(" for port %d", port)
	}
	return ""
}

// portOf is the port that a URL leads to; 0 where what stands there is none.
func portOf(u *url.URL) uint16 {
	switch port := u.Port(); {
	case port != "":
		n, _ := strconv.ParseUint(port, 10, 16)
		return uint16(n)
	case u.Scheme == "http":
		return 80
	}
	return 443
}

// hostName is the form in which names are compared: names are the same in
// upper and lower case, and with the dot of the root.
func hostName(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// isHostName reports whether a name in the form of hostName can be resolved and
// is no address in disguise: resolvers read 127.1, 0x7f000001 and 2130706433
// as addresses, so a name whose last label is a number is none (WHATWG URL,
// "ends in a number").
func isHostName(name string) bool {
	if name == "" || len(name) > 253 { // RFC 1035, without the root's dot
		return false
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return !endsInNumber(name)
}

// endsInNumber reports whether the last label of a name in the form of hostName is a
// number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return strings.Trim(last, "0123456789") == "" || isHex(last)
}

func isHex(label string) bool {
	digits, found := strings.CutPrefix(label, "0x")
	return found && strings.Trim(digits, "0123456789abcdef") == ""
}

// isLocalhost reports whether a name always means the machine itself (RFC 6761).
func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
