package egress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"outrigger/internal/fault"
)

// ErrExposed is in the error of a request whose credentials the proxy of the
// settings would read. Nothing of it was sent.
var ErrExposed = errors.New("is not asked: its credentials could be read in the proxy of the settings, because its address is http://; " +
	"use https for it, set the proxy in the server's environment instead, or name the host in NO_PROXY")

// reads reports whether the proxy of the settings could read a request to a URL.
func (by route) reads(u *url.URL) bool { return by.set && u.Scheme == "http" }

// exposes refuses a request whose credentials the proxy could read. Forms are
// those of OAuth: they carry codes, secrets and tokens.
func (by route) exposes(req *http.Request) error {
	if !by.reads(req.URL) {
		return nil
	}
	form := strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if form || req.Header.Get("Authorization") != "" || req.Header.Get("Cookie") != "" {
		return fmt.Errorf("%s %w", req.URL.Hostname(), ErrExposed)
	}
	return nil
}

// noProxyBlock names the range that no proxy of the settings may be in: there,
// clouds answer their machines with the machines' credentials.
func noProxyBlock(addr netip.Addr) (block, bool) {
	addr = plainAddr(addr)
	if b := addr.As16(); sixToFour().Contains(addr) {
		addr = netip.AddrFrom4([4]byte(b[2:6])) // where the tunnel ends
	}
	for _, b := range specialBlocks() {
		switch b.name {
		case linkLocal, metadata, cloudServices:
			if b.prefix.Contains(addr) {
				return b, true
			}
		}
	}
	return block{}, false
}

// metadataNames are the names of 169.254.169.254 in clouds.
var metadataNames = []string{"metadata", "metadata.goog", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"}

// CheckProxy refuses a proxy for the settings whose literal address is in a
// link-local or metadata range, and the names that clouds give to one; any other
// name is judged when it is dialled.
func CheckProxy(proxy *url.URL) error {
	name := hostName(proxy.Hostname())
	addr, err := netip.ParseAddr(name)
	switch {
	case err == nil:
	case slices.Contains(metadataNames, name):
		addr = netip.AddrFrom4([4]byte{169, 254, 169, 254})
	case endsInNumber(name):
		return fault.New(fault.Invalid, "The proxy's host is neither a host name nor an address: write an IPv4 address as four decimal numbers.")
	default:
		return nil
	}
	if b, is := noProxyBlock(addr); is {
		return fault.New(fault.Invalid, "The proxy must not be in %s.", b)
	}
	return nil
}

// proxyRangeError is of a proxy at an address where none may be.
type proxyRangeError struct{ in block }

func (e *proxyRangeError) Error() string {
	return fmt.Sprintf("its address is in %s, where no proxy may be", e.in)
}

// judgeProxyAddress judges the address of a socket to the proxy of the settings
// before it connects.
func judgeProxyAddress(ctx context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !wayOf(ctx).set {
		return nil
	}
	if b, is := noProxyBlock(target.Addr()); is {
		return &proxyRangeError{b}
	}
	return nil
}
