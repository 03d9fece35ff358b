package bitbucket

import (
	"crypto/rand"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"outrigger/internal/playground/respond"
)

// oauth is where the OAuth 2 provider is, below the base URL.
//
// Source: https://confluence.atlassian.com/bitbucketserver/bitbucket-oauth-2-0-provider-api-1108483661.html
const oauth = "/rest/oauth2/latest"

// codeLife is how long a code holds: the most that RFC 6749 4.1.2 recommends.
const codeLife = 10 * time.Minute

// Link is an incoming application link: an OAuth 2 client.
type Link struct {
	Secret   string
	Redirect string
	Scopes   []string // what it may ask for
}

type code struct {
	client, redirect, scope, challenge, user string
	expires                                  time.Time
	used                                     string // the token that it was exchanged for
}

type oauthToken struct{ user, scope string }

//go:embed web
var web embed.FS

var render = respond.Pages(web)

// authorize shows the page on which a user lets an application in, and takes the
// answer. Users are signed in on the platform already: the page has them choose
// who they are.
func (p *Platform) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	link, known := p.o.Links[q.Get("client_id")]
	switch {
	case !known:
		http.Error(w, "Invalid client_id", http.StatusBadRequest)
	case q.Get("redirect_uri") != link.Redirect:
		http.Error(w, "Invalid redirect_uri", http.StatusBadRequest)
	case q.Get("response_type") != "code":
		back(w, r, url.Values{"error": {"unsupported_response_type"}})
	case !slices.Contains(link.Scopes, q.Get("scope")):
		back(w, r, url.Values{"error": {"invalid_scope"}, "error_description": {"The requested scope is invalid, unknown, or malformed"}})
	case q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256":
		back(w, r, url.Values{"error": {"invalid_request"}})
	case r.Method == http.MethodGet:
		render(w, "authorize.html", map[string]any{"Scope": q.Get("scope"), "Users": p.o.Users})
	case r.PostFormValue("answer") != "allow":
		back(w, r, url.Values{"error": {"access_denied"}, "error_description": {"The resource owner denied the request"}})
	default:
		text := rand.Text()
		p.codes[text] = &code{
			client: q.Get("client_id"), redirect: q.Get("redirect_uri"), scope: q.Get("scope"), challenge: q.Get("code_challenge"),
			user: r.PostFormValue("user"), expires: p.o.Clock().Add(codeLife),
		}
		back(w, r, url.Values{"code": {text}})
	}
}

// back sends the browser to the application.
func back(w http.ResponseWriter, r *http.Request, answer url.Values) {
	q := r.URL.Query()
	answer.Set("state", q.Get("state"))
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

// issueToken exchanges a code.
func (p *Platform) issueToken(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	refuse := func(name, description string) {
		respond.JSON(w, http.StatusBadRequest, map[string]any{"error": name, "error_description": description})
	}
	client, c := r.PostFormValue("client_id"), p.codes[r.PostFormValue("code")]
	link, known := p.o.Links[client]
	switch {
	case !known || link.Secret != r.PostFormValue("client_secret"):
		refuse("invalid_client", "Client authentication failed")
	case r.PostFormValue("grant_type") != "authorization_code":
		refuse("unsupported_grant_type", "The grant type is not supported")
	case c != nil && c.used != "": // RFC 6749 4.1.2: what was issued for it is taken back
		delete(p.tokens, c.used)
		refuse("invalid_grant", "The provided authorization code was already used")
	case c == nil || c.client != client || c.redirect != r.PostFormValue("redirect_uri") || !p.o.Clock().Before(c.expires):
		refuse("invalid_grant", "The provided authorization code is invalid")
	case c.challenge != "" && oauth2.S256ChallengeFromVerifier(r.PostFormValue("code_verifier")) != c.challenge:
		refuse("invalid_grant", "The code verifier does not match the challenge")
	default:
		c.used = rand.Text()
		p.tokens[c.used] = oauthToken{c.user, c.scope}
		respond.JSON(w, http.StatusOK, map[string]any{
			"access_token": c.used, "token_type": "Bearer", "expires_in": 7200, "refresh_token": rand.Text(), "scope": c.scope,
			"created_at": p.o.Clock().Unix(),
		})
	}
}
