package playgroundtest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"outrigger/internal/playground/openid"
	"outrigger/internal/playground/respond"
)

// OpenID is a provider with faults, which lies on demand.
type OpenID struct {
	*openid.Provider
	Front

	now     func() time.Time
	mu      sync.Mutex
	lie     Lie
	refusal string
}

// NewOpenID makes a provider that works.
func NewOpenID(o openid.Options) *OpenID {
	now := o.Clock
	if now == nil {
		now = time.Now
	}
	return &OpenID{Provider: openid.New(o), now: now}
}

// SetLie has the provider lie from now on; "" ends it.
func (p *OpenID) SetLie(l Lie) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lie = l
}

// SetRefusal has browsers come back with an error from now on; "" ends it.
func (p *OpenID) SetRefusal(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusal = name
}

func (p *OpenID) set() (Lie, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lie, p.refusal
}

// Handler serves the provider at the root of a server, which is its issuer.
func (p *OpenID) Handler() http.Handler {
	provider := p.Provider.Handler()
	return p.before(server{refuse: refuseOpenID, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lie, refusal := p.set()
		if r.URL.Path == "/authorize" && refusal != "" {
			q := r.URL.Query()
			answer := url.Values{"error": {refusal}, "error_description": {injected}, "state": {q.Get("state")}}
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
			return
		}
		body, answer := ask(provider, r)
		if to, err := url.Parse(answer.Header().Get("Location")); err == nil && to.Path != "" {
			answer.Header().Set("Location", lie.way(to))
		}
		if body == nil || answer.Code != http.StatusOK {
			send(w, answer, answer.Body.Bytes())
			return
		}
		p.twist(lie, body, r)
		text, _ := json.Marshal(body) // what came as JSON encodes
		send(w, answer, text)
	})})
}

// injected are words that no page should show.
const injected = "<script>alert(1)</script> visit evil.example"

// refuseOpenID words a status as an error of RFC 6749.
func refuseOpenID(w http.ResponseWriter, _ *http.Request, kind Kind) {
	status := map[Kind]int{
		Refusing: http.StatusUnauthorized, Forbidding: http.StatusForbidden, Throttling: http.StatusTooManyRequests,
		Broken: http.StatusInternalServerError, Missing: http.StatusNotFound,
	}[kind]
	respond.JSON(w, status, map[string]any{"error": "server_error", "error_description": injected})
}

// way is where a browser comes back to.
func (l Lie) way(to *url.URL) string {
	q := to.Query()
	switch l {
	case OtherSender:
		q.Set("iss", "https://evil.example")
	case NoSender:
		q.Del("iss")
	}
	to.RawQuery = q.Encode()
	return to.String()
}

// twist changes an answer.
func (p *OpenID) twist(l Lie, body map[string]any, r *http.Request) {
	switch l {
	case OtherDiscovery:
		twistOnly(body, "issuer", "https://evil.example")
	case PlainEndpoints:
		if body["issuer"] != nil {
			body["token_endpoint"] = "http://169.254.169.254/token"
		}
	case NoKeys:
		delete(body, "jwks_uri")
	case OtherUserInfo:
		twistOnly(body, "sub", "another")
	case NoIDToken:
		delete(body, "id_token")
	default:
		if token, ok := body["id_token"].(string); ok && l != "" {
			body["id_token"] = p.forge(l, token, r)
		}
	}
}

// twistOnly changes a member that is there.
func twistOnly(body map[string]any, name, value string) {
	if body[name] != nil {
		body[name] = value
	}
}

// forge returns another ID token in place of one that is right.
func (p *OpenID) forge(l Lie, token string, r *http.Request) string {
	parts := strings.Split(token, ".")
	header, claims := decode(parts[0]), decode(parts[1])
	switch l {
	case NotAToken:
		return "<html>not a token</html>"
	case Unsigned:
		return encode(map[string]any{"alg": "none"}) + "." + parts[1] + "."
	case SignedBySecret:
		header["alg"] = "HS256"
		text := encode(header) + "." + parts[1]
		mac := hmac.New(sha256.New, []byte(secretOf(r)))
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	case UnknownKey:
		return openid.NewKey().Sign(claims)
	case OtherKey:
		key := openid.NewKey()
		key.ID, _ = header["kid"].(string)
		return key.Sign(claims)
	case Altered:
		claims["preferred_username"] = "boss"
		return parts[0] + "." + encode(claims) + "." + parts[2]
	}
	l.claim(claims, p.now())
	return p.Sign(claims)
}

// claim changes what an ID token says.
func (l Lie) claim(claims map[string]any, now time.Time) {
	switch l {
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
		claims["aud"] = []any{claims["aud"], "someone-else"}
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
		claims["at_hash"] = base64.RawURLEncoding.EncodeToString(make([]byte, sha256.Size/2))
	}
}

// secretOf returns the secret that a client showed.
func secretOf(r *http.Request) string {
	if _, secret, ok := r.BasicAuth(); ok {
		secret, _ = url.QueryUnescape(secret)
		return secret
	}
	return r.PostFormValue("client_secret")
}

func encode(v any) string {
	text, _ := json.Marshal(v) // what was decoded encodes
	return base64.RawURLEncoding.EncodeToString(text)
}

func decode(part string) (members map[string]any) {
	text, _ := base64.RawURLEncoding.DecodeString(part) // what the provider made
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	_ = dec.Decode(&members)
	return members
}
