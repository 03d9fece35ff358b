package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/notify/hook"
	"outrigger/internal/secret"
)

// sendTime is what the self-hosted platform itself waits for an answer.
const sendTime = 20 * time.Second

// maxAnswer is how much of an answer is printed.
const maxAnswer = 64 << 10

type sendEventCmd struct {
	configFlag
	serverFlag
	Connection string `required:"" help:"The connection to post to." placeholder:"NAME"`
	Hook       string `help:"The hook of the connection to post to, with its secret in --secret-file; else the connection's own." placeholder:"NAME"`
	Event      string `required:"" help:"The platform's key of the event, such as repo:refs_changed." placeholder:"KEY"`
	SecretFile string `help:"A file with the webhook secret, for connections made in the console and for hooks; else that of the connection in --config." placeholder:"FILE"`
	JSON       bool   `help:"For scripts: {status, body}."`
	File       string `arg:"" help:"The body to post; - is standard input."`
}

func (c sendEventCmd) Run(ctx context.Context, s streams) error {
	body, err := readInput(s, c.File)
	if err != nil {
		return err
	}
	key, err := c.secret(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	address := c.address() + "/hooks/" + url.PathEscape(c.Connection)
	if c.Hook != "" {
		address += "/" + url.PathEscape(c.Hook)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("X-Event-Key", c.Event)
	r.Header.Set("X-Request-Id", secret.Random(16))
	if !key.IsZero() {
		r.Header.Set(hook.SignatureHeader, hook.Sign(body, key))
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("post the event: %w", err)
	}
	defer resp.Body.Close()
	return c.print(s, resp)
}

// secret is what the body is signed with; none for a connection whose webhooks
// are unsigned.
func (c sendEventCmd) secret(s streams) (secret.Value, error) {
	if c.SecretFile != "" {
		return config.ReadSecret(c.SecretFile)
	}
	if c.Hook != "" {
		return secret.Value{}, usage("give the hook's secret with --secret-file: it is not in the configuration file")
	}
	if c.Config == "" {
		return secret.Value{}, usage("give the webhook secret with --secret-file, or --config for that of the connection")
	}
	cfg, err := loadConfig(s, c.Config, nil)
	if err != nil {
		return secret.Value{}, err
	}
	for _, conn := range cfg.Notify.Connections {
		if conn.Name == c.Connection {
			return conn.WebhookSecret, nil
		}
	}
	return secret.Value{}, fmt.Errorf("there is no connection %s in %s; for one made in the console give its secret with --secret-file", c.Connection, c.Config)
}

func (c sendEventCmd) print(s streams, resp *http.Response) error {
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if c.JSON {
		err = printJSON(s.out, struct {
			Status int    `json:"status"`
			Body   string `json:"body"`
		}{resp.StatusCode, string(answer)})
	} else {
		_, err = fmt.Fprintln(s.out, strings.TrimSpace(resp.Status+"\n"+string(answer)))
	}
	if err == nil && resp.StatusCode >= 300 {
		return coded{code: exitFailed} // the answer says why
	}
	return err
}

// readInput reads a file, or standard input for "-".
func readInput(s streams, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(s.in)
	}
	return os.ReadFile(path)
}
