package egress

import (
	"fmt"
	"net/netip"
)

// block is a range of addresses that is not the public network.
type block struct {
	prefix netip.Prefix
	name   string
	source string // the document that sets it aside
}

func (b block) String() string { return fmt.Sprintf("%s (%s, %s)", b.prefix, b.name, b.source) }

// The names of the ranges where machines answer their own host or the one next to
// it.
const linkLocal, metadata, cloudServices = "link-local", "instance metadata", "the cloud's own services"

// specialBlocks are the ranges of the IANA special-purpose address registries
// (RFC 6890; iana.org/assignments/iana-ipv4-special-registry and …-ipv6-…),
// multicast, and the addresses where clouds answer their own machines. Ranges
// that the registries call globally reachable are here too: they serve the
// network itself, and no chat platform. The first that contains an address
// names it, so a narrow one stands before the wide one around it.
func specialBlocks() []block {
	return []block{
		{netip.MustParsePrefix("0.0.0.0/8"), "this host or network", "RFC 791"},
		{netip.MustParsePrefix("10.0.0.0/8"), "private network", "RFC 1918"},
		{netip.MustParsePrefix("100.100.100.200/32"), metadata, "alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata, RFC 6598"},
		{netip.MustParsePrefix("100.64.0.0/10"), "carrier-grade NAT", "RFC 6598"},
		{netip.MustParsePrefix("127.0.0.0/8"), "loopback", "RFC 1122"},
		{netip.MustParsePrefix("168.63.129.16/32"), cloudServices, "learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16"},
		{netip.MustParsePrefix("169.254.169.254/32"), metadata, "docs.aws.amazon.com/AWSEC2, RFC 3927"},
		{netip.MustParsePrefix("169.254.0.0/16"), linkLocal, "RFC 3927"},
		{netip.MustParsePrefix("172.16.0.0/12"), "private network", "RFC 1918"},
		{netip.MustParsePrefix("192.0.0.0/24"), "protocol assignments", "RFC 6890"},
		{netip.MustParsePrefix("192.0.2.0/24"), "documentation", "RFC 5737"},
		{netip.MustParsePrefix("192.31.196.0/24"), "AS112 name servers", "RFC 7535"},
		{netip.MustParsePrefix("192.52.193.0/24"), "multicast tunnels", "RFC 7450"},
		{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relays", "RFC 7526"},
		{netip.MustParsePrefix("192.168.0.0/16"), "private network", "RFC 1918"},
		{netip.MustParsePrefix("192.175.48.0/24"), "AS112 name servers", "RFC 7534"},
		{netip.MustParsePrefix("198.18.0.0/15"), "benchmarking", "RFC 2544"},
		{netip.MustParsePrefix("198.51.100.0/24"), "documentation", "RFC 5737"},
		{netip.MustParsePrefix("203.0.113.0/24"), "documentation", "RFC 5737"},
		{netip.MustParsePrefix("224.0.0.0/4"), "multicast", "RFC 5771"},
		{netip.MustParsePrefix("255.255.255.255/32"), "broadcast", "RFC 919"},
		{netip.MustParsePrefix("240.0.0.0/4"), "reserved", "RFC 1112"},

		{netip.MustParsePrefix("::/128"), "unspecified", "RFC 4291"},
		{netip.MustParsePrefix("::1/128"), "loopback", "RFC 4291"},
		{netip.MustParsePrefix("::/96"), "IPv4-compatible", "RFC 4291"},
		{netip.MustParsePrefix("::ffff:0:0:0/96"), "IPv4-translated", "RFC 2765"},
		{netip.MustParsePrefix("64:ff9b:1::/48"), "local NAT64", "RFC 8215"},
		{netip.MustParsePrefix("100::/64"), "discarded", "RFC 6666"},
		{netip.MustParsePrefix("100:0:0:1::/64"), "dummy prefix", "RFC 9780"},
		{netip.MustParsePrefix("2001::/32"), "Teredo tunnels", "RFC 4380"},
		{netip.MustParsePrefix("2001:2::/48"), "benchmarking", "RFC 5180"},
		{netip.MustParsePrefix("2001:10::/28"), "ORCHID", "RFC 4843"},
		{netip.MustParsePrefix("2001:20::/28"), "ORCHIDv2", "RFC 7343"},
		{netip.MustParsePrefix("2001::/23"), "protocol assignments", "RFC 2928"},
		{netip.MustParsePrefix("2001:db8::/32"), "documentation", "RFC 3849"},
		{netip.MustParsePrefix("2002::/16"), "6to4 tunnels", "RFC 3056"},
		{netip.MustParsePrefix("2620:4f:8000::/48"), "AS112 name servers", "RFC 7534"},
		{netip.MustParsePrefix("3fff::/20"), "documentation", "RFC 9637"},
		{netip.MustParsePrefix("5f00::/16"), "segment routing", "RFC 9602"},
		{netip.MustParsePrefix("fd00:ec2::254/128"), metadata, "docs.aws.amazon.com/AWSEC2, RFC 4193"},
		{netip.MustParsePrefix("fc00::/7"), "private network", "RFC 4193"},
		{netip.MustParsePrefix("fe80::/10"), linkLocal, "RFC 4291"},
		{netip.MustParsePrefix("fec0::/10"), "site-local", "RFC 3879"},
		{netip.MustParsePrefix("ff00::/8"), "multicast", "RFC 4291"},
		// Last: of all the rest, IANA gives out addresses from 2000::/3 only.
		{netip.MustParsePrefix("::/3"), "not given out", "RFC 4291"},
		{netip.MustParsePrefix("4000::/2"), "not given out", "RFC 4291"},
		{netip.MustParsePrefix("8000::/1"), "not given out", "RFC 4291"},
	}
}

// nat64 is the well-known prefix around an IPv4 address (RFC 6052). On a
// network with DNS64 every IPv4 host has such an address, so the address
// inside decides.
func nat64() netip.Prefix { return netip.MustParsePrefix("64:ff9b::/96") }

// sixToFour is the prefix around the IPv4 address at which a tunnel ends.
func sixToFour() netip.Prefix { return netip.MustParsePrefix("2002::/16") }

// plainAddr is the address that would really be reached: without its zone,
// and the IPv4 address inside an IPv4-mapped or NAT64 one.
func plainAddr(addr netip.Addr) netip.Addr {
	addr = addr.WithZone("").Unmap()
	if addr.Is6() && nat64().Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}
