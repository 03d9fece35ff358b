package openid

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"outrigger/internal/playground/respond"
)

// tokenLife is how long ID tokens hold.
const tokenLife = 5 * time.Minute

// idToken makes the ID token for a code; mu is held.
func (p *Provider) idToken(issuer string, c *code, access string) string {
	now := p.o.Clock()
	sum := sha256.Sum256([]byte(access))
	claims := map[string]any{
		"iss": issuer, "sub": c.subject, "aud": c.client, "nonce": c.nonce, "azp": c.client,
		"iat": now.Unix(), "exp": now.Add(tokenLife).Unix(), "at_hash": base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2]),
		"auth_time": p.shown[c.subject].Unix(),
	}
	if a := p.accounts[c.subject]; a != nil {
		for name, value := range a.Claims {
			claims[name] = value
		}
	}
	return p.key.Sign(claims)
}

// Sign makes a token with the provider's key.
func (p *Provider) Sign(claims map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key.Sign(claims)
}

// Key signs tokens.
type Key struct {
	ID string
	*rsa.PrivateKey
}

// NewKey makes a key with an ID of its own.
func NewKey() Key {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // it cannot fail with that many bits
	}
	return Key{rand.Text(), key}
}

// Sign makes a token.
func (k Key) Sign(claims map[string]any) string {
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: k.PrivateKey, KeyID: k.ID}}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		panic(err) // the key is one
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err) // what is signed always encodes
	}
	return text
}

// keys answers the key set (RFC 7517).
func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := jose.JSONWebKey{Key: p.key.Public(), Use: "sig", Algorithm: string(jose.RS256), KeyID: p.key.ID}
	respond.JSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}})
}
