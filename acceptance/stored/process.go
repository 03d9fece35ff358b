package stored

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

	"outrigger/internal/loadtest"
)

const (
	// key is the secret_key of the stored databases, and node the node that filled them.
	key  = "c3RvcmVkIGRhdGFiYXNlczogYSBrZXkgZm9yIHRlc3Q="
	node = "stored"

	// Refused and Queued are how many messages are in the error queue and in the queue.
	Refused = 3
	Queued  = 5
)

// Process is a program with a world around it, and data of its own in dir, or in url.
func Process(binary, dir, url string, w *World) (*loadtest.Process, error) {
	port, err := loadtest.FreePort()
	if err != nil {
		return nil, err
	}
	return loadtest.New(binary, loadtest.Settings{
		Dir: dir, DatabaseURL: url, NodeID: node, SecretKey: key, MailListen: fmt.Sprintf("127.0.0.1:%d", port), Smarthost: w.Smarthost(),
		AllowedHosts: []string{ChatHost, CodeHost, CloudHost},
	})
}

// SetProxy has all that a program sends go through a proxy.
func SetProxy(ctx context.Context, p *loadtest.Process, to string) error {
	return p.Ask(ctx, "PUT", "/rest/mtbs/1.0/configuration/settings", map[string]any{"proxyUrl": to}, nil)
}

// Secrets are what only those know whom the stored database is about.
type Secrets struct {
	Passwords map[string]string // of users
	Tokens    map[string]string // by name
	App       string            // the secret of ada's authenticator app
}

// SignIn signs a user in with password and authenticator app.
func (s *Secrets) SignIn(ctx context.Context, address, user string) error {
	browser := loadtest.NewBrowser(address)
	page, err := browser.Send(ctx, "/sign-in", url.Values{"user": {user}, "password": {s.Passwords[user]}})
	if err != nil {
		return err
	}
	if user == "ada" {
		if !strings.Contains(page, "code") {
			return errors.New("ada was asked for no code")
		}
		code, err := totp.GenerateCode(s.App, time.Now())
		if err != nil {
			return err
		}
		if page, err = browser.Send(ctx, "/sign-in/factor", url.Values{"code": {code}}); err != nil {
			return err
		}
	}
	if !strings.Contains(page, "Sign out") {
		return fmt.Errorf("%s is not signed in: %.500s", user, html.UnescapeString(page))
	}
	return nil
}
