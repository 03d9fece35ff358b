package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// signInScope is what is asked for at a sign-in: a token of a narrower scope does
// not see which projects and repositories the user administers. It is used to list
// those and then dropped.
// https://confluence.atlassian.com/bitbucketserver/oauth-2-0-scopes-for-incoming-links-1115143371.html
const signInScope = "PROJECT_ADMIN"

// SignInPages are the platform's own pages, on which its users sign in by OAuth 2,
// with whatever the platform asks for there. The connection must have the client
// id and secret of an incoming application link.
// https://confluence.atlassian.com/bitbucketserver/bitbucket-oauth-2-0-provider-api-1108483661.html
type SignInPages struct {
	Client     *Client
	Connection func() *notify.Connection // as it is now
	Name       string                    // what users call the platform
	Callback   string                    // where the platform sends browsers back to; the link names it too
}

// Location is the platform's page that the browser goes to.
func (p *SignInPages) Location(_ context.Context, proofs identity.Proofs) (string, error) {
	c := p.Connection()
	query := url.Values{
		"client_id": {c.OAuthClientID}, "redirect_uri": {p.Callback}, "response_type": {"code"},
		"state": {proofs.State}, "scope": {signInScope},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(proofs.Verifier)}, "code_challenge_method": {"S256"},
	}
	return base(c) + "/rest/oauth2/latest/authorize?" + query.Encode(), nil
}

// Account returns the user whom a code stands for, and what they administer.
func (p *SignInPages) Account(ctx context.Context, code secret.Value, proofs identity.Proofs) (a identity.Account, err error) {
	// A client of its own: a code that is refused must not make the platform pause
	// for others.
	cl := &Client{p.Client.rest.Fresh()}
	own := *p.Connection() // of one configuration, so that no secret goes to the address of another
	token, err := p.exchange(ctx, cl, &own, code, proofs)
	if err != nil {
		return a, p.failed(err)
	}
	own.User, own.Token = "", token
	name, err := cl.tokenUser(ctx, &own)
	switch {
	case err != nil:
		return a, p.failed(err)
	case name == "": // the platform took the request as anonymous
		return a, fault.New(fault.Unauthenticated, "Your user name did not come with the answer of %s. Ask an administrator.", p.Name)
	}
	found := identity.DirectoryUser{Name: name}
	if err := cl.administered(ctx, &own, &found); err != nil {
		return a, p.failed(err)
	}
	return identity.Account{Name: found.Name, Directory: &found}, nil
}

func (p *SignInPages) exchange(
	ctx context.Context, cl *Client, c *notify.Connection, code secret.Value, proofs identity.Proofs,
) (token secret.Value, err error) {
	var out struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
	}
	client, verifier := c.OAuthClientSecret, secret.New(proofs.Verifier)
	err = cl.rest.Do(ctx, restclient.Request{
		Platform: c.Name, Account: restclient.AccountOf(base(c), code.Reveal()), Method: http.MethodPost,
		URL:       base(c) + "/rest/oauth2/latest/token",
		Authorize: func(*http.Request) {},
		Form: url.Values{
			"grant_type": {"authorization_code"}, "code": {code.Reveal()}, "redirect_uri": {p.Callback}, "code_verifier": {verifier.Reveal()},
			"client_id": {c.OAuthClientID}, "client_secret": {client.Reveal()},
		},
		Out: &out, Explain: explainToken, Hidden: []secret.Value{client, code, verifier},
	})
	if err == nil && (!restclient.UsableToken(out.AccessToken) || !strings.EqualFold(out.TokenType, "bearer")) {
		err = restclient.NotThePlatform(c.Name)
	}
	return secret.New(out.AccessToken), err
}

// explainToken reads an error of the token endpoint (RFC 6749, 5.2).
func explainToken(r *restclient.Refusal, body []byte) {
	if e, ok := restclient.ReadOAuthError(body); ok {
		r.Name, r.Words = e.Error, e.Words()
	}
}

// tokenUser returns the name of the user whose token the connection has: it is in
// the headers of every answer, and nowhere else.
// https://community.developer.atlassian.com/t/obtain-authorised-users-username-from-api/24422
func (cl *Client) tokenUser(ctx context.Context, own *notify.Connection) (string, error) {
	q := request(own, http.MethodGet, apiPath+"/application-properties", nil, nil, nil)
	q.Header = http.Header{}
	if err := cl.rest.Do(ctx, q); err != nil {
		return "", err
	}
	return answeredUser(q.Header)
}

// answeredUser returns the name of the user whom an answer is for, "" where it does
// not say.
func answeredUser(h http.Header) (string, error) { return url.PathUnescape(h.Get("X-AUSERNAME")) }

// failed puts an error of the platform into words for strangers; the cause has the
// platform's own, for the log.
func (p *SignInPages) failed(err error) error {
	switch status := restclient.StatusOf(err); {
	case fault.Is(err, fault.Unauthenticated), status >= 400 && status < 500 && status != http.StatusTooManyRequests:
		return fault.Wrap(err, fault.Unauthenticated, "The sign-in was refused by %s. Start again. If it is refused again, ask an "+
			"administrator, who finds the reason in the log.", p.Name)
	}
	return fault.Wrap(err, fault.Unavailable, "No usable answer comes from %s. Try again later. An administrator finds the reason "+
		"in the log.", p.Name)
}
