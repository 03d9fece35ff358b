package bitbucketcloud

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// tokenLife is how long an access token holds.
const tokenLife = 2 * time.Hour

// token is what an exchange or a refresh gives.
type token struct {
	consumer, account string
	grant             string // of one consent: what a code that comes twice takes back
	expires           time.Time
}

// accessToken exchanges codes and refresh tokens (RFC 6749 4.1.3 and 6), for
// consumers that show their key and secret as Basic.
func (p *Platform) accessToken(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &asking{w: w, r: r}
	key, secret, ok := clientCredentials(r)
	consumer := p.consumers[key]
	switch {
	case !ok:
		a.refuse("unauthorized_client", "Requests must be authenticated using OAuth client credentials")
		return
	case consumer == nil || consumer.Secret != secret:
		a.refuse("unauthorized_client", "Invalid OAuth client credentials")
		return
	}
	switch grant := r.PostFormValue("grant_type"); grant {
	case "authorization_code":
		p.exchange(a, consumer)
	case "refresh_token":
		p.refreshToken(a, consumer)
	default:
		a.refuse("unsupported_grant_type", "Unsupported grant type: "+grant)
	}
}

// clientCredentials reads them as RFC 6749 2.3.1 has it: escaped inside Basic.
func clientCredentials(r *http.Request) (key, secret string, ok bool) {
	user, password, ok := r.BasicAuth()
	key, errKey := url.QueryUnescape(user)
	secret, errSecret := url.QueryUnescape(password)
	return key, secret, ok && errKey == nil && errSecret == nil
}

func (p *Platform) exchange(a *asking, consumer *Consumer) {
	form := a.r.PostForm
	c := p.codes[form.Get("code")]
	switch {
	case c == nil || c.consumer != consumer.Key || !p.o.Clock().Before(c.expires):
		a.refuse("invalid_grant", "The specified code is not valid.")
	case c.used != nil:
		// RFC 6749 4.1.2: what was issued for it is taken back.
		p.revoke(func(t *token) bool { return t.grant == c.used.grant })
		a.refuse("invalid_grant", "The specified code is not valid.")
	case form.Get("redirect_uri") != c.redirect:
		a.refuse("invalid_grant", "The redirect_uri is not that of the authorization request.")
	case c.challenge != "" && oauth2.S256ChallengeFromVerifier(form.Get("code_verifier")) != c.challenge:
		a.refuse("invalid_grant", "The code_verifier does not match the code_challenge.")
	default:
		c.used = &token{consumer: consumer.Key, account: c.account, grant: rand.Text()}
		p.issue(a, consumer, *c.used, p.newRefresh(*c.used), "authorization_code")
	}
}

func (p *Platform) refreshToken(a *asking, consumer *Consumer) {
	text := a.r.PostFormValue("refresh_token")
	t := p.refresh[text]
	switch {
	case (t == nil || t.consumer != consumer.Key) && p.o.OldRefusal:
		a.refuse("invalid_request", "Invalid refresh_token")
	case t == nil || t.consumer != consumer.Key:
		a.refuse("invalid_grant", "The refresh token is not valid.")
	default:
		if p.o.RotateRefresh {
			delete(p.refresh, text)
			text = p.newRefresh(*t)
		}
		p.issue(a, consumer, *t, text, "refresh_token")
	}
}

func (p *Platform) newRefresh(t token) string {
	text := rand.Text()
	p.refresh[text] = &t
	return text
}

// issue answers an access token.
func (p *Platform) issue(a *asking, consumer *Consumer, t token, refresh, state string) {
	text := rand.Text() + rand.Text() + "="
	t.expires = p.o.Clock().Add(tokenLife)
	p.access[text] = &t
	a.w.Header().Set("Cache-Control", "no-store")
	a.answer(http.StatusOK, map[string]any{
		"access_token": text, "refresh_token": refresh, "token_type": "bearer", "expires_in": int(tokenLife.Seconds()),
		"scopes": strings.Join(consumer.Scopes, " "), "state": state,
	})
}

// refuse answers an error of RFC 6749 5.2.
func (a *asking) refuse(name, description string) {
	a.answer(http.StatusBadRequest, map[string]any{"error": name, "error_description": description})
}

// Withdraw takes back what an account granted to all consumers, as a person does
// in the account's settings: its tokens are of no use any more.
func (p *Platform) Withdraw(account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revoke(func(t *token) bool { return t.account == account })
}

// revoke forgets tokens; mu is held.
func (p *Platform) revoke(which func(*token) bool) {
	for _, tokens := range []map[string]*token{p.access, p.refresh} {
		for text, t := range tokens {
			if which(t) {
				delete(tokens, text)
			}
		}
	}
}

// Expire has all access tokens be too old from now on; refresh tokens hold.
func (p *Platform) Expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.access {
		t.expires = p.o.Clock()
	}
}

// Tokens counts the access tokens and the refresh tokens that hold.
func (p *Platform) Tokens(account string) (access, refresh int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.access {
		if t.account == account && p.o.Clock().Before(t.expires) {
			access++
		}
	}
	for _, t := range p.refresh {
		if t.account == account {
			refresh++
		}
	}
	return access, refresh
}
