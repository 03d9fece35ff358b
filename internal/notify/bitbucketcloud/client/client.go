// Package client asks the cloud platform by its REST API, each time with the
// token of an account that authorised this program, and gets such tokens by
// OAuth 2.
//
// Its errors are fault.Unavailable: they say what the platform answered, in its
// own words where it gave some, and, where it asked for a pause, for how long.
// Until that is over nothing more is asked of the platform for that account.
// They never hold a token, a code or the client's secret.
//
// Sources: https://developer.atlassian.com/cloud/bitbucket/oauth-2/ and
// https://developer.atlassian.com/cloud/bitbucket/rest/.
package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

// Client asks platforms. It is safe for concurrent use.
type Client struct{ rest *restclient.Client }

// New makes a client that asks by egress.Client.Trusted; now nil is time.Now.
func New(by egress.Doer, now func() time.Time) *Client {
	return &Client{restclient.New(by, now)}
}

// The vendor's own cloud has its API on a host of its own.
const (
	vendor    = "https://bitbucket.org"
	vendorAPI = "https://api.bitbucket.org"
)

func base(c *notify.Connection) string { return strings.TrimRight(c.BaseURL, "/") }

// apiOf is where the API of a connection's platform is.
func apiOf(c *notify.Connection) string {
	if strings.EqualFold(base(c), vendor) {
		return vendorAPI + "/2.0"
	}
	return base(c) + "/2.0"
}

func (cl *Client) get(ctx context.Context, c *notify.Connection, token secret.Value, path string, query url.Values, out any) error {
	address := apiOf(c) + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return cl.call(ctx, c, token, http.MethodGet, address, nil, out)
}

// call sends a request to an address of the API with an account's token, or
// without one for what everybody may ask. What comes back is read into out; nil has nothing read. hidden is what else the
// platform's words must not show.
func (cl *Client) call(
	ctx context.Context, c *notify.Connection, token secret.Value, method, address string, in, out any, hidden ...secret.Value,
) error {
	return cl.rest.Do(ctx, restclient.Request{
		Platform: c.Name, Account: restclient.AccountOf(base(c), token.Reveal()), Method: method, URL: address,
		Authorize: func(req *http.Request) {
			if !token.IsZero() {
				req.Header.Set("Authorization", "Bearer "+token.Reveal())
			}
		},
		JSON: in, Out: out, Explain: explain, Hidden: append(hidden, token),
	})
}

// Version reports whether the platform answers at the connection's base URL, and
// takes the credentials of the connection's OAuth client where it has one. The
// cloud has no version: it is "Bitbucket Cloud".
func (cl *Client) Version(ctx context.Context, c *notify.Connection) (string, error) {
	if _, err := cl.knownEvents(ctx, c, secret.Value{}); err != nil {
		return "", err
	}
	if !c.HasOAuth() {
		return "Bitbucket Cloud", nil
	}
	// The platform looks at the client's credentials before it looks at the code,
	// so that a code that never was reports whether they are right.
	form := url.Values{"grant_type": {"authorization_code"}, "code": {"connection-test"}}
	_, err := cl.tokens(ctx, c, form, explainCode)
	r := restclient.RefusalOf(err)
	if r == nil || r.Name == clientRefused || r.Status < 400 || r.Status >= 500 || r.Status == http.StatusTooManyRequests {
		return "", err
	}
	return "Bitbucket Cloud", nil
}
