package loadtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// Browser is somebody's at the console of a node, with cookies.
type Browser struct {
	client http.Client
	base   string
}

// NewBrowser makes one for the node at an address.
func NewBrowser(addr string) *Browser {
	jar, _ := cookiejar.New(nil) // only options can be wrong
	return &Browser{http.Client{Jar: jar}, "http://" + addr}
}

// Send sends a form, or gets a page where there is none, and gives the page that it
// leads to.
func (b *Browser) Send(ctx context.Context, path string, form url.Values) (page string, err error) {
	method := http.MethodPost
	if form == nil {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.base)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || form == nil && resp.Request.URL.Path == "/sign-in") {
		err = fmt.Errorf("%s %s: %s: %.1000s", method, path, resp.Status, bytes.TrimSpace(body))
	}
	return string(body), err
}

// SignIn signs the user admin in to the console.
func (p *Process) SignIn(ctx context.Context) (*Browser, error) {
	b := NewBrowser(p.Addr())
	_, err := b.Send(ctx, "/sign-in", url.Values{"user": {"admin"}, "password": {AdminPassword}})
	return b, err
}
