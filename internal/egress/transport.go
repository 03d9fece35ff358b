package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"outrigger/internal/fault"
)

const (
	// Idle connections kept for one host and in all. Every channel of a
	// tenant is on one host, and 256 sends at once should find theirs open.
	idlePerHost, idleConns = 256, 1024
	// The most connections to one host: slow answers on it may take that many
	// sockets, and no more.
	connsPerHost = 1024
	// The proxies of chat platforms close idle connections after a minute or
	// more; a channel at 1 message a second keeps its own.
	idleTime = 60 * time.Second
	// Answers have a few hundred bytes of headers.
	maxAnswerHeaders = 64 << 10
)

// newTransport makes a Transport that asks no proxy.
//
// It sends a request twice only where net/http knows that nothing of it was
// written, or that it changes nothing (GET, HEAD, OPTIONS, TRACE): a POST whose
// kept connection ends after a part was written is a failure, for its sender
// to count.
func newTransport(roots *x509.CertPool, dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	// HTTP/1.1 only: all channels of one host would share one HTTP/2
	// connection, and wait for one another when it stalls.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            dial,
		Protocols:              protocols,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    Timeout,
		MaxIdleConns:           idleConns,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxConnsPerHost:        connsPerHost,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxAnswerHeaders,
		ReadBufferSize:         2 << 10, // most answers have less
		DisableCompression:     true,    // answers are read up to 2 KiB; none may unfold
	}
}

// Roots is the system's certificates and those of file, as ca_file names it;
// nil, which is the system's, without a file.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "ca_file cannot be read.")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the system's certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fault.New(fault.Invalid, "ca_file %s holds no certificate in PEM.", file)
	}
	return roots, nil
}
