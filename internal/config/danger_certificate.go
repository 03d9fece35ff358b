package config

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"time"
)

// expiryWarning is how long before its end a certificate is warned of.
const expiryWarning = 30 * 24 * time.Hour

// dangersCertificates warns of certificates that clients refuse, now or soon. A file
// that cannot be read or is none is not judged here: whoever checks the settings may
// not be the user that the server runs as.
func (c *Config) dangersCertificates(now time.Time) (w []string) {
	for _, file := range []struct{ key, path string }{{"tls.cert", c.TLS.Cert}, {"mail.tls.cert", c.Mail.TLS.Cert}} {
		end, found := certificateEnd(file.path)
		day := end.UTC().Format(time.DateOnly)
		switch {
		case !found || end.Sub(now) > expiryWarning:
		case now.After(end):
			w = append(w, fmt.Sprintf("%s: the certificate %s ended on %s, and clients refuse it; replace it.", file.key, file.path, day))
		default:
			w = append(w, fmt.Sprintf("%s: the certificate %s ends on %s; replace it before then.", file.key, file.path, day))
		}
	}
	return w
}

// certificateEnd is when the first certificate of a PEM file ends: the server's own,
// which its chain follows.
func certificateEnd(path string) (end time.Time, found bool) {
	if path == "" {
		return time.Time{}, false
	}
	rest, err := os.ReadFile(path)
	if err != nil {
		return time.Time{}, false
	}
	for {
		block, after := pem.Decode(rest)
		if block == nil {
			return time.Time{}, false
		}
		if rest = after; block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return time.Time{}, false
		}
		return cert.NotAfter, true
	}
}
