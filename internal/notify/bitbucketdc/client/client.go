// Package client asks the self-hosted platform by its REST API, with the
// credentials of a connection.
//
// Its errors are fault.Unavailable: they say what the platform answered, in its
// own words where it gave some, and, where it asked for a pause, for how long.
// Until that is over nothing more is asked of the platform.
// https://developer.atlassian.com/server/bitbucket/rest/
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

// apiPath takes the newest version of the API that a platform has.
const apiPath = "/rest/api/latest"

// Client asks platforms. It is safe for concurrent use.
type Client struct{ rest *restclient.Client }

// New makes a client that asks by egress.Client.Trusted; now nil is time.Now.
func New(by egress.Doer, now func() time.Time) *Client {
	return &Client{restclient.New(by, now)}
}

// Version asks what the platform is: "Bitbucket 9.4.2".
func (cl *Client) Version(ctx context.Context, c *notify.Connection) (string, error) {
	var is struct{ DisplayName, Version string }
	if err := cl.get(ctx, c, apiPath+"/application-properties", nil, &is); err != nil {
		return "", err
	}
	if is.Version == "" {
		return "", restclient.NotThePlatform(c.Name)
	}
	return strings.TrimSpace(is.DisplayName + " " + is.Version), nil
}

func base(c *notify.Connection) string { return strings.TrimRight(c.BaseURL, "/") }

func (cl *Client) get(ctx context.Context, c *notify.Connection, path string, query url.Values, out any) error {
	return cl.call(ctx, c, http.MethodGet, path, query, nil, out)
}

// call sends a request with the connection's credentials. What comes back is
// read into out; nil has nothing read.
func (cl *Client) call(ctx context.Context, c *notify.Connection, method, path string, query url.Values, in, out any) error {
	return cl.rest.Do(ctx, request(c, method, path, query, in, out))
}

func request(c *notify.Connection, method, path string, query url.Values, in, out any) restclient.Request {
	address := base(c) + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return restclient.Request{
		Platform: c.Name, Account: restclient.AccountOf(c.BaseURL, c.User, c.Token.Reveal()),
		Method: method, URL: address, Authorize: func(req *http.Request) { authorize(req, c) },
		JSON: in, Out: out, Explain: explain, Hidden: []secret.Value{c.Token},
	}
}

// authorize shows the account's password, or a token, which stands alone:
// tokens of projects and repositories work as Bearer only.
func authorize(req *http.Request, c *notify.Connection) {
	switch {
	case c.Token.IsZero():
	case c.User != "":
		req.SetBasicAuth(c.User, c.Token.Reveal())
	default:
		req.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	}
}
