package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Allowed is an entry of notify.allowed_networks: a network or a host name, on
// one port or on every port.
type Allowed struct {
	Network netip.Prefix // of one address where the entry is an address; not valid where it is a name
	Name    string       // in lower case, without the dot of the root; "" where it is a network
	Port    uint16       // 0: every port
}

// ParseAllowed reads an entry: 10.0.0.0/8, 10.1.2.3, fd00::/8 or
// chat.example.com; on one port 10.0.0.0/8:443, 10.1.2.3:443, [fd00::/8]:443 or
// chat.example.com:443. What is wrong comes as a clause that quotes the entry.
func ParseAllowed(entry string) (Allowed, error) {
	entry = strings.TrimSpace(entry)
	if a, err := parseAllowedHost(entry); err == nil || !errors.Is(err, errNoHost) {
		return a, err
	}
	host, port, err := cutPort(entry)
	if err != nil {
		return Allowed{}, err
	}
	a, err := parseAllowedHost(host)
	if err != nil || strings.Contains(port, "/") { // the latter is of a URL
		return Allowed{}, fmt.Errorf("%q %w", entry, errNoHost)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Allowed{}, fmt.Errorf("%q has no port from 1 to 65535 after the colon; write one port, as in %s, and one entry for each port",
			entry, a.On(443))
	}
	a.Port = uint16(n)
	return a, nil
}

var errNoHost = errors.New("is neither a CIDR nor a host name; write 10.0.0.0/8 or chat.example.com, or with a port 10.0.0.0/8:443")

// parseAllowedHost reads an entry without a port.
func parseAllowedHost(text string) (Allowed, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		if prefix.Addr().Is4In6() {
			return Allowed{}, fmt.Errorf("%q is an IPv4 network in the form of IPv6; write it as IPv4, such as 10.0.0.0/8", text)
		}
		return Allowed{Network: prefix.Masked()}, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.WithZone("").Unmap()
		return Allowed{Network: netip.PrefixFrom(addr, addr.BitLen())}, nil
	}
	if name := hostName(text); isHostName(name) {
		return Allowed{Name: name}, nil
	}
	return Allowed{}, fmt.Errorf("%q %w", text, errNoHost)
}

// cutPort divides an entry into its host and its port, which are not judged. The
// brackets of an IPv6 network hold its colons together; nothing else has any.
func cutPort(entry string) (host, port string, err error) {
	if inner, brackets := strings.CutPrefix(entry, "["); brackets {
		inside, after, closed := strings.Cut(inner, "]")
		a, err := parseAllowedHost(inside)
		switch {
		case !closed || err != nil || a.Name != "":
			return "", "", fmt.Errorf("%q %w", entry, errNoHost)
		case a.Network.Addr().Is4():
			return "", "", fmt.Errorf("%q has brackets, which are for IPv6 only; write %s", entry, a.On(443))
		case after == "":
			return "", "", fmt.Errorf("%q has brackets and no port; write %s, or %s for one port", entry, a, a.On(443))
		case after[0] != ':':
			return "", "", fmt.Errorf("%q %w", entry, errNoHost)
		}
		return inside, after[1:], nil
	}
	i := strings.LastIndexByte(entry, ':')
	if i < 0 {
		return "", "", fmt.Errorf("%q %w", entry, errNoHost)
	}
	host, port = entry[:i], entry[i+1:]
	if a, err := parseAllowedHost(host); err == nil && strings.Contains(host, ":") {
		return "", "", fmt.Errorf("%q has a port without brackets; write an IPv6 network with a port as %s", entry, a.On(443))
	}
	return host, port, nil
}

// On returns the entry on one port.
func (a Allowed) On(port uint16) Allowed {
	a.Port = port
	return a
}

// String returns the entry as ParseAllowed reads it.
func (a Allowed) String() string {
	host := a.Name
	if host == "" {
		host = a.Network.String()
		if a.Network.IsSingleIP() {
			host = a.Network.Addr().String()
		}
	}
	if a.Port == 0 {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(a.Port)))
}

// Special reports whether addresses of the network are not public.
func (a Allowed) Special() bool {
	if !a.Network.IsValid() {
		return false
	}
	for _, b := range specialBlocks() {
		if b.prefix.Overlaps(a.Network) {
			return true
		}
	}
	return false
}

func (a Allowed) onPort(port uint16) bool { return a.Port == 0 || a.Port == port }

// holds reports whether an address, in the form of plainAddr or as it was, is in
// the network.
func (a Allowed) holds(addr, inner netip.Addr) bool {
	return a.Name == "" && (a.Network.Contains(addr) || a.Network.Contains(inner))
}
