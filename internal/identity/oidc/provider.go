package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

const (
	// skew is how far the provider's clock may be behind ours when an ID token
	// expires, and ahead of it when one was issued.
	skew = time.Minute
	// maxReason is as much of an answer of the provider as the log needs.
	maxReason = 300
	// maxSubject is what the specification allows an account's id (2: sub).
	maxSubject = 255
)

// Provider is an OpenID Connect provider. It is asked when a user signs in, not
// before.
type Provider struct {
	o         Options
	transport *transport
	discovery discovery
}

// New makes a Provider.
func New(o Options) (*Provider, error) {
	issuer, err := url.Parse(o.Issuer)
	if err != nil || issuer.Host == "" {
		return nil, fmt.Errorf("the issuer %q is not a URL", o.Issuer)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Provider{o: o, transport: &transport{issuer, o.Issued, o.Named}}, nil
}

// lenient is the time as ID tokens are judged by it.
func (p *Provider) lenient() time.Time { return p.o.Clock().Add(-skew) }

// Location is the provider's page that the browser goes to.
func (p *Provider) Location(ctx context.Context, proofs identity.Proofs) (string, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", p.away(err)
	}
	options := []oauth2.AuthCodeOption{gooidc.Nonce(proofs.Nonce), oauth2.S256ChallengeOption(proofs.Verifier)}
	if proofs.Again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return d.client.AuthCodeURL(proofs.State, options...), nil
}

// Account returns the account that a code stands for.
func (p *Provider) Account(ctx context.Context, code secret.Value, proofs identity.Proofs) (a identity.Account, err error) {
	d, err := p.discover(ctx)
	if err != nil {
		return a, p.away(err)
	}
	if err := p.judgeAnswer(d, proofs.Issuer); err != nil {
		return a, p.lies(err)
	}
	ctx = p.withClient(ctx)
	tokens, err := d.client.Exchange(ctx, code.Reveal(), oauth2.VerifierOption(proofs.Verifier))
	if err != nil {
		return a, p.exchangeFailed(err)
	}
	token, err := d.verify(ctx, tokens, p.o.ClientID, proofs.Nonce)
	if err == nil && token.IssuedAt.After(p.o.Clock().Add(skew)) {
		err = fmt.Errorf("the ID token is of %s (iat), which is in the future; check the clocks of both servers",
			token.IssuedAt.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return a, p.lies(err)
	}
	claims, err := p.claims(ctx, d, token, tokens)
	if err != nil {
		return a, err
	}
	a.Subject = token.Issuer + " " + token.Subject
	a.Groups, a.AuthenticatedAt = claims.list(p.o.GroupsClaim), claims.time("auth_time")
	if a.Name, err = claims.name(p.o.UserClaim); err != nil {
		return a, fault.Wrap(err, fault.Unauthenticated, "Your user name did not come with the answer of %s. Ask an administrator, who finds "+
			"the reason in the log.", p.o.Name)
	}
	return a, nil
}

// judgeAnswer says what is wrong with who the browser's answer is from (RFC 9207,
// 2.4): the code of another provider must not be shown to this one.
func (p *Provider) judgeAnswer(d *discovered, issuer string) error {
	switch {
	case issuer != "" && issuer != p.o.Issuer:
		return fmt.Errorf("the answer is from another issuer (iss): %.100q", issuer)
	case issuer == "" && d.namesItself:
		return errors.New("the answer does not say which issuer it is from (iss), as the provider's configuration says that it does")
	}
	return nil
}

// verify checks the ID token (OpenID Connect Core 1.0, 3.1.3.7).
func (d *discovered) verify(ctx context.Context, tokens *oauth2.Token, client, nonce string) (*gooidc.IDToken, error) {
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the answer has no id_token")
	}
	token, err := d.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	var more struct {
		AuthorizedParty string `json:"azp"`
	}
	if err := token.Claims(&more); err != nil {
		return nil, err
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1:
		return nil, errors.New("the ID token has another nonce")
	case more.AuthorizedParty != "" && more.AuthorizedParty != client, more.AuthorizedParty == "" && len(token.Audience) > 1:
		return nil, errors.New("the ID token is for another client")
	case token.Subject == "" || len(token.Subject) > maxSubject:
		return nil, errors.New("the ID token has no usable sub")
	case token.AccessTokenHash != "":
		return token, token.VerifyAccessToken(tokens.AccessToken)
	}
	return token, nil
}

// exchangeFailed tells a provider that refuses the code from one that does not
// answer.
func (p *Provider) exchangeFailed(err error) error {
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) || answered.Response == nil {
		return p.away(err)
	}
	if status := answered.Response.StatusCode; status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		return fault.Wrap(shortened(err), fault.Unauthenticated, "The sign-in was refused by %s. Start again. If it is refused again, ask an "+
			"administrator, who finds the reason in the log.", p.o.Name)
	}
	return p.away(err)
}

func (p *Provider) away(err error) error {
	return fault.Wrap(shortened(err), fault.Unavailable, "No usable answer comes from %s. Try again later. An administrator finds the "+
		"reason in the log.", p.o.Name)
}

func (p *Provider) lies(err error) error {
	return fault.Wrap(shortened(err), fault.Unauthenticated, "The answer of %s was refused, because it does not prove who you are. Ask an "+
		"administrator, who finds the reason in the log.", p.o.Name)
}

// shortened keeps an error of the libraries, which may quote a whole page, short
// enough for a log. What it wraps stays recognisable.
func shortened(err error) error {
	if text := []rune(err.Error()); len(text) > maxReason {
		return short{err, string(text[:maxReason]) + "…"}
	}
	return err
}

type short struct {
	error
	text string
}

func (s short) Error() string { return s.text }
func (s short) Unwrap() error { return s.error }
