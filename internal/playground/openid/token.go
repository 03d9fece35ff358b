package openid

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"time"

	"outrigger/internal/playground/respond"
)

// tokenLife is how long ID tokens hold.
const tokenLife = 5 * time.Minute

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// idToken makes the ID token for a code; mu is held.
func (p *Provider) idToken(issuer string, c *code, access string) string {
	now := p.o.Clock()
	sum := sha256.Sum256([]byte(access))
	claims := map[string]any{
		"iss": issuer, "sub": c.subject, "aud": c.client, "nonce": c.nonce, "azp": c.client,
		"iat": now.Unix(), "exp": now.Add(tokenLife).Unix(), "at_hash": encode(sum[:len(sum)/2]),
		"auth_time": p.shown[c.subject].Unix(),
	}
	if a := p.accounts[c.subject]; a != nil {
		for name, value := range a.Claims {
			claims[name] = value
		}
	}
	return p.sign(claims)
}

// Sign makes a token with the provider's key.
func (p *Provider) Sign(claims map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sign(claims)
}

func (p *Provider) sign(claims map[string]any) string {
	header := map[string]any{"alg": "RS256", "kid": p.key.id, "typ": "JWT"}
	text := encode(marshal(header)) + "." + encode(marshal(claims))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key.PrivateKey, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // the key is long enough
	}
	return text + "." + encode(signature)
}

func marshal(v any) []byte {
	text, _ := json.Marshal(v) // what is signed always encodes
	return text
}

// keys answers the key set (RFC 7517).
func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	respond.JSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": p.key.id,
		"n": encode(p.key.N.Bytes()), "e": encode(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}
