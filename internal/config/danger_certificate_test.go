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

// certificateUntil is the PEM file of a private key and a certificate that ends then.
func certificateUntil(t *testing.T, end time.Time) (path string) {
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
	return write(t, "certificate.pem", string(text))
}

// A certificate that has ended, or ends within 30 days, is warned of, by its setting.
func TestCertificatesThatEnd(t *testing.T) {
	const day = 24 * time.Hour
	for in, want := range map[time.Duration]string{
		-day: " ended on ", -time.Minute: " ended on ", time.Hour: " ends on ", 29 * day: " ends on ", 31 * day: "", 365 * day: "",
	} {
		end := time.Now().Add(in)
		path := certificateUntil(t, end)
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
