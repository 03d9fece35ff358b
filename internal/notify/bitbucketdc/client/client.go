// Package client asks the self-hosted platform by its REST API.
package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// maxAnswer is more than anything that is asked here answers with.
const maxAnswer = 1 << 20

// Doer sends a request: egress.Client.Trusted.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Version asks a connection's platform what it is, with the connection's
// credentials where there are any: "Bitbucket 9.4.2". Where it does not say,
// the error is fault.Unavailable and says why.
// https://developer.atlassian.com/server/bitbucket/rest/ (application-properties)
func Version(ctx context.Context, by Doer, c *notify.Connection) (string, error) {
	req, err := egress.NewRequest(ctx, http.MethodGet, strings.TrimRight(c.BaseURL, "/")+"/rest/api/latest/application-properties", nil)
	if err != nil {
		return "", err
	}
	authorize(req, c)
	req.Header.Set("Accept", "application/json")
	resp, err := by.Do(req)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The platform of %s does not answer: %s", c.Name, fault.As(err).Message)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The platform of %s breaks off its answer.", c.Name)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fault.New(fault.Unavailable, "The platform of %s answers %s; check the base URL, the user and the token.", c.Name, resp.Status)
	}
	var is struct{ DisplayName, Version string }
	if json.Unmarshal(body, &is) != nil || is.Version == "" {
		return "", fault.New(fault.Unavailable, "What answers at the base URL of %s is not the platform; check the base URL.", c.Name)
	}
	return strings.TrimSpace(is.DisplayName + " " + is.Version), nil
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
