package egress

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// maxURL is the longest webhook URL in bytes. Workflow URLs have about 400.
const maxURL = 2048

// CheckURL reports whether a webhook URL may be saved, without asking the
// network; a name is judged when it is dialled. What is wrong comes as one
// fault.Invalid sentence, which holds the host at most and never the path or
// the query.
func (c *Client) CheckURL(raw string) error {
	if raw == "" {
		return fault.New(fault.Invalid, "Give the webhook URL that the chat platform shows.")
	}
	if len(raw) > maxURL {
		return fault.New(fault.Invalid, "The URL is longer than 2,048 bytes: copy it again from the chat platform.")
	}
	u, err := url.Parse(raw)
	if err != nil {
		// The cause would quote the URL.
		return fault.New(fault.Invalid, "This is not a URL: copy it again from the chat platform.")
	}
	if scheme := u.Scheme; scheme != "https" && scheme != "http" {
		return fault.New(fault.Invalid, "The URL must begin with https://.")
	}
	if u.User != nil {
		return fault.New(fault.Invalid, "The URL must not hold a user or a password.")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return fault.New(fault.Invalid, "The port of the URL must be a number from 1 to 65535.")
		}
	}
	if err := c.policy.checkHost(u); err != nil {
		return err
	}
	if err := c.policy.checkPort(u); err != nil {
		return err
	}
	return checkKind(u)
}

// firstFreePort begins the ports that any program may listen on. Below it are
// those of other protocols (mail, shells, databases' management), which would
// read a request as commands; of them only 443 is https.
const firstFreePort = 1024

func isFreePort(n uint16) bool { return n == 443 || n >= firstFreePort }

// checkPort judges the port of what is not allowed by name or network.
func (p *policy) checkPort(u *url.URL) error {
	host, n := u.Hostname(), portOf(u)
	if u.Port() == "" || isFreePort(n) || p.allowsName(host, n) {
		return nil
	}
	if addr, err := netip.ParseAddr(host); err == nil && p.allowsAddr(addr, n) {
		return nil
	}
	return fault.New(fault.Invalid, "The URL must not have the port %d: chat platforms listen on 443, or on 1024 and above. "+
		"If yours does not, name its host in notify.allowed_networks.", n)
}

// cautionTime is how long a save waits for the name server.
const cautionTime = 2 * time.Second

// CautionURL asks the name server whether the host of a webhook URL leads where
// webhooks may not go: what to tell who saves it, or "". A proxy may know other
// names, and an address may change: it is judged again whenever it is dialled.
func (c *Client) CautionURL(ctx context.Context, raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || c.policy.allowsName(u.Hostname(), portOf(u)) {
		return ""
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, cautionTime)
	defer cancel()
	addrs, err := c.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return ""
	}
	for _, addr := range addrs {
		if b, is := c.policy.refuses(addr, portOf(u)); is {
			return fmt.Sprintf("%s is %s, which is in %s, where webhooks may not go unless notify.allowed_networks names it%s: "+
				"its messages would wait.",
				host, addr.Unmap(), b, c.policy.forPort(host, addr, portOf(u)))
		}
	}
	return ""
}

// checkHost judges the host as far as it can be without resolving it.
func (p *policy) checkHost(u *url.URL) error {
	host, port := u.Hostname(), portOf(u)
	if host == "" {
		return fault.New(fault.Invalid, "The URL names no host.")
	}
	if p.allowsName(host, port) {
		return nil
	}
	name := hostName(host)
	var literal []netip.Addr
	if addr, err := netip.ParseAddr(host); err == nil {
		literal = []netip.Addr{addr}
	} else if isLocalhost(name) {
		literal = []netip.Addr{netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	} else if !isHostName(name) {
		return fault.New(fault.Invalid, "The host of the URL is neither a host name nor an address: write a name in ASCII letters, digits and "+
			"hyphens, an IPv4 address as four decimal numbers.")
	}
	var refused error
	for _, addr := range literal {
		if p.allowsAddr(addr, port) {
			return nil
		}
		if b, is := p.refuses(addr, port); is {
			refused = fault.New(fault.Invalid, "%s is in %s, where webhooks may not go unless notify.allowed_networks names it%s.", host, b,
				p.forPort(host, addr, port))
		}
	}
	if refused == nil && u.Scheme == "http" {
		return fault.New(fault.Invalid, "The URL must begin with https://; http is only for what notify.allowed_networks names.")
	}
	return refused
}

// checkKind refuses the URLs that chat platforms hand out and that take no
// cards.
func checkKind(u *url.URL) error {
	host := hostName(u.Hostname())
	switch {
	case isUnder(host, "webhook.office.com"), host == "outlook.office.com", host == "outlook.office365.com":
		return fault.New(fault.Invalid, "This is the URL of an Office 365 connector, which has been switched off: "+
			"create a workflow in the chat channel (\"Post to a channel when a webhook request is received\") and give its URL.")
	case isUnder(host, "logic.azure.com"), isUnder(host, "api.powerplatform.com"):
		if u.Query().Get("sig") == "" {
			return fault.New(fault.Invalid, "This workflow URL has no signature (sig): let the workflow's trigger accept \"Anyone\", save it, "+
				"and copy its whole URL.")
		}
	case host == "hooks.slack.com" && (strings.HasPrefix(u.Path, "/triggers/") || strings.HasPrefix(u.Path, "/workflows/")):
		return fault.New(fault.Invalid, "This is a Slack workflow trigger, which takes no cards: create an incoming webhook "+
			"(hooks.slack.com/services/…) and give its URL.")
	}
	return nil
}

// isChatPlatform reports whether a name is the chat platforms' own.
func isChatPlatform(host string) bool {
	host = hostName(host)
	return host == "hooks.slack.com" || isUnder(host, "logic.azure.com") || isUnder(host, "api.powerplatform.com")
}

func isUnder(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}
