package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"time"
)

// describe says in our own words why a request got no answer. The original
// error is dropped: a server that echoes what it gets brings the path and the
// query into it. Of a certificate it says no more than what is wrong with it where
// discreet: names of hosts inside may stand in it.
func describe(u *url.URL, w *way, err error, discreet bool) error {
	host := u.Hostname()
	var failed *hostError
	switch ctxErr := w.asked.Err(); {
	case errors.Is(err, ErrRefused), errors.Is(err, ErrProxy), errors.Is(err, ErrExposed):
		return err
	case ctxErr != nil:
		return fmt.Errorf("the request to %s was ended: %w", host, ctxErr)
	case errors.As(err, &failed):
		return err
	}
	if err := describeProxy(u, w, err); err != nil {
		return proxyFailure{err}
	}
	if why := certificateFault(err); discreet && why != "" {
		return fmt.Errorf("the certificate of %s is not trusted: %s", host, why)
	}
	return cause(host, err, Timeout)
}

// certificateFault says what is wrong with a certificate, in words that have nothing
// of it; "" where it is not about one.
func certificateFault(err error) string {
	var (
		cert    *tls.CertificateVerificationError
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "it is for another host name"
	case errors.As(err, &unknown):
		return "it is signed by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired, or is not valid yet"
	case errors.As(err, &cert), errors.As(err, &invalid):
		return "it is not valid"
	}
	return ""
}

// cause says why host did not answer, which had so long.
func cause(host string, err error, limit time.Duration) error {
	var (
		name   *net.DNSError
		cert   *tls.CertificateVerificationError
		x      x509.HostnameError
		alert  tls.AlertError
		first  tls.RecordHeaderError
		errno  syscall.Errno
		barred *proxyRangeError
	)
	switch {
	case errors.As(err, &barred):
		return barred
	case errors.As(err, &name) && !name.IsTimeout:
		return fmt.Errorf("the name %s cannot be resolved", host)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return fmt.Errorf("%s did not answer within %v", host, limit)
	case errors.Is(err, errNoAnswer):
		return fmt.Errorf("%s cannot be reached: %w", host, errNoAnswer)
	case errors.As(err, &cert):
		return fmt.Errorf("the certificate of %s is not trusted: %w", host, cert.Err)
	case errors.As(err, &x):
		return fmt.Errorf("the certificate of %s is not trusted: %w", host, x)
	case errors.As(err, &alert):
		return fmt.Errorf("%s broke off the TLS handshake: %w", host, alert)
	case errors.As(err, &first):
		return fmt.Errorf("%s does not speak TLS", host)
	case errors.As(err, &errno):
		return fmt.Errorf("the connection to %s failed: %w", host, errno)
	case broke(err):
		return fmt.Errorf("%s closed the connection without an answer", host)
	}
	return fmt.Errorf("%s did not answer in HTTP", host)
}

// broke reports whether the other side ended the connection.
func broke(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// proxyFailure is a failure on the way through a proxy, which its words name.
type proxyFailure struct{ error }

func (e proxyFailure) Unwrap() error { return e.error }

// Discreet returns what every user may read of an error of Caller.Do that names
// addresses, ranges or the proxy; "" for any other.
func Discreet(err error) string {
	var (
		host  *hostError
		proxy proxyFailure
	)
	switch {
	case errors.Is(err, ErrProxy), errors.As(err, &host), errors.As(err, &proxy):
		return "the request did not get through the outgoing proxy"
	case errors.Is(err, ErrRefused):
		return "the host may not be reached from here"
	}
	return ""
}
