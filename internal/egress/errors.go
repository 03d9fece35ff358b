package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
)

// describe says in our own words why a request got no answer. The original
// error is dropped: a server that echoes what it gets brings the path and the
// query into it.
func describe(req *http.Request, err error) error {
	host := req.URL.Hostname()
	var (
		name  *net.DNSError
		cert  *tls.CertificateVerificationError
		x     x509.HostnameError
		alert tls.AlertError
		first tls.RecordHeaderError
		errno syscall.Errno
	)
	switch ctxErr := req.Context().Err(); {
	case errors.Is(err, ErrRefused):
		return err
	case ctxErr != nil:
		return fmt.Errorf("the request to %s was ended: %w", host, ctxErr)
	case errors.As(err, &name) && !name.IsTimeout:
		return fmt.Errorf("the name %s cannot be resolved", host)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return fmt.Errorf("%s did not answer within %v", host, Timeout)
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
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s closed the connection without an answer", host)
	}
	return fmt.Errorf("%s did not answer in HTTP", host)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
