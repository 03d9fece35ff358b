package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"outrigger/internal/config"
)

// certificate is that of the listener. The files are looked at on every
// handshake, so that a renewed certificate serves at once.
type certificate struct {
	files config.TLS
	log   *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	seen   [2]stamp // of the files at the last attempt to load them
}

// stamp reports whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
}

// newCertificate loads the files, so that a start fails when it cannot.
func newCertificate(files config.TLS, log *slog.Logger) (*certificate, error) {
	c := &certificate{files: files, log: log}
	c.seen = c.stamps()
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

// get is asked for each handshake. New files that cannot be loaded are said
// once; the old certificate serves on. They are often half written: the next
// change is the other half.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.stamps(); now != c.seen {
		c.again(now)
	}
	return c.loaded, nil
}

// again loads the files with those stamps and reports whether they can be used.
// c.mu is held.
func (c *certificate) again(now [2]stamp) bool {
	c.seen = now
	if err := c.load(); err != nil {
		c.log.Warn("the new TLS certificate cannot be used, the old one serves on", "error", err)
		return false
	}
	c.log.Info("the TLS certificate was read again", "file", c.files.Cert)
	return true
}

// ReadCertificates reads the TLS files again, whether they look changed or not.
// What cannot be used is logged, and what was read before serves on. It tells
// whether there are such files, and all of them can be used.
func (a *App) ReadCertificates() bool {
	read := len(a.certificates) > 0
	for _, c := range a.certificates {
		c.mu.Lock()
		read = c.again(c.stamps()) && read
		c.mu.Unlock()
	}
	return read
}

// ends is when what is served now ends.
func (c *certificate) ends() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded.Leaf.NotAfter
}

func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return fmt.Errorf("load tls.cert and tls.key: %w", err)
	}
	c.loaded = &pair
	return nil
}

func (c *certificate) stamps() (s [2]stamp) {
	for i, path := range [...]string{c.files.Cert, c.files.Key} {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}
