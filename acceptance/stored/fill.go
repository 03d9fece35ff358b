package stored

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
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
	p    *loadtest.Process
	w    *World
	s    Secrets
	http *http.Client // a browser's, with cookies
	day  func(ctx context.Context, seq int64) error
}

func (f *filler) admin() string { return loadtest.AdminPassword }

// Fill has a running program, new and with this world as the proxy of its
// environment, store several of everything. In the end the settings name a proxy that
// is not there, and messages and mail wait.
func Fill(ctx context.Context, p *loadtest.Process, w *World) (*Secrets, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	f := &filler{p: p, w: w, s: Secrets{Passwords: map[string]string{}, Tokens: map[string]string{}}, http: &http.Client{Jar: jar}}
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
	return do(ctx, p, "PUT", "/rest/mtbs/1.0/configuration/settings", map[string]any{"proxyUrl": to}, nil)
}

type object = map[string]any

func (f *filler) post(ctx context.Context, path string, body, into any) error {
	return do(ctx, f.p, "POST", path, body, into)
}

// do asks a program as admin.
func do(ctx context.Context, p *loadtest.Process, method, path string, body, into any) error {
	content, ok := body.(string)
	if !ok && body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = string(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+p.Addr()+path, strings.NewReader(content))
	if err != nil {
		return err
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	r.Header.Set("Content-Type", "application/json")
	if strings.Contains(path, "/source/mappings?") {
		r.Header.Set("Content-Type", "text/csv")
	}
	answer, err := answered(http.DefaultClient, r)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// answered returns the body of a 2xx.
func answered(c *http.Client, r *http.Request) ([]byte, error) {
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %.1000s", r.Method, r.URL.Path, resp.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// form sends a form of the console as a browser does; none is a GET.
func (f *filler) form(ctx context.Context, path string, form url.Values) (string, error) {
	method := http.MethodPost
	if form == nil {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+f.p.Addr()+path, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+f.p.Addr())
	}
	body, err := answered(f.http, r)
	return string(body), err
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
