package config

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"time"
)

// judgeCertificate finds half a pair, and files that are none. Files that are not here
// or may not be read are not judged: the settings may be checked on another machine, or
// by another user than the server runs as.
func judgeCertificate(j *judge, key, cert, private string) {
	switch {
	case cert == "" && private == "":
	case cert == "" || private == "":
		j.wrong(key, "set both cert and key, or neither")
	default:
		_, err := tls.LoadX509KeyPair(cert, private)
		if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			j.wrong(key, "%s.cert and %s.key cannot be loaded: %w", key, key, err)
		}
	}
}

// expiryWarning is how long before its end a certificate is warned of.
const expiryWarning = 30 * 24 * time.Hour

// dangersCertificates warns of files that are not here, and of certificates that clients
// refuse, now or soon.
func (c *Config) dangersCertificates(w *sentences, now time.Time) {
	for _, files := range []struct{ setting, cert, key string }{
		{"tls", c.TLS.Cert, c.TLS.Key}, {"mail.tls", c.Mail.TLS.Cert, c.Mail.TLS.Key},
	} {
		if files.cert == "" {
			continue
		}
		pair, err := tls.LoadX509KeyPair(files.cert, files.key)
		if errors.Is(err, fs.ErrNotExist) {
			w.warn("%s: the server does not start without this file: %v.", files.setting, err)
		}
		if err != nil {
			continue
		}
		end := pair.Leaf.NotAfter
		day := end.UTC().Format(time.DateOnly)
		switch {
		case now.After(end):
			w.warn("%s.cert: the certificate %s ended on %s, and clients refuse it; replace it.", files.setting, files.cert, day)
		case end.Sub(now) < expiryWarning:
			w.warn("%s.cert: the certificate %s ends on %s; replace it before then.", files.setting, files.cert, day)
		}
	}
}
