package egress

import (
	"fmt"
	"net/netip"
	"strings"

	"outrigger/internal/fault"
)

// Policy says where webhooks may go besides public addresses.
type Policy struct {
	// Allowed holds networks (10.0.0.0/8), addresses and host names, as in
	// notify.allowed_networks. Plain http is for these only. A host name
	// allows whatever it resolves to; it allows no names below it.
	Allowed []string
	// Proxied holds the host names, as in notify.proxied_hosts, that a proxy
	// may be asked for though they do not resolve here. *.example.com is every
	// name below example.com, and not itself.
	Proxied []string
}

// policy is a Policy that was understood.
type policy struct {
	special  []block
	networks []netip.Prefix
	names    map[string]bool
	proxied  []string // example.com, or .example.com for names below it
}

func (p Policy) parse() (*policy, error) {
	out := &policy{special: specialBlocks(), names: make(map[string]bool)}
	for _, entry := range p.Allowed {
		entry = strings.TrimSpace(entry)
		if prefix, err := netip.ParsePrefix(entry); err == nil && !prefix.Addr().Is4In6() {
			out.networks = append(out.networks, prefix.Masked())
		} else if addr, err := netip.ParseAddr(entry); err == nil {
			addr = addr.WithZone("").Unmap()
			out.networks = append(out.networks, netip.PrefixFrom(addr, addr.BitLen()))
		} else if name := hostName(entry); isHostName(name) {
			out.names[name] = true
		} else {
			return nil, fault.New(fault.Invalid, "notify.allowed_networks: %q is no network (10.0.0.0/8), address or host name.", entry)
		}
	}
	for _, entry := range p.Proxied {
		name, below := strings.CutPrefix(hostName(strings.TrimSpace(entry)), "*.")
		if !isHostName(name) {
			return nil, fault.New(fault.Invalid, "notify.proxied_hosts: %q is no host name, nor *. and a host name.", entry)
		}
		if below {
			name = "." + name
		}
		out.proxied = append(out.proxied, name)
	}
	return out, nil
}

// proxiedName tells whether a proxy may be asked for a host that does not resolve
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

// allowsName tells whether a host is allowed by its name.
func (p *policy) allowsName(host string) bool { return p.names[hostName(host)] }

// allowsAddr tells whether an address is in an allowed network.
func (p *policy) allowsAddr(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	inner := plainAddr(addr)
	for _, n := range p.networks {
		if n.Contains(addr) || n.Contains(inner) {
			return true
		}
	}
	return false
}

// refuses names the special range that keeps addr from being dialled, unless
// it is in an allowed network.
func (p *policy) refuses(addr netip.Addr) (block, bool) {
	if p.allowsAddr(addr) {
		return block{}, false
	}
	addr = plainAddr(addr)
	for _, b := range p.special {
		if b.prefix.Contains(addr) {
			return b, true
		}
	}
	return block{}, false
}

// judge refuses an address of host that may not be dialled; plaintext is http.
func (p *policy) judge(host string, addr netip.Addr, plaintext bool) error {
	if b, is := p.refuses(addr); is {
		return fmt.Errorf("%s %w: it is in %s, which notify.allowed_networks does not name", host, ErrRefused, b)
	}
	if plaintext && !p.allowsAddr(addr) {
		return fmt.Errorf("%s %w: http is only for what notify.allowed_networks names", host, ErrRefused)
	}
	return nil
}

// hostName is the form in which names are compared: names are the same in
// upper and lower case, and with the dot of the root.
func hostName(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// isHostName tells whether a name in the form of hostName can be resolved and
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
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != "" && !isHex(last)
}

func isHex(label string) bool {
	digits, found := strings.CutPrefix(label, "0x")
	return found && strings.Trim(digits, "0123456789abcdef") == ""
}

// isLocalhost tells whether a name always means the machine itself (RFC 6761).
func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
