package token

import (
	"crypto/rand"
	"crypto/sha1" // a thumbprint: RFC 7515, 4.1.7
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// skew is how far the clocks of this machine and of the provider may be apart.
const skew = 10 * time.Minute

// assertion is a signed statement of these claims, for the token endpoint and
// for once: RFC 7523, 3. Microsoft finds the key by its certificate's thumbprint.
func (s *Source) assertion(claims map[string]any) (string, error) {
	o := (&jose.SignerOptions{}).WithType("JWT")
	if s.o.Certificate != nil {
		old, sum := sha1.Sum(s.o.Certificate.Raw), sha256.Sum256(s.o.Certificate.Raw)
		o.WithHeader("x5t", base64.RawURLEncoding.EncodeToString(old[:]))
		o.WithHeader("x5t#S256", base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: s.o.Key}, o)
	if err != nil {
		return "", err
	}
	now := time.Now()
	claims["aud"], claims["jti"] = s.o.TokenURL, rand.Text()
	claims["iat"], claims["nbf"], claims["exp"] = now.Add(-skew).Unix(), now.Add(-skew).Unix(), now.Add(skew).Unix()
	return jwt.Signed(signer).Claims(claims).Serialize()
}
