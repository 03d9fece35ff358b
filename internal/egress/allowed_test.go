package egress

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseAllowed(t *testing.T) {
	for entry, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", " 10.9.8.7/8 ": "10.0.0.0/8", "10.1.2.3": "10.1.2.3", "10.1.2.3/32": "10.1.2.3", "::1": "::1", "fd00::/8": "fd00::/8",
		"::ffff:10.1.2.3": "10.1.2.3", "fe80::1%eth0": "fe80::1", "Chat.Internal.": "chat.internal",
		"fd00::1:443": "fd00::1:443", // an address: its colons are its own

		"10.0.0.0/8:443": "10.0.0.0/8:443", "10.1.2.3:8443": "10.1.2.3:8443", "0.0.0.0/0:1": "0.0.0.0/0:1", "10.1.2.3:65535": "10.1.2.3:65535",
		"[fd00::/8]:443": "[fd00::/8]:443", "[fd00::1]:8443": "[fd00::1]:8443", "[::ffff:10.1.2.3]:22": "has brackets",
		"chat.internal:8065": "chat.internal:8065", "LOCALHOST:80": "localhost:80",
		"10.1.2.3:0443": "10.1.2.3:443",
	} {
		a, err := ParseAllowed(entry)
		if strings.HasPrefix(want, "has ") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", entry, err)
			}
			continue
		}
		if err != nil || a.String() != want {
			t.Errorf("%q is read as %q, %v, want %q", entry, a, err, want)
		}
	}
}

func TestParseAllowedSaysWhatIsWrong(t *testing.T) {
	const neither = " is neither a CIDR nor a host name; write 10.0.0.0/8 or chat.example.com, or with a port 10.0.0.0/8:443"
	port := func(as string) string {
		return " has no port from 1 to 65535 after the colon; write one port, as in " + as + ", and one entry for each port"
	}
	for entry, want := range map[string]string{
		"": neither, ":": neither, ":443": neither, "10.0.0.0/33": neither, "10.0.0.0/33:443": neither, "http://x": neither, "https://chat.example.com:443": neither,
		"*.internal": neither, "10.0.0": neither, "127.1:80": neither, "bücher.example": neither, "[": neither, "[]": neither, "[]:443": neither,
		"[fd00::/8": neither, "[fd00::/8]443": neither, "[chat.internal]:443": neither, "a b:443": neither, "10.0.0.0/8:443:443": neither,

		"10.0.0.0/8:": port("10.0.0.0/8:443"), "10.0.0.0/8:0": port("10.0.0.0/8:443"), "10.1.2.3:65536": port("10.1.2.3:443"), "10.1.2.3:-1": port("10.1.2.3:443"),
		"10.1.2.3:+80": port("10.1.2.3:443"), "10.1.2.3:80-90": port("10.1.2.3:443"), "10.1.2.3:80,443": port("10.1.2.3:443"), "10.1.2.3:https": port("10.1.2.3:443"),
		"chat.internal:": port("chat.internal:443"), "chat.internal:\u0661": port("chat.internal:443"), "[fd00::/8]:": port("[fd00::/8]:443"), "[fd00::/8]:x": port("[fd00::/8]:443"),

		"fd00::/8:443":            " has a port without brackets; write an IPv6 network with a port as [fd00::/8]:443",
		"[fd00::/8]":              " has brackets and no port; write fd00::/8, or [fd00::/8]:443 for one port",
		"[10.0.0.0/8]:443":        " has brackets, which are for IPv6 only; write 10.0.0.0/8:443",
		"::ffff:10.0.0.0/104":     " is an IPv4 network in the form of IPv6; write it as IPv4, such as 10.0.0.0/8",
		"[::ffff:10.0.0.0/104]:1": neither,
	} {
		if a, err := ParseAllowed(entry); err == nil || !strings.HasSuffix(err.Error(), "\""+want) {
			t.Errorf("%q is read as %q, %v, want %s", entry, a, err, want)
		}
		if _, err := New(Options{Policy: Policy{Allowed: []string{"10.0.0.0/8", entry}}}); err == nil || !strings.HasPrefix(err.Error(), "notify.allowed_networks: ") {
			t.Errorf("a client with %q: %v", entry, err)
		}
	}
}

// What is taken is written back as it was meant, allows no more than it says, and
// no URL passes that it does not name.
func FuzzParseAllowed(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8:443", "[fd00::/8]:443", "fd00::1:443", "chat.example.com.:80", "[::1]", "1:2:3", "[fe80::1%x]:9", "0x7f.1:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		a, err := ParseAllowed(entry)
		if err != nil {
			return
		}
		again, err := ParseAllowed(a.String())
		if err != nil || again != a {
			t.Fatalf("%q is written %q, which is read as %+v, %v", entry, a, again, err)
		}
		if (a.Name == "") != a.Network.IsValid() {
			t.Fatalf("%q is %+v", entry, a)
		}
		p := &policy{special: specialBlocks(), allowed: []Allowed{a}}
		for _, raw := range []string{"10.1.2.3", "127.0.0.1", "169.254.169.254", "::1", "fd00::1"} {
			addr := netip.MustParseAddr(raw)
			for _, port := range []uint16{22, 443, 8443} {
				if want := a.Network.Contains(addr) && (a.Port == 0 || a.Port == port); p.allowsAddr(addr, port) != want {
					t.Fatalf("%q: %s on port %d is not %v", entry, addr, port, want)
				}
			}
		}
	})
}
