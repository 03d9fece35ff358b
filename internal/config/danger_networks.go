package config

import (
	"fmt"
	"net/netip"

	"outrigger/internal/egress"
)

// metadata is where clouds answer their machines with the machines' own
// credentials.
var metadata = []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254")}

// allowed warns of what an entry of notify.allowed_networks opens to
// everybody who may save a rule. One port of this machine or of a private network
// is what the setting is for.
func (w *sentences) allowed(entry string, a egress.Allowed) {
	const only = "list only the network of the chat platform"
	reach, instead := "", only
	switch p := a.Network; {
	case p.IsValid() && internet(p.String()):
		reach = "every address, including this machine and the cloud metadata service"
	case p.IsValid() && (p.Contains(metadata[0]) || p.Contains(metadata[1])):
		reach = "the cloud metadata service, which gives out credentials of this machine"
	case a.Port != 0:
	case a.Name == "localhost", p.IsValid() && (p.Overlaps(netip.MustParsePrefix("127.0.0.0/8")) || p.Contains(netip.IPv6Loopback())):
		reach = "this machine itself, where other services may trust local requests"
		instead = fmt.Sprintf("%s, with its port, such as %s", only, a.On(443))
	case a.Special():
		reach = "every port of a network that is not public"
		instead = fmt.Sprintf("write the port of the chat platform too, such as %s", a.On(443))
	}
	if reach != "" {
		w.warn("notify.allowed_networks: %s lets webhook URLs reach %s; %s.", entry, reach, instead)
	}
}
