// Package tokens plays the token endpoint of a mail provider, RFC 6749, and the
// introspection page, RFC 7662, that its mail server asks about a token.
package tokens

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
	"time"

	"outrigger/internal/playground/respond"
)

// Options say what the provider knows at first.
type Options struct {
	ClientID string
	Secret   string
	Refresh  string        // the refresh token that a user's consent left
	Mailbox  string        // whose tokens they are
	Life     time.Duration // of a token; 0: 1 h

	// React answers a request for a token in the provider's place, where it returns
	// true.
	React func(w http.ResponseWriter, r *http.Request) bool
}

// Provider issues tokens.
type Provider struct {
	o Options

	mu      sync.Mutex
	secret  string
	refresh string
	before  string // the refresh token that was used last
	lenient bool
	valid   map[string]time.Time // tokens, and when they end
	issued  []string             // all tokens and refresh tokens that there ever were
	asked   int
}

// New makes a provider.
func New(o Options) *Provider {
	o.Life = cmp.Or(o.Life, time.Hour)
	return &Provider{o: o, secret: o.Secret, refresh: o.Refresh, valid: make(map[string]time.Time)}
}

// SetSecret has the application have another secret: "" is none.
func (p *Provider) SetSecret(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secret = secret
}

// Consent has the user agree anew: what was issued before is void. It returns the
// refresh token.
func (p *Provider) Consent() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.valid)
	p.refresh, p.before = "refresh-"+rand.Text(), ""
	p.issued = append(p.issued, p.refresh)
	return p.refresh
}

// SetLenient has a refresh token be taken until the one that it was replaced by is
// used, so that an answer that was lost does no harm.
func (p *Provider) SetLenient(lenient bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lenient = lenient
}

// EndTokens ends all tokens at once.
func (p *Provider) EndTokens() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.valid)
}

// Refresh is the refresh token that is valid now.
func (p *Provider) Refresh() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refresh
}

// Asked is how often a token was requested.
func (p *Provider) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// Issued is every token and refresh token that there ever was.
func (p *Provider) Issued() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.issued)
}

// Valid reports whether a token can be used.
func (p *Provider) Valid(token string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.valid[token])
}

// ServeHTTP serves /token and /introspect.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/introspect" {
		respond.JSON(w, http.StatusOK, map[string]any{"active": p.Valid(r.FormValue("token")), "username": p.o.Mailbox, "user": p.o.Mailbox})
		return
	}
	p.mu.Lock()
	p.asked++
	p.mu.Unlock()
	if p.o.React == nil || !p.o.React(w, r) {
		p.issue(w, r)
	}
}

// issue answers a request for a token. A refresh token is used once, unless the
// provider is lenient.
func (p *Provider) issue(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	refreshes, shown := r.FormValue("grant_type") == "refresh_token", r.FormValue("refresh_token")
	switch {
	case r.FormValue("client_id") != p.o.ClientID || r.FormValue("client_secret") != p.secret || p.secret == "":
		respond.JSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client " +
			"secret provided.\r\nTrace ID: 1"})
		return
	case refreshes && shown != p.refresh && !(p.lenient && shown == p.before && shown != ""):
		respond.JSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant",
			"error_description": "AADSTS70000: The refresh token has been used or revoked."})
		return
	}
	token := "access-" + rand.Text()
	p.valid[token] = time.Now().Add(p.o.Life)
	p.issued = append(p.issued, token)
	body := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(p.o.Life / time.Second)}
	if refreshes {
		p.before, p.refresh = shown, "refresh-"+rand.Text()
		p.issued = append(p.issued, p.refresh)
		body["refresh_token"] = p.refresh
	}
	respond.JSON(w, http.StatusOK, body)
}
