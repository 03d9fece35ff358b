package stored

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/loadtest"
)

// patience bounds waiting for what the program does by itself.
const patience = 2 * time.Minute

// Secrets are what only those know whom the stored database is about.
type Secrets struct {
	Passwords map[string]string // of users
	Tokens    map[string]string // by name
	App       string            // the secret of ada's authenticator app
}

// filler drives a running program as people and platforms do.
type filler struct {
	p   *loadtest.Process
	w   *World
	s   Secrets
	day func(ctx context.Context, seq int64) error
}

// Fill has a running program, new and with this world as the proxy of its
// environment, store several of everything. In the end the settings name a proxy that
// is not there, and messages and mail wait.
func Fill(ctx context.Context, p *loadtest.Process, w *World) (*Secrets, error) {
	f := &filler{p: p, w: w, s: Secrets{Passwords: map[string]string{}, Tokens: map[string]string{}}}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"users", f.users}, {"notifications", f.notifications}, {"the cloud platform", f.cloudPlatform}, {"threads", f.threads}, {"mail", f.mail},
		{"what waits", f.waiting},
	} {
		if err := step.do(ctx); err != nil {
			return nil, fmt.Errorf("fill %s: %w", step.name, err)
		}
	}
	return &f.s, nil
}

// SetProxy has all that a program sends go through a proxy.
func SetProxy(ctx context.Context, p *loadtest.Process, to string) error {
	return p.Ask(ctx, "PUT", "/rest/mtbs/1.0/configuration/settings", map[string]any{"proxyUrl": to}, nil)
}

type object = map[string]any

func (f *filler) post(ctx context.Context, path string, body, into any) error {
	return f.p.Ask(ctx, "POST", path, body, into)
}

// Await waits until holds says true.
func Await(ctx context.Context, what string, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := holds()
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("after %s: %s (%v)", patience, what, err)
		}
	}
}

// Process is a program with a world around it, and data of its own in dir, or in url.
func Process(binary, dir, url string, w *World) (*loadtest.Process, error) {
	port, err := loadtest.FreePort()
	if err != nil {
		return nil, err
	}
	return loadtest.New(binary, loadtest.Settings{
		Dir: dir, DatabaseURL: url, NodeID: Node, SecretKey: Key, MailListen: fmt.Sprintf("127.0.0.1:%d", port), Smarthost: w.Smarthost(),
		AllowedHosts: []string{ChatHost, codeHost, cloudHost},
	})
}
