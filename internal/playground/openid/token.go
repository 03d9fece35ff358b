package openid

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"time"
)

// tokenLife is how long ID tokens hold.
const tokenLife = 5 * time.Minute

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// idToken makes the ID token for a code; mu is held.
func (p *Provider) idToken(issuer string, client *Client, c *code, access string) string {
	now := p.o.Clock()
	sum := sha256.Sum256([]byte(access))
	claims := map[string]any{
		"iss": issuer, "sub": c.subject, "aud": client.ID, "nonce": c.nonce, "azp": client.ID,
		"iat": now.Unix(), "exp": now.Add(tokenLife).Unix(), "at_hash": encode(sum[:len(sum)/2]),
		"auth_time": p.shown[c.subject].Unix(),
	}
	if a := p.account(c.subject); a != nil {
		for name, value := range a.Claims {
			claims[name] = value
		}
	}
	switch p.lie {
	case WrongNonce:
		claims["nonce"] = rand.Text()
	case NoNonce:
		delete(claims, "nonce")
	case WrongAudience:
		claims["aud"] = "someone-else"
	case WrongIssuer:
		claims["iss"] = "https://evil.example"
	case OtherParty:
		claims["azp"] = "someone-else"
	case ManyAudiences:
		claims["aud"] = []string{client.ID, "someone-else"}
		delete(claims, "azp")
	case Expired:
		claims["exp"] = now.Add(-time.Hour).Unix()
	case NotYet:
		claims["nbf"] = now.Add(time.Hour).Unix()
	case Ahead:
		claims["iat"] = now.Add(2 * time.Minute).Unix()
	case NoAuthTime:
		delete(claims, "auth_time")
	case NoSubject:
		delete(claims, "sub")
	case WrongAccessHash:
		claims["at_hash"] = encode(sum[len(sum)/2:])
	}
	return p.sign(claims, client)
}

func (p *Provider) sign(claims map[string]any, client *Client) string {
	header := map[string]any{"alg": "RS256", "kid": p.key.id, "typ": "JWT"}
	key := p.key
	switch p.lie {
	case Unsigned:
		header = map[string]any{"alg": "none"}
	case SignedBySecret:
		header["alg"] = "HS256"
	case OtherKey:
		key = newKey()
	case UnknownKey:
		key = newKey()
		header["kid"] = key.id
	case NotAToken:
		return "<html>not a token</html>"
	}
	text := encode(marshal(header)) + "." + encode(marshal(claims))
	sum := sha256.Sum256([]byte(text))
	switch p.lie {
	case Unsigned:
		return text + "."
	case SignedBySecret:
		mac := hmac.New(sha256.New, []byte(client.Secret))
		mac.Write([]byte(text))
		return text + "." + encode(mac.Sum(nil))
	case Altered:
		claims["preferred_username"] = "boss"
		text = encode(marshal(header)) + "." + encode(marshal(claims))
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key.PrivateKey, crypto.SHA256, sum[:])
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
	answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": p.key.id,
		"n": encode(p.key.N.Bytes()), "e": encode(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}
