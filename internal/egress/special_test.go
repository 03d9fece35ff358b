package egress

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func strict(t interface{ Fatal(...any) }, allowed ...string) *policy {
	p, err := Policy{Allowed: allowed}.parse()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawIn draws an address of a network.
func drawIn(t *rapid.T, prefix netip.Prefix) netip.Addr {
	addr := prefix.Addr().AsSlice()
	random := rapid.SliceOfN(rapid.Byte(), len(addr), len(addr)).Draw(t, "host bits")
	for i := range addr {
		for bit := range 8 {
			if i*8+bit >= prefix.Bits() {
				addr[i] |= random[i] & (0x80 >> bit)
			}
		}
	}
	out, _ := netip.AddrFromSlice(addr)
	return out
}

// around returns the IPv6 addresses that lead to an IPv4 address: mapped,
// compatible, translated, NAT64 (well-known and local), 6to4, Teredo.
func around(v4 netip.Addr) map[string]netip.Addr {
	b := v4.As4()
	embed := func(prefix string, at int) netip.Addr {
		a := netip.MustParseAddr(prefix).As16()
		copy(a[at:], b[:])
		return netip.AddrFrom16(a)
	}
	teredo := netip.MustParseAddr("2001::").As16()
	for i := range b {
		teredo[12+i] = ^b[i]
	}
	return map[string]netip.Addr{
		"mapped": embed("::ffff:0:0", 12), "compatible": embed("::", 12), "translated": embed("::ffff:0:0:0", 12),
		"nat64": embed("64:ff9b::", 12), "local nat64": embed("64:ff9b:1::", 12), "6to4": embed("2002::", 2),
		"teredo": netip.AddrFrom16(teredo), "zone": embed("::ffff:0:0", 12).WithZone("eth0"),
	}
}

func TestEverySpecialAddressIsRefused(t *testing.T) {
	p := strict(t)
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom(p.special).Draw(t, "range")
		addr := drawIn(t, b.prefix)
		if plainAddr(addr).Is4() != addr.Is4() {
			return // ::/3 holds the mapped and NAT64 addresses, of which the inner one decides
		}
		if _, is := p.refuses(addr, 443); !is {
			t.Fatalf("%s of %s may be dialled", addr, b)
		}
		if _, is := p.refuses(addr.WithZone("eth0"), 443); !is {
			t.Fatalf("%s of %s may be dialled with a zone", addr, b)
		}
		if addr.Is4() {
			for form, wrapped := range around(addr) {
				if _, is := p.refuses(wrapped, 443); !is {
					t.Fatalf("%s (%s) of %s may be dialled", wrapped, form, b)
				}
			}
		}
	})
}

// The standard library's own idea of what is not public is a second opinion.
func TestNothingThatTheStandardLibraryKnowsPasses(t *testing.T) {
	p := strict(t)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
		addr, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "addr"))
		inner := addr.Unmap()
		special := inner.IsLoopback() || inner.IsPrivate() || inner.IsLinkLocalUnicast() || inner.IsMulticast() ||
			inner.IsUnspecified() || !inner.IsGlobalUnicast()
		if _, is := p.refuses(addr, 443); special && !is {
			t.Fatalf("%s may be dialled", addr)
		}
	})
}

func TestAddresses(t *testing.T) {
	p := strict(t)
	for _, c := range []struct {
		addr  string
		block string // "" may be dialled
	}{
		{"8.8.8.8", ""}, {"1.1.1.1", ""}, {"52.112.0.1", ""}, {"172.15.255.255", ""}, {"172.32.0.0", ""},
		{"100.63.255.255", ""}, {"100.128.0.0", ""}, {"198.17.255.255", ""}, {"198.20.0.0", ""}, {"223.255.255.255", ""},
		{"2606:4700::1111", ""}, {"2001:4860:4860::8888", ""}, {"2003::1", ""}, {"::ffff:8.8.8.8", ""}, {"64:ff9b::8.8.8.8", ""},
		{"0.0.0.0", "this host or network"}, {"127.0.0.1", "loopback"}, {"10.1.2.3", "private network"}, {"192.168.0.1", "private network"},
		{"172.31.255.255", "private network"}, {"169.254.169.254", "instance metadata"}, {"169.254.1.1", "link-local"},
		{"100.100.100.200", "instance metadata"}, {"168.63.129.16", "the cloud's own services"}, {"198.19.255.255", "benchmarking"},
		{"224.0.0.1", "multicast"}, {"255.255.255.255", "broadcast"}, {"250.0.0.1", "reserved"}, {"203.0.113.7", "documentation"},
		{"::", "unspecified"}, {"::1", "loopback"}, {"fe80::1%eth0", "link-local"}, {"fd00:ec2::254", "instance metadata"},
		{"fd12::1", "private network"}, {"ff02::1", "multicast"}, {"2001:db8::1", "documentation"}, {"3fff::1", "documentation"},
		{"2002:7f00:1::", "6to4 tunnels"}, {"2001:0:1::1", "Teredo tunnels"}, {"::ffff:127.0.0.1", "loopback"}, {"::127.0.0.1", "IPv4-compatible"},
		{"64:ff9b::127.0.0.1", "loopback"}, {"64:ff9b:1::8.8.8.8", "local NAT64"}, {"4000::1", "not given out"}, {"1fff::1", "not given out"}, {"e000::1", "not given out"},
	} {
		b, is := p.refuses(netip.MustParseAddr(c.addr), 443)
		if is != (c.block != "") || b.name != c.block {
			t.Errorf("%s: refused %v as %q, want %q", c.addr, is, b.name, c.block)
		}
	}
}

func TestPolicyAllows(t *testing.T) {
	p := strict(t, "10.0.0.0/8", "fd00::/8", "192.168.1.7", " Chat.Internal. ", "::1", "::ffff:172.16.0.1")
	for addr, allowed := range map[string]bool{
		"10.255.0.1": true, "11.0.0.1": false, "192.168.1.7": true, "192.168.1.8": false, "::1": true, "::2": false, "172.16.0.1": true,
		"fd00:ec2::254": true, "::ffff:10.0.0.1": true, "64:ff9b::10.0.0.1": true, "64:ff9b::192.168.1.8": false,
	} {
		if p.allowsAddr(netip.MustParseAddr(addr), 443) != allowed {
			t.Errorf("%s: allowed is not %v", addr, allowed)
		}
		if _, refused := p.refuses(netip.MustParseAddr(addr), 443); allowed && refused {
			t.Errorf("%s is allowed and refused", addr)
		}
	}
	for name, allowed := range map[string]bool{"chat.internal": true, "CHAT.internal.": true, "x.chat.internal": false, "internal": false} {
		if p.allowsName(name, 443) != allowed {
			t.Errorf("%s: allowed is not %v", name, allowed)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/33", "https://host", "*.internal", "10.0.0", "::ffff:10.0.0.0/104", "bücher.example"} {
		if _, err := (Policy{Allowed: []string{bad}}).parse(); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
