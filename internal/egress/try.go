package egress

import (
	"context"
	"net/http"
	"net/url"
)

// Trial is what came of asking a host once.
type Trial struct {
	Host  string // that was asked
	Proxy string // host and port of the proxy on the way; "" for none
}

// Try asks for a webhook's host by a proxy (nil: the environment's), as if it
// were the one in use, and changes nothing. Any answer will do: the host was
// reached. The errors are those of Do.
func (c *Client) Try(ctx context.Context, proxy *url.URL, target string) (Trial, error) {
	req, err := NewRequest(ctx, http.MethodHead, target, nil)
	if err != nil {
		return Trial{}, err
	}
	trial := Trial{Host: req.URL.Hostname()}
	by := c.proxies.with(proxy)(req.URL)
	if by.proxy != nil {
		trial.Proxy = by.proxy.Host
	}
	resp, err := c.webhook.through(by, req)
	if err != nil {
		return trial, err
	}
	return trial, resp.Body.Close()
}
