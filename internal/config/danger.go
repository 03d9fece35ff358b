package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"outrigger/internal/egress"
)

// minSecret is what a secret needs not to be found by trying: 16 random
// characters are about 80 bits.
const minSecret = 16

// sentences collects what to warn of.
type sentences []string

func (w *sentences) warn(format string, args ...any) { *w = append(*w, fmt.Sprintf(format, args...)) }

// dangers are sentences about settings that are legal and dangerous.
func (c *Config) dangers() (w sentences) {
	if c.TLS.Cert == "" && !Loopback(c.Listen) {
		w.warn("listen: other machines reach %s over plain HTTP, so passwords can be read in transit; set tls.cert and tls.key, or listen on "+
			"127.0.0.1 behind a proxy that terminates TLS.", c.Listen)
	}
	if u, err := url.Parse(c.BaseURL); err == nil && u.Scheme == "http" && Loopback(c.Listen) && !thisMachine(u.Hostname()) {
		w.warn("base_url: %s is plain HTTP, so passwords can be read in transit; let the proxy terminate TLS, and use https here.", c.BaseURL)
	}
	if c.Metrics.Public {
		w.warn("metrics.public: anyone who can reach the server can read /metrics without signing in; give the scraper a token of scope " +
			"monitoring instead.")
	}
	if m := &c.Mail; m.PlainAuth && m.Listen != MailOff && !Loopback(m.Listen) {
		w.warn("mail.plain_auth: clients may sign in to %s without TLS, so their tokens can be read in transit; set mail.tls.cert and "+
			"mail.tls.key, and remove plain_auth.", m.Listen)
	}
	c.clearDangers(&w)
	c.dangersOIDC(&w)
	c.dangersMail(&w)
	c.dangersCertificates(&w, time.Now())
	for _, conn := range c.Notify.Connections {
		switch n := len(conn.WebhookSecret.Reveal()); {
		case n == 0 && conn.Unsigned:
			w.warn("notify.connections: %s accepts unsigned webhooks, so anyone who can reach /hooks/%s can post false events; set webhook_secret.",
				conn.Name, conn.Name)
		case n > 0 && n < minSecret:
			w.warn("notify.connections: the webhook_secret of %s has fewer than %d characters and can be guessed; use %d random characters or more.",
				conn.Name, minSecret, minSecret)
		}
	}
	for _, cidr := range c.TrustedProxies {
		if internet(cidr) {
			w.warn("trusted_proxies: %s is the whole internet or a large part of it, so any client can forge its address and scheme; list only "+
				"your proxies.", cidr)
		}
	}
	for _, entry := range c.Notify.AllowedNetworks {
		if allowed, err := egress.ParseAllowed(entry); err == nil {
			w.allowed(entry, allowed)
		}
	}
	// Outrigger makes secret.key and the database for their owner alone; a group may
	// share the folder, and a certificate's key.
	w.accessible(c.DataDir, 0o002, "changed", 0o700)
	for _, file := range []string{"secret.key", "outrigger.db"} {
		w.readable(filepath.Join(c.DataDir, file), 0o077)
	}
	for _, key := range []string{c.TLS.Key, c.Mail.TLS.Key} {
		if key != "" {
			w.readable(key, 0o007)
		}
	}
	return w
}

// Loopback reports whether only this machine reaches the address: a host and a
// port, or a Unix socket.
func Loopback(listen string) bool {
	network, address := SplitListen(listen)
	if network == "unix" {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	return err == nil && thisMachine(host)
}

// thisMachine reports whether a host is this machine for certain.
func thisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// internet reports whether a network is larger than any private one: those are
// 10.0.0.0/8 and fc00::/7.
func internet(cidr string) bool {
	network, err := netip.ParsePrefix(cidr)
	if err != nil {
		return false
	}
	if network.Addr().Is4() {
		return network.Bits() < 8
	}
	return network.Bits() < 7
}

// readable warns of a file with secrets that others than its owner may read.
func (w *sentences) readable(path string, mask os.FileMode) { w.accessible(path, mask, "read", 0o600) }

// accessible warns of a file or a folder that has some of the bits of mask. What is not
// there is not judged here.
func (w *sentences) accessible(path string, mask os.FileMode, done string, remedy os.FileMode) {
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&mask != 0 { // Windows keeps no such bits
		w.warn("%s can be %s by other users of this machine (mode %04o); remove their access, for example with chmod %o.",
			path, done, info.Mode().Perm(), remedy)
	}
}

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
