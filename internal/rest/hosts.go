package rest

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Hosts are the names that a server answers to: that of its base URL, those
// that settings add, localhost and every IP address. A page of another name
// that resolves to this server (DNS rebinding) would be of the same origin as
// what it reads here.
type Hosts struct {
	names map[string]bool // in lower case, without a port
}

// NewHosts reads the names; more are host names without a port.
func NewHosts(baseURL string, more []string) (Hosts, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" {
		return Hosts{}, fmt.Errorf("the base URL %q has no host", baseURL)
	}
	h := Hosts{map[string]bool{"localhost": true, hostName(base.Host): true}}
	for _, name := range more {
		h.names[hostName(name)] = true
	}
	return h, nil
}

// answers reports whether a request with that Host header is for this server.
func (h Hosts) answers(host string) bool {
	name := hostName(host)
	if h.names[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// Guard answers 421 to requests for other hosts.
func (h Hosts) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.answers(r.Host) {
			refusePage(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusePage answers 421 as text for a browser: a page of the console would
// load its style from the same host.
func refusePage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, errMisdirected(r).Error(), http.StatusMisdirectedRequest)
}

// hostName returns the name in a Host header, in lower case and without a port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func errMisdirected(r *http.Request) error {
	return &httpError{http.StatusMisdirectedRequest, fmt.Sprintf("Outrigger is not served as %q; use the address in base_url, or "+
		"add the name to allowed_hosts in the configuration file.", hostName(r.Host))}
}

// misdirected reports whether a request is to be refused because it is for another host.
// Webhooks and metrics are not, since they have no use for a browser's cookies, nor is a
// request with an Authorization header, which no page without the secret can send.
func (rt *Router) misdirected(r *http.Request) bool {
	path, under := strings.CutPrefix(r.URL.Path, rt.base.path)
	if rt.hosts == nil || under && (within(path, "/hooks") || path == "/metrics") {
		return false
	}
	return r.Header.Get("Authorization") == "" && !rt.hosts.answers(r.Host)
}
