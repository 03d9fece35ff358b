// Package openidtest has the played provider lie: its answers then prove nothing, or
// something else than they should.
package openidtest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"

	"outrigger/internal/playground/openid"
)

// Lie is a way of lying; the zero one is the truth.
type Lie string

// The lies.
const (
	WrongNonce      Lie = "wrong nonce"
	NoNonce         Lie = "no nonce"
	WrongAudience   Lie = "wrong audience"
	WrongIssuer     Lie = "wrong issuer"
	OtherParty      Lie = "other party"      // azp is another client
	ManyAudiences   Lie = "many audiences"   // and no azp
	Expired         Lie = "expired"          // an hour ago
	NotYet          Lie = "not yet"          // nbf is in an hour
	Ahead           Lie = "ahead"            // issued in two minutes
	Unsigned        Lie = "unsigned"         // alg none
	SignedBySecret  Lie = "signed by secret" // HS256 with the client's secret
	OtherKey        Lie = "other key"        // under the id of the right one
	UnknownKey      Lie = "unknown key"      // of an id that the key set does not have
	Altered         Lie = "altered"          // after it was signed
	NoIDToken       Lie = "no ID token"
	NotAToken       Lie = "not a token"
	NoSubject       Lie = "no subject"
	WrongAccessHash Lie = "wrong access hash" // at_hash is of another access token
	OtherUserInfo   Lie = "other user info"   // of another account
	NoAuthTime      Lie = "no auth_time"      // as from a provider that does not say it
	OtherDiscovery  Lie = "other discovery"   // the configuration is of another issuer
	PlainEndpoints  Lie = "plain endpoints"   // the configuration has endpoints without TLS on another host
	OtherSender     Lie = "other sender"      // browsers come back with another issuer
	NoSender        Lie = "no sender"         // browsers come back with none
	NoKeys          Lie = "no keys"           // the configuration has no key set
)

// Twist is the lie, for a provider.
func (l Lie) Twist() openid.Twist { return openid.Twist{Say: l.say, Token: l.token} }

func (l Lie) say(part openid.Part, said map[string]any) {
	switch part {
	case openid.Configuration:
		l.configuration(said)
	case openid.Claims:
		l.claims(said)
	case openid.Redirect:
		switch l {
		case OtherSender:
			said["iss"] = "https://evil.example"
		case NoSender:
			delete(said, "iss")
		}
	case openid.Tokens:
		if l == NoIDToken {
			delete(said, "id_token")
		}
	case openid.UserInfo:
		if l == OtherUserInfo {
			said["sub"] = "another"
		}
	}
}

func (l Lie) configuration(said map[string]any) {
	switch l {
	case OtherDiscovery:
		said["issuer"] = "https://evil.example"
	case PlainEndpoints:
		said["token_endpoint"] = "http://169.254.169.254/token"
	case NoKeys:
		delete(said, "jwks_uri")
	}
}

func (l Lie) claims(said map[string]any) {
	const hour = 3600
	now, _ := said["iat"].(int64)
	switch l {
	case WrongNonce:
		said["nonce"] = rand.Text()
	case NoNonce:
		delete(said, "nonce")
	case WrongAudience:
		said["aud"] = "someone-else"
	case WrongIssuer:
		said["iss"] = "https://evil.example"
	case OtherParty:
		said["azp"] = "someone-else"
	case ManyAudiences:
		said["aud"] = []any{said["aud"], "someone-else"}
		delete(said, "azp")
	case Expired:
		said["exp"] = now - hour
	case NotYet:
		said["nbf"] = now + hour
	case Ahead:
		said["iat"] = now + 2*60
	case NoAuthTime:
		delete(said, "auth_time")
	case NoSubject:
		delete(said, "sub")
	case WrongAccessHash:
		sum := sha256.Sum256([]byte(rand.Text()))
		said["at_hash"] = base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
	}
}

func (l Lie) token(right string, claims map[string]any, client openid.Client) string {
	header, rest, _ := strings.Cut(right, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	switch l {
	case Unsigned:
		return encode(map[string]any{"alg": "none"}) + "." + payload + "."
	case SignedBySecret:
		text := encode(map[string]any{"alg": "HS256", "typ": "JWT"}) + "." + payload
		mac := hmac.New(sha256.New, []byte(client.Secret))
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	case OtherKey:
		return signed(header + "." + payload)
	case UnknownKey:
		return signed(encode(map[string]any{"alg": "RS256", "kid": rand.Text(), "typ": "JWT"}) + "." + payload)
	case NotAToken:
		return "<html>not a token</html>"
	case Altered:
		claims["preferred_username"] = "boss"
		return header + "." + encode(claims) + "." + signature
	}
	return right
}

// signed has a text signed by a key that the provider does not have.
func signed(text string) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // it cannot fail with that many bits
	}
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // the key is long enough
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func encode(v map[string]any) string {
	text, _ := json.Marshal(v) // what is signed always encodes
	return base64.RawURLEncoding.EncodeToString(text)
}
