package app

import (
	"crypto/tls"
	"crypto/x509"
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
	setting string // that has the files: tls, mail.tls
	files   config.TLS
	log     *slog.Logger

	mu       sync.Mutex
	loaded   *tls.Certificate
	reported *x509.Certificate // at the start or the last reload
	seen     [2]stamp          // of the files at the last attempt to load them
}

// stamp reports whether a file has changed.
type stamp struct {
	modified time.Time
	size     int64
}

// newCertificate loads the files, so that a start fails when it cannot.
func newCertificate(setting string, files config.TLS, log *slog.Logger) (*certificate, error) {
	c := &certificate{setting: setting, files: files, log: log}
	c.seen = c.stamps()
	pair, err := c.read()
	if err != nil {
		return nil, err
	}
	c.use(pair)
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

// again loads the files with those stamps. A certificate that has ended is served all
// the same: without it nothing could be. c.mu is held.
func (c *certificate) again(now [2]stamp) {
	c.seen = now
	pair, err := c.read()
	if err != nil {
		c.log.Warn("the new TLS certificate cannot be used, the old one serves on", "error", err)
		return
	}
	c.loaded = pair
	c.log.Info("the TLS certificate was read again", "file", c.files.Cert)
	if ended := pair.Leaf.NotAfter; time.Now().After(ended) {
		c.log.Warn("the TLS certificate has ended, and clients refuse it: replace it", "file", c.files.Cert, "ended", ended)
	}
}

// use serves pair from now on, which a start or a reload has read.
func (c *certificate) use(pair *tls.Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loaded, c.reported = pair, pair.Leaf
}

// differs reports whether pair is another one than the start or the last reload read.
// What is served now may be pair already: the files are read when they change.
func (c *certificate) differs(pair *tls.Certificate) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !pair.Leaf.Equal(c.reported)
}

// ends is when what is served now ends.
func (c *certificate) ends() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded.Leaf.NotAfter
}

func (c *certificate) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return nil, fmt.Errorf("load %s.cert and %s.key: %w", c.setting, c.setting, err)
	}
	return &pair, nil
}

func (c *certificate) stamps() (s [2]stamp) {
	for i, path := range [...]string{c.files.Cert, c.files.Key} {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}
