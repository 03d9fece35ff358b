package loadtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// SignIn signs the user admin in to the console, and returns a function that gets
// a page of it.
func (p *Process) SignIn(ctx context.Context) (page func(ctx context.Context, path string) error, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar}
	send := func(ctx context.Context, method, path, form string) error {
		req, err := http.NewRequestWithContext(ctx, method, "http://"+p.Addr()+path, strings.NewReader(form))
		if err != nil {
			return err
		}
		if form != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Origin", "http://"+p.Addr())
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK || method == http.MethodGet && resp.Request.URL.Path == "/sign-in" {
			return fmt.Errorf("%s %s: %s", method, path, resp.Status)
		}
		return nil
	}
	form := url.Values{"user": {"admin"}, "password": {AdminPassword}}.Encode()
	if err := send(ctx, http.MethodPost, "/sign-in", form); err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	return func(ctx context.Context, path string) error { return send(ctx, http.MethodGet, path, "") }, nil
}
