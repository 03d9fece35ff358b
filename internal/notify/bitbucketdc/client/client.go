// Package client asks the self-hosted platform by its REST API, with the
// credentials of a connection.
//
// Its errors are fault.Unavailable: they say what the platform answered, in its
// own words where it gave some, and, where it asked for a pause, for how long.
// Until that is over nothing more is asked of the platform.
// https://developer.atlassian.com/server/bitbucket/rest/
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

const (
	// maxAnswer is several times a page of pageSize values with long
	// descriptions.
	maxAnswer = 4 << 20
	// apiPath takes the newest version of the API that a platform has.
	apiPath = "/rest/api/latest"
)

// Client asks platforms. It is safe for concurrent use.
type Client struct {
	by  egress.Doer
	now func() time.Time

	mu     sync.Mutex
	pauses map[string]pause // by the connection's name
}

// New makes a client that asks by egress.Client.Trusted; now nil is time.Now.
func New(by egress.Doer, now func() time.Time) *Client {
	if now == nil {
		now = time.Now
	}
	return &Client{by: by, now: now, pauses: make(map[string]pause)}
}

// Version asks what the platform is: "Bitbucket 9.4.2".
func (cl *Client) Version(ctx context.Context, c *notify.Connection) (string, error) {
	var is struct{ DisplayName, Version string }
	if err := cl.get(ctx, c, apiPath+"/application-properties", nil, &is); err != nil {
		return "", err
	}
	if is.Version == "" {
		return "", notThePlatform(c)
	}
	return strings.TrimSpace(is.DisplayName + " " + is.Version), nil
}

func (cl *Client) get(ctx context.Context, c *notify.Connection, path string, query url.Values, out any) error {
	return cl.call(ctx, c, http.MethodGet, path, query, nil, out)
}

// call sends a request with the connection's credentials. What comes back is
// read into out; nil has nothing read.
func (cl *Client) call(ctx context.Context, c *notify.Connection, method, path string, query url.Values, in, out any) error {
	if err := cl.paused(c); err != nil {
		return err
	}
	err := cl.send(ctx, c, method, path, query, in, out)
	cl.note(c, err)
	return err
}

func (cl *Client) send(ctx context.Context, c *notify.Connection, method, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	address := strings.TrimRight(c.BaseURL, "/") + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := egress.NewRequest(ctx, method, address, body)
	if err != nil {
		return err
	}
	authorize(req, c)
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := cl.by.Do(req)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The platform of %s does not answer: %s.", c.Name, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fault.Wrap(err, fault.Unavailable, "The answer of the platform of %s was cut off.", c.Name)
	case resp.StatusCode >= 300:
		return cl.refusal(c, resp, answer)
	case len(answer) > maxAnswer:
		return fault.New(fault.Unavailable, "The platform of %s answers with more than %d MiB.", c.Name, maxAnswer>>20)
	case out == nil || resp.StatusCode == http.StatusNoContent:
		return nil
	case json.Unmarshal(answer, out) != nil:
		return notThePlatform(c)
	}
	return nil
}

func notThePlatform(c *notify.Connection) error {
	return fault.New(fault.Unavailable, "What answers at the base URL of %s is not the platform; check the base URL.", c.Name)
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
