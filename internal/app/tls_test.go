package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
)

// writeCertificate makes a self-signed certificate for 127.0.0.1 with a name,
// and sets the modification time of its files to at.
func writeCertificate(t *testing.T, files config.TLS, name string, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost", "hooks.slack.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: at.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, files.Cert, "CERTIFICATE", cert, at)
	writePEM(t, files.Key, "PRIVATE KEY", der, at)
}

func writePEM(t *testing.T, path, kind string, der []byte, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func tlsFiles(t *testing.T) config.TLS {
	dir := t.TempDir()
	return config.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
}

func TestCertificateIsReadAgain(t *testing.T) {
	files, now := tlsFiles(t), time.Now()
	writeCertificate(t, files, "first", now)
	var out bytes.Buffer
	c, err := newCertificate("tls", files, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(name string, lines int) {
		t.Helper()
		got, err := c.get(nil)
		if err != nil || got.Leaf.Subject.CommonName != name {
			t.Errorf("%v serves, not %s: %v", got.Leaf.Subject, name, err)
		}
		if n := strings.Count(out.String(), "\n"); n != lines {
			t.Errorf("%d lines were logged:\n%s", n, out.String())
		}
	}
	expect("first", 0)
	writeCertificate(t, files, "second", now.Add(time.Second))
	expect("second", 1)

	// A certificate whose key has not come yet, and a file that is gone.
	if err := os.WriteFile(files.Key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect("second", 2)
	expect("second", 2)
	if err := os.Remove(files.Cert); err != nil {
		t.Fatal(err)
	}
	expect("second", 3)
	writeCertificate(t, files, "third", now.Add(2*time.Second))
	expect("third", 4)
}

// A certificate that has ended serves, since there is no other, and is warned of: at
// the start with the settings, later in the log.
func TestCertificateThatHasEnded(t *testing.T) {
	files, now := tlsFiles(t), time.Now()
	writeCertificate(t, files, "ended", now.Add(-90*time.Minute))
	var out bytes.Buffer
	c, err := newCertificate("tls", files, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, next := range []struct {
		name    string
		at      time.Time
		warning int
	}{{"second", now, 0}, {"third", now.Add(-2 * time.Hour), 1}} {
		writeCertificate(t, files, next.name, next.at)
		got, err := c.get(nil)
		if err != nil || got.Leaf.Subject.CommonName != next.name || strings.Count(out.String(), "has ended, and clients refuse it") != next.warning {
			t.Errorf("%s: %v, %v, logged %s", next.name, got.Leaf.Subject, err, out.String())
		}
	}
}

func TestCertificateMustLoadAtStart(t *testing.T) {
	for _, setting := range []string{"tls", "mail.tls"} {
		_, err := newCertificate(setting, tlsFiles(t), discard())
		if want := "load " + setting + ".cert and " + setting + ".key: "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
