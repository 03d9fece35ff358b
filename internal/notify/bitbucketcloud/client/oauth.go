package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

const (
	// defaultLife is taken where the platform does not say how long a token
	// holds: the shortest that the vendor ever documented.
	defaultLife = time.Hour
	// maxLife is the longest that is believed: to get a token once a day does no
	// harm.
	maxLife = 24 * time.Hour
)

// AuthorizeURL is where a person's browser goes to authorise this program. The
// platform sends it back to redirect, which is the callback URL of the OAuth
// consumer or begins with it, with state and a code. challenge is the S256
// challenge of RFC 7636, which the platform ignores if it does not know it; "":
// none.
//
// Scopes are chosen on the platform's OAuth consumer, not here.
func (cl *Client) AuthorizeURL(c *notify.Connection, state, challenge, redirect string) string {
	query := url.Values{
		"client_id": {c.OAuthClientID}, "response_type": {"code"}, "redirect_uri": {redirect}, "state": {state},
	}
	if challenge != "" {
		query.Set("code_challenge", challenge)
		query.Set("code_challenge_method", "S256")
	}
	return base(c) + "/site/oauth2/authorize?" + query.Encode()
}

// Exchange gets the tokens for the code that a browser came back with to
// redirect. verifier belongs to the challenge; "" is for none. See CodeRefused.
func (cl *Client) Exchange(ctx context.Context, c *notify.Connection, code, verifier, redirect string) (notify.AccountTokens, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}}
	if verifier != "" {
		form.Set("code_verifier", verifier)
	}
	t, err := cl.tokens(ctx, c, form, explainCode, secret.New(code), secret.New(verifier))
	if err == nil && t.Refresh.IsZero() {
		err = withoutToken(c)
	}
	return t, err
}

// Refresh gets new tokens; the refresh token may be another than before. See Withdrawn.
func (cl *Client) Refresh(ctx context.Context, c *notify.Connection, refreshToken secret.Value) (notify.AccountTokens, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refreshToken.Reveal()}}
	t, err := cl.tokens(ctx, c, form, explainRefresh, refreshToken)
	if err == nil && t.Refresh.IsZero() {
		t.Refresh = refreshToken
	}
	return t, err
}

// tokens asks for tokens in the consumer's name (RFC 6749 2.3.1). A pause that the
// platform asks for is that of the code or the refresh token: one account that it
// does not serve would hold all others of the consumer.
func (cl *Client) tokens(
	ctx context.Context, c *notify.Connection, form url.Values, explain func(*restclient.Refusal, []byte), hidden ...secret.Value,
) (notify.AccountTokens, error) {
	var out struct {
		AccessToken  string          `json:"access_token"`
		RefreshToken string          `json:"refresh_token"`
		TokenType    string          `json:"token_type"`
		ExpiresIn    json.RawMessage `json:"expires_in"`
	}
	asked := cl.rest.Now()
	id, key := c.OAuthClientID, c.OAuthClientSecret.Reveal()
	err := cl.rest.Do(ctx, restclient.Request{
		Platform: c.Name, Account: restclient.AccountOf(base(c), id, key, form.Encode()), Method: http.MethodPost,
		URL:       base(c) + "/site/oauth2/access_token",
		Authorize: func(req *http.Request) { req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(key)) },
		Form:      form, Out: &out, Explain: explain, Hidden: append(hidden, c.OAuthClientSecret),
	})
	if err != nil {
		return notify.AccountTokens{}, err
	}
	usable := restclient.UsableToken(out.AccessToken) && (out.RefreshToken == "" || restclient.UsableToken(out.RefreshToken))
	if !usable || !strings.EqualFold(out.TokenType, "bearer") {
		return notify.AccountTokens{}, withoutToken(c)
	}
	return notify.AccountTokens{
		Access: secret.New(out.AccessToken), Refresh: secret.New(out.RefreshToken), Expires: asked.Add(life(out.ExpiresIn)),
	}, nil
}

func withoutToken(c *notify.Connection) error {
	return fault.New(fault.Unavailable, "The platform of %s granted access, but sent no usable tokens; check the base URL.", c.Name)
}

// life reads expires_in, in seconds.
func life(expiresIn json.RawMessage) time.Duration {
	seconds, err := strconv.ParseFloat(strings.Trim(string(expiresIn), `"`), 64)
	switch {
	case err != nil || !(seconds > 0):
		return defaultLife
	case seconds > maxLife.Seconds():
		return maxLife
	}
	return time.Duration(seconds * float64(time.Second))
}
