package openid

import (
	"crypto/rand"
	"embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"outrigger/internal/playground/respond"
)

// codeLife is how long a code holds.
const codeLife = time.Minute

type code struct {
	client, redirect, challenge, nonce, subject string
	expires                                     time.Time
}

// Handler serves the provider at the root of a server, which is its issuer.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.configuration)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	mux.HandleFunc("GET /keys", p.keys)
	return mux
}

func issuerOf(r *http.Request) string { return "http://" + r.Host }

func (p *Provider) configuration(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	issuer := issuerOf(r)
	c := map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
		"userinfo_endpoint": issuer + "/userinfo", "jwks_uri": issuer + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		// A client must not take none and HS256, whatever is said here.
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		"code_challenge_methods_supported":      []string{"S256"},
	}
	if p.o.NamesItself {
		c["authorization_response_iss_parameter_supported"] = true
	}
	if p.o.InBody {
		c["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	}
	respond.JSON(w, http.StatusOK, c)
}

//go:embed web
var web embed.FS

var render = respond.Pages(web)

// authorize shows the page on which a person signs in, and takes the answer.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	back := func(answer url.Values) {
		answer.Set("state", q.Get("state"))
		if p.o.NamesItself {
			answer.Set("iss", issuerOf(r))
		}
		http.Redirect(w, r, p.client.Callback+"?"+answer.Encode(), http.StatusFound)
	}
	switch {
	case q.Get("client_id") != p.client.ID || q.Get("redirect_uri") != p.client.Callback:
		http.Error(w, "Invalid client or redirect_uri", http.StatusBadRequest)
	case q.Get("response_type") != "code" || !strings.Contains(" "+q.Get("scope")+" ", " openid ") || q.Get("code_challenge_method") != "S256":
		back(url.Values{"error": {"invalid_request"}})
	case r.Method == http.MethodGet:
		render(w, "authorize.html", p.accounts)
	case r.PostFormValue("answer") != "yes":
		back(url.Values{"error": {"access_denied"}})
	default:
		// An account that has signed in stays so, until a client asks for it again.
		if _, ok := p.shown[r.PostFormValue("account")]; !ok || q.Get("prompt") == "login" {
			p.shown[r.PostFormValue("account")] = p.o.Clock()
		}
		text := rand.Text()
		p.codes[text] = &code{p.client.ID, p.client.Callback, q.Get("code_challenge"), q.Get("nonce"), r.PostFormValue("account"),
			p.o.Clock().Add(codeLife)}
		back(url.Values{"code": {text}})
	}
}

// token exchanges a code, which is used once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, ok := p.credentials(r)
	c := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	switch {
	case !ok || id != p.client.ID || secret != p.client.Secret:
		respond.JSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
	case c == nil || c.client != id || c.redirect != r.PostFormValue("redirect_uri") || !p.o.Clock().Before(c.expires),
		c.challenge != oauth2.S256ChallengeFromVerifier(r.PostFormValue("code_verifier")):
		respond.JSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant",
			"error_description": "<script>alert(1)</script> visit evil.example"})
	default:
		access := rand.Text()
		p.tokens[access] = c.subject
		respond.JSON(w, http.StatusOK, map[string]any{
			"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": p.idToken(issuerOf(r), c, access),
		})
	}
}

// credentials are the client's, in Basic escaped as in a form (RFC 6749, 2.3.1).
func (p *Provider) credentials(r *http.Request) (id, secret string, ok bool) {
	user, password, basic := r.BasicAuth()
	if p.o.InBody {
		return r.PostFormValue("client_id"), r.PostFormValue("client_secret"), !basic
	}
	id, errID := url.QueryUnescape(user)
	secret, errSecret := url.QueryUnescape(password)
	return id, secret, basic && errID == nil && errSecret == nil
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.accounts[p.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]]
	if a == nil {
		respond.JSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token"})
		return
	}
	body := map[string]any{"sub": a.Subject}
	for _, claims := range []map[string]any{a.Claims, a.Info} {
		for name, value := range claims {
			body[name] = value
		}
	}
	respond.JSON(w, http.StatusOK, body)
}
