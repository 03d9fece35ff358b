package config

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
)

// socketPrefix stands before the path of a Unix socket in place of host and port.
const socketPrefix = "unix:"

// maxSocketPath is what Linux has room for, without the byte that ends it.
const maxSocketPath = 107

// TrustSocket is the entry of trusted_proxies for all that connect to the Unix socket.
const TrustSocket = "unix"

const listenExample = "127.0.0.1:8090, :8090 or unix:/run/outrigger/http.sock"

// SplitListen is the network and the address on it of a value of the setting
// listen: tcp and 127.0.0.1:8090, or unix and /run/outrigger/http.sock.
func SplitListen(listen string) (network, address string) {
	if path, ok := strings.CutPrefix(listen, socketPrefix); ok {
		return "unix", path
	}
	return "tcp", listen
}

// CheckListen says what is wrong with a value of the setting listen; nil: nothing.
func CheckListen(listen string) error {
	network, address := SplitListen(listen)
	if network == "tcp" {
		return checkAddress(address, listenExample)
	}
	if !filepath.IsAbs(address) {
		return fmt.Errorf("%q is not an absolute path; write unix:/run/outrigger/http.sock", address)
	}
	if len(address) > maxSocketPath {
		return fmt.Errorf("the path has %d bytes; the path of a socket has at most %d", len(address), maxSocketPath)
	}
	return nil
}

// ListensAt reports whether a listener at addr is what a value of listen or
// mail.listen means. The names of hosts are not looked up.
func ListensAt(listen string, addr net.Addr) bool {
	network, address := SplitListen(listen)
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return network == "unix" && address == addr.String()
	}
	host, port, err := net.SplitHostPort(address)
	if network != "tcp" || err != nil || port != "0" && port != strconv.Itoa(tcp.Port) {
		return false
	}
	if host == "" {
		return tcp.IP.IsUnspecified()
	}
	ip := net.ParseIP(host)
	return ip == nil || ip.Equal(tcp.IP)
}

func (c *Config) judgeListen(j *judge) {
	if err := CheckListen(c.Listen); err != nil {
		j.wrong("listen", "%w", err)
		return
	}
	if network, _ := SplitListen(c.Listen); network == "unix" && c.BaseURL == "" {
		j.wrong("base_url", "it is missing; a Unix socket has no address that users could reach, so set the URL of the proxy in front")
	}
}

func judgeAddress(j *judge, key, address, example string) {
	if err := checkAddress(address, example); err != nil {
		j.wrong(key, "%w", err)
	}
}

func checkAddress(address, example string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address; write host:port, such as %s", address, example)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is not a port; a port is a number from 0 to 65535", port)
	}
	return nil
}
