package egress

import (
	"context"
	"net/http"
	"net/url"
)

// Trial is what came of asking a host once.
type Trial struct {
	Host   string // that answered
	Status int    // any will do: the host was reached
	Proxy  string // host and port of the proxy on the way; "" for none
}

// Try asks for a webhook's host by a proxy (nil: the environment's), as if it
// were the one in use, and changes nothing. The errors are those of Do.
func (c *Client) Try(ctx context.Context, proxy *url.URL, target string) (Trial, error) {
	req, err := NewRequest(ctx, http.MethodHead, target, nil)
	if err != nil {
		return Trial{}, err
	}
	trial := Trial{Host: req.URL.Hostname()}
	way := c.proxies.with(proxy)(req.URL)
	if way != nil {
		trial.Proxy = way.Host
	}
	resp, err := c.webhook.through(way, req)
	if err != nil {
		return trial, err
	}
	trial.Status = resp.StatusCode
	return trial, resp.Body.Close()
}
