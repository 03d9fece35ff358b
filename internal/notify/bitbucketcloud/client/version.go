package client

import (
	"context"
	"net/http"
	"net/url"

	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

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
