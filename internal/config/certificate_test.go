package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

// certificateUntil returns a private key and its certificate, which ends then, in PEM.
func certificateUntil(t *testing.T, end time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-time.Hour), NotAfter: end}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})...)
	return string(text)
}

// A certificate that has ended, or ends within 30 days, is warned of, by its setting.
func TestCertificatesThatEnd(t *testing.T) {
	const day = 24 * time.Hour
	for in, want := range map[time.Duration]string{
		-day: " ended on ", -time.Minute: " ended on ", time.Hour: " ends on ", 29 * day: " ends on ", 31 * day: "", 365 * day: "",
	} {
		end := time.Now().Add(in)
		path := write(t, "certificate.pem", certificateUntil(t, end))
		for _, setting := range []string{"tls", "mail.tls"} {
			yaml := "tls: {cert: " + path + ", key: " + path + "}\n"
			if setting == "mail.tls" {
				yaml = "mail: {tls: {cert: " + path + ", key: " + path + "}}\n"
			}
			_, warnings, err := Load(write(t, "c.yaml", yaml), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(warnings, "\n")
			if want == "" && said != "" || want != "" &&
				!strings.HasPrefix(said, setting+".cert: the certificate "+path+want+end.UTC().Format(time.DateOnly)) {
				t.Errorf("in %v, %s: %q", in, setting, said)
			}
		}
	}
}

// Files with which a listener could not start are found where the settings are checked.
func TestCertificatesThatCannotBeLoaded(t *testing.T) {
	until := time.Now().Add(time.Hour)
	one, other := write(t, "one.pem", certificateUntil(t, until)), write(t, "other.pem", certificateUntil(t, until))
	for files, want := range map[TLS]string{
		{one, one}:                             "",
		{one, other}:                           "tls: tls.cert and tls.key cannot be loaded: tls: private key does not match public key",
		{one, write(t, "k.pem", "no key")}:     "tls: tls.cert and tls.key cannot be loaded: tls: failed to find any PEM data in key input",
		{one + ".gone", one}:                   "", // warned of: it may be on another machine
		{write(t, "cut.pem", "-----BEG"), one}: "tls: tls.cert and tls.key cannot be loaded: tls: failed to find any PEM data in certificate input",
	} {
		c := Default()
		c.TLS = files
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: %q, want %q", files, got, want)
		}
	}
}
