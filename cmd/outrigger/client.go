package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/secret"
)

// requestTime is how long a server may take to answer a command, the body included.
const requestTime = 30 * time.Second

// serverFlag is --server of the commands that ask a server.
type serverFlag struct {
	Server string `help:"The server's base URL." env:"OUTRIGGER_SERVER" default:"http://127.0.0.1:8090" placeholder:"URL"`
}

// address returns the base URL without a slash at its end, or a usage error.
func (f serverFlag) address() (string, error) {
	u, err := url.Parse(f.Server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", usage(fmt.Sprintf(
			"--server (or OUTRIGGER_SERVER) must begin with http:// or https://, such as http://127.0.0.1:8090; it is %q", f.Server))
	}
	return strings.TrimRight(f.Server, "/"), nil
}

// signInFlags say as whom to sign in.
type signInFlags struct {
	User         string `help:"Sign in as this user. Needs --password-file." placeholder:"NAME"`
	PasswordFile string `help:"A file that holds the user's password or a token." placeholder:"FILE"`
	TokenFile    string `help:"A file that holds a token. Default: the token in $$OUTRIGGER_TOKEN." placeholder:"FILE"`
}

// clientFlags say which server to ask, and as whom.
type clientFlags struct {
	serverFlag
	signInFlags
}

// credentials are what a request signs in with.
type credentials struct {
	user     string // "": by token
	password secret.Value
	token    secret.Value
}

// credentials reads what the flags name; without flags it returns the token in the
// environment.
func (f signInFlags) credentials() (c credentials, err error) {
	switch {
	case f.User != "" && f.PasswordFile != "":
		c.user = f.User
		c.password, err = readSecret("--password-file", f.PasswordFile)
	case f.User != "" || f.PasswordFile != "":
		err = usage("give --user and --password-file together")
	case f.TokenFile != "":
		c.token, err = readSecret("--token-file", f.TokenFile)
	default:
		c.token = secret.New(os.Getenv("OUTRIGGER_TOKEN"))
		if c.token.IsZero() {
			err = usage("no credentials: give --user and --password-file, or --token-file, or set OUTRIGGER_TOKEN")
		}
	}
	return c, err
}

// readSecret reads the file that a flag names.
func readSecret(flag, path string) (secret.Value, error) {
	v, err := config.ReadSecret(path)
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return v, err
}

func (c credentials) signIn(r *http.Request) {
	if c.user != "" {
		r.SetBasicAuth(c.user, c.password.Reveal())
	} else {
		r.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
}

// client asks a server over REST.
type client struct {
	base string
	credentials
	code string // of a second factor; "" for none
}

func (f clientFlags) client() (*client, error) {
	base, err := f.address()
	if err != nil {
		return nil, err
	}
	c, err := f.credentials()
	return &client{base: base, credentials: c}, err
}

// codeFlag is --code of the commands that do what a token alone is not enough for.
type codeFlag struct {
	Code string `help:"A code of your authenticator app or a recovery code, where a token or password alone is not enough." placeholder:"CODE"`
}

// confirming returns a client that sends the code.
func (f codeFlag) confirming(flags clientFlags) (*client, error) {
	c, err := flags.client()
	if err == nil {
		c.code = f.Code
	}
	return c, err
}

// do sends in as JSON (nil: no body) and reads the answer into out (nil: none).
// An error of the server comes as its sentences.
func (c *client) do(ctx context.Context, method, path string, in, out any) error {
	return c.exchange(ctx, method, path, in, func(body io.Reader) error {
		if out == nil {
			return nil
		}
		return json.NewDecoder(body).Decode(out)
	})
}

// copyTo writes an answer as it is.
func (c *client) copyTo(ctx context.Context, out io.Writer, path string) error {
	return c.exchange(ctx, "GET", path, nil, func(body io.Reader) error {
		_, err := io.Copy(out, body)
		return err
	})
}

// exchange sends a request and has read read the body of a successful answer.
func (c *client) exchange(ctx context.Context, method, path string, in any, read func(body io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	resp, err := c.ask(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := read(resp.Body); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

// ask sends a request and returns a successful answer, whose body the caller closes.
func (c *client) ask(ctx context.Context, method, path string, in any) (*http.Response, error) {
	r, err := c.request(ctx, method, path, in)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, c.refusal(resp)
	}
	return resp, nil
}

func (c *client) request(ctx context.Context, method, path string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		content, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(content)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.signIn(r)
	if c.code != "" {
		r.Header.Set("Outrigger-Code", c.code)
	}
	return r, nil
}

// usage returns an error for a mistake in the arguments that only the command itself can
// see.
func usage(text string) error { return coded{exitUsage, errors.New(text)} }

// queryOf returns the query of what was given: a parameter without a value is left out.
func queryOf(parameters map[string]string) url.Values {
	q := url.Values{}
	for name, value := range parameters {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// setSince asks for what is not older than ago; 0 asks for everything.
func setSince(q url.Values, ago config.Duration) {
	if ago > 0 {
		q.Set("since", time.Now().Add(-time.Duration(ago)).UTC().Format(time.RFC3339))
	}
}
