package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// answer is what the provider issued. problem is why the token cannot be used,
// though a refresh token may have come with it.
type answer struct {
	access, refresh secret.Value
	life            time.Duration
	problem         error
}

// ask requests a token. The secrets go in the body: every provider takes them
// there, and a library that tries both ways would use a refresh token twice.
func (s *Source) ask(ctx context.Context, refresh secret.Value) (answer, error) {
	form, err := s.form(refresh)
	if err != nil {
		return answer{}, fault.Wrap(err, fault.Unavailable, "The request for a token for the smarthost cannot be signed with "+
			"mail.oauth.client_key.")
	}
	request := clientcredentials.Config{
		ClientID: s.o.ClientID, ClientSecret: s.o.ClientSecret.Reveal(), TokenURL: s.o.TokenURL,
		EndpointParams: form, AuthStyle: oauth2.AuthStyleInParams,
	}
	if s.o.Grant != config.JWTBearer { // whose assertion has it
		request.Scopes = strings.Fields(s.o.Scope)
	}
	client := &http.Client{
		Transport:     transport{s.o.Client},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	got, err := request.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	if err != nil {
		return answer{}, s.failed(err, refresh, secret.New(form.Get("client_assertion")), secret.New(form.Get("assertion")))
	}
	a := answer{access: secret.New(got.AccessToken), refresh: secret.New(got.RefreshToken), life: unknownLife + early}
	switch {
	case !got.Expiry.IsZero():
		a.life = time.Until(got.Expiry)
	case got.Extra("expires_in") != nil:
		a.life = 0
	}
	switch {
	case a.life <= 0:
		a.problem = s.complain(nil, "issued a token that ends at once (expires_in)")
	case strings.ContainsFunc(got.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }):
		a.problem = s.complain(nil, "issued a token with characters that no token may have, such as a line end")
	}
	return a, nil
}

// form is what the grant adds to a request.
func (s *Source) form(refresh secret.Value) (url.Values, error) {
	form := url.Values{}
	switch s.o.Grant {
	case config.RefreshToken:
		form.Set("grant_type", "refresh_token")
		form.Set("refresh_token", refresh.Reveal())
	case config.JWTBearer: // RFC 7523, 2.1
		assertion, err := s.assertion(map[string]any{"iss": s.o.ClientID, "sub": s.o.User, "scope": s.o.Scope})
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		form.Set("assertion", assertion)
		return form, err
	}
	if s.o.Key == nil {
		return form, nil
	}
	assertion, err := s.assertion(map[string]any{"iss": s.o.ClientID, "sub": s.o.ClientID}) // RFC 7523, 2.2
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)
	return form, err
}

// failed words what went wrong, in the provider's own words where it answered,
// without anything that was sent to it.
func (s *Source) failed(err error, sent ...secret.Value) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		var unsent *url.Error
		if errors.As(err, &unsent) { // of egress, which names the host and no secret
			return s.complain(err, "gave no answer: %v", unsent.Err)
		}
		return s.complain(err, "did not answer with a token in JSON")
	}
	status := refused.Response.StatusCode
	words := strings.TrimSpace(refused.ErrorCode + ": " + refused.ErrorDescription)
	if refused.ErrorCode == "" {
		return s.complain(err, "answered %d %s and said no reason", status, http.StatusText(status))
	}
	return s.complain(err, "answered %d: %s", status, strings.TrimSuffix(s.masked(words, sent), ":"))
}

// masked is text that may be shown, in one line.
func (s *Source) masked(text string, sent []secret.Value) string {
	for _, v := range append(sent, s.o.ClientSecret, s.o.RefreshToken) {
		if !v.IsZero() {
			text = strings.ReplaceAll(text, v.Reveal(), v.String())
		}
	}
	return strings.Join(strings.Fields(work.ReadAnswer(strings.NewReader(text))), " ")
}

// complain is a sentence about the provider.
func (s *Source) complain(err error, format string, args ...any) error {
	host := s.o.TokenURL
	if u, err := url.Parse(s.o.TokenURL); err == nil {
		host = u.Host
	}
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), ".")
	return fault.Wrap(err, fault.Unavailable, "No token for the smarthost: %s %s.", host, text)
}

// transport has the library's requests go by egress.
type transport struct{ by egress.Doer }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) { return t.by.Do(req) }
