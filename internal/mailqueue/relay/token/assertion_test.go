package token

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/playground/tokens"
	"outrigger/internal/secret"
)

// A request is signed with the key in place of a secret, so that a provider whose
// clock is five minutes off takes it, and a second time it is another one.
func TestAssertions(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{SerialNumber: big.NewInt(1)}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	thumb := sha256.Sum256(raw)
	each(t, func(t *testing.T, d *db.DB) {
		for _, test := range []struct {
			grant, field, wantGrant, subject, scope string
		}{
			{config.ClientCredentials, "client_assertion", "client_credentials", "app", ""},
			{config.RefreshToken, "client_assertion", "refresh_token", "app", ""},
			{config.JWTBearer, "assertion", "urn:ietf:params:oauth:grant-type:jwt-bearer", "box@example.com", "mail.send"},
		} {
			seen := map[string]bool{}
			p := newProvider(func(o *tokens.Options) {
				o.React = func(w http.ResponseWriter, r *http.Request) bool {
					signed, err := jwt.ParseSigned(r.FormValue(test.field), []jose.SignatureAlgorithm{jose.RS256})
					if err != nil {
						t.Fatal(test.grant, err)
					}
					var claims struct {
						jwt.Claims
						Audience string `json:"aud"`
						Scope    string `json:"scope"`
					}
					if err := signed.Claims(&key.PublicKey, &claims); err != nil {
						t.Fatal(test.grant, err)
					}
					for _, off := range []time.Duration{-5 * time.Minute, 0, 5 * time.Minute} {
						if err := claims.ValidateWithLeeway(jwt.Expected{Issuer: "app", Subject: test.subject, Time: time.Now().Add(off)}, 0); err != nil {
							t.Errorf("%s, a clock that is %s off: %v", test.grant, off, err)
						}
					}
					head := signed.Headers[0].ExtraHeaders
					if claims.Audience != "https://login.example/token" || claims.Scope != test.scope || seen[claims.ID] || claims.ID == "" ||
						head["x5t#S256"] != base64.RawURLEncoding.EncodeToString(thumb[:]) {
						t.Errorf("%s: %+v %v", test.grant, claims, head)
					}
					if r.FormValue("grant_type") != test.wantGrant || r.FormValue("client_secret") != "" {
						t.Errorf("%s: %v", test.grant, r.Form)
					}
					seen[claims.ID] = true
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(`{"access_token":"t1","expires_in":3600}`))
					return true
				}
			})
			s := newSource(t, d, "node "+test.grant, p, func(o *Options) {
				o.Grant, o.ClientSecret, o.Key, o.Certificate = test.grant, secret.Value{}, key, cert
			})
			for range 2 {
				s.Refused(secret.New(get(t, s)))
			}
			if len(seen) != 2 {
				t.Errorf("%s: %d assertions", test.grant, len(seen))
			}
		}
	})
}
