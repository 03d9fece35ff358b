package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

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
	Hook       string `help:"The hook to post to; needs --secret-file. Default: the connection's own hook." placeholder:"NAME"`
	Event      string `required:"" help:"The event key, such as repo:refs_changed or, in the cloud edition, repo:push." placeholder:"KEY"`
	SecretFile string `help:"A file that holds the webhook secret. Default: that of the connection in the --config file." placeholder:"FILE"`
	Again      bool   `help:"${again}"`
	JSON       bool   `help:"Print JSON: {status, body}, and the id of the stored event (event) or of the one that was there (duplicateOf)."`
	File       string `arg:"" help:"The file to post; - reads standard input."`
}

func (c sendEventCmd) Run(ctx context.Context, s streams) error {
	body, err := readInput(s, c.File)
	if err != nil {
		return err
	}
	if c.Again {
		body = unlike(body)
	}
	key, err := c.secret(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	base, err := c.address()
	if err != nil {
		return err
	}
	address := base + "/hooks/" + url.PathEscape(c.Connection)
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
		return (&client{base: base}).unreachable(err)
	}
	defer resp.Body.Close()
	return c.print(s, resp)
}

// secret is what the body is signed with; none for a connection whose webhooks
// are unsigned.
func (c sendEventCmd) secret(s streams) (secret.Value, error) {
	if c.SecretFile != "" {
		return readSecret("--secret-file", c.SecretFile)
	}
	if c.Hook != "" {
		return secret.Value{}, usage("give the hook's secret with --secret-file; the configuration file does not have it")
	}
	if c.Config == "" {
		return secret.Value{}, usage("give the webhook secret with --secret-file, or a configuration file that has it with --config")
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
	return secret.Value{}, fmt.Errorf("%[2]s has no connection %[1]s; if it was added in the console, give its secret with --secret-file",
		c.Connection, c.Config)
}

// unlike returns a body that says the same and is another: white space may follow a
// JSON value, and here it is 64 random bits.
func unlike(body []byte) []byte {
	body = append(body, '\n')
	for bits, i := rand.Uint64(), 0; i < 64; i++ {
		body = append(body, " \t"[bits>>i&1])
	}
	return body
}

func (c sendEventCmd) print(s streams, resp *http.Response) error {
	duplicate, _ := strconv.ParseInt(resp.Header.Get(hook.DuplicateHeader), 10, 64) // absent: it is new
	event, _ := strconv.ParseInt(resp.Header.Get(hook.EventHeader), 10, 64)
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if c.JSON {
		err = printJSON(s.out, struct {
			Status      int    `json:"status"`
			Body        string `json:"body"`
			Event       int64  `json:"event,omitempty"`
			DuplicateOf int64  `json:"duplicateOf,omitempty"`
		}{resp.StatusCode, string(answer), event, duplicate})
	} else {
		_, err = fmt.Fprintln(s.out, strings.TrimSpace(resp.Status+"\n"+string(answer)))
		if err == nil && event != 0 {
			_, err = fmt.Fprintf(s.out, "It is event %[1]d. To see which rules took it: outrigger notify explain %[1]d\n", event)
		}
		if err == nil && duplicate != 0 {
			_, err = fmt.Fprintf(s.out, "The server already received this as event %d, so nothing is sent again. To send it as a new event, "+
				"use --again.\n", duplicate)
		}
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
