package bitbucketcloud

import (
	"crypto/rand"
	"embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"outrigger/internal/playground/respond"
)

//go:embed web
var web embed.FS

var render = respond.Pages(web)

// codeLife is how long a code holds: the most that RFC 6749 4.1.2 recommends.
const codeLife = 10 * time.Minute

// code is what a browser takes to the app after consent. It is bound to all of
// this, and used once.
type code struct {
	consumer, account   string
	redirect, challenge string
	expires             time.Time
	used                *token // what it was exchanged for
}

// consent is what a person is asked.
type consent struct {
	Consumer  Consumer
	Accounts  []Account
	Redirect  string
	challenge string
	state     string
}

// authorize shows the page on which a person grants access, and takes the
// answer. What is wrong with the consumer or the redirect URI is said on the
// page: no redirect leads to an address that was not registered.
func (p *Platform) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	c, wrong := p.consent(q)
	switch {
	case wrong != "":
		w.WriteHeader(http.StatusBadRequest)
		render(w, "refused", wrong)
	case q.Get("response_type") != "code":
		c.back(w, r, url.Values{"error": {"unsupported_response_type"}, "error_description": {"Unsupported response type"}})
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; "+
			"form-action 'self' "+origin(c.Redirect))
		render(w, "authorize.html", c)
	case r.PostFormValue("answer") != "grant":
		c.back(w, r, url.Values{"error": {"access_denied"}, "error_description": {"The user denied the request"}})
	default:
		account := r.PostFormValue("account")
		if p.o.account(account) == nil {
			w.WriteHeader(http.StatusBadRequest)
			render(w, "refused", "Choose an account.")
			return
		}
		c.back(w, r, url.Values{"code": {p.newCode(c, account)}})
	}
}

// consent reads a request's query, and says what is wrong with it.
func (p *Platform) consent(q url.Values) (c *consent, wrong string) {
	consumer := p.consumers[q.Get("client_id")]
	if consumer == nil {
		return nil, "Invalid client_id"
	}
	c = &consent{Consumer: *consumer, Accounts: p.o.Accounts, Redirect: q.Get("redirect_uri"), state: q.Get("state")}
	if c.Redirect == "" {
		c.Redirect = consumer.Callback
	}
	if !consumer.takes(c.Redirect) {
		return nil, "Invalid redirect_uri"
	}
	if c.challenge = q.Get("code_challenge"); p.o.WithoutPKCE {
		c.challenge = ""
	}
	if c.challenge != "" && q.Get("code_challenge_method") != "S256" {
		return nil, "Unsupported code_challenge_method"
	}
	return c, ""
}

// takes reports whether a redirect URI is the consumer's callback or below it.
func (c *Consumer) takes(redirect string) bool {
	rest, ok := strings.CutPrefix(redirect, c.Callback)
	return ok && c.Callback != "" && (rest == "" || strings.HasSuffix(c.Callback, "/") || strings.ContainsAny(rest[:1], "/?"))
}

// Grant answers the page in a person's place: it gives what the browser would
// take to the redirect URI of an authorize URL.
func (p *Platform) Grant(authorizeURL, account string) (query url.Values, redirect string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u, err := url.Parse(authorizeURL)
	if err != nil {
		return url.Values{"error": {err.Error()}}, ""
	}
	c, wrong := p.consent(u.Query())
	if wrong != "" {
		return url.Values{"error": {wrong}}, ""
	}
	query = url.Values{"code": {p.newCode(c, account)}}
	if c.state != "" {
		query.Set("state", c.state)
	}
	return query, c.Redirect
}

func (p *Platform) newCode(c *consent, account string) string {
	text := rand.Text()
	p.codes[text] = &code{
		consumer: c.Consumer.Key, account: account, redirect: c.Redirect, challenge: c.challenge, expires: p.o.Clock().Add(codeLife),
	}
	return text
}

// back sends the browser to the app.
func (c *consent) back(w http.ResponseWriter, r *http.Request, answer url.Values) {
	to, err := url.Parse(c.Redirect)
	if err != nil {
		render(w, "refused", "Invalid redirect_uri")
		return
	}
	query := to.Query()
	for name, values := range answer {
		query[name] = values
	}
	if c.state != "" {
		query.Set("state", c.state)
	}
	to.RawQuery = query.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// origin is what a Content-Security-Policy names of a URL.
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
