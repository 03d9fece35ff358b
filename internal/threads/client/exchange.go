package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/work"
)

// send sends a request and gives the answer to use. A server that falls silent
// ends either. A status that use does not expect is an
// error, transient where it is one that passes.
func (c *Client) send(r *http.Request, use func(*http.Response) error, expected ...int) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer alarm.Stop()
	r = r.WithContext(ctx)
	if r.Body != nil {
		body := &sent{ReadCloser: r.Body, alarm: alarm}
		defer body.end()
		r.Body = body
	}
	doer := c.HTTP
	if doer == nil {
		doer = http.DefaultClient
	}
	resp, err := doer.Do(r)
	if err != nil {
		return broken(ctx, err)
	}
	defer resp.Body.Close()
	resp.Body = &watched{ReadCloser: resp.Body, ctx: ctx, alarm: alarm}
	for _, status := range expected {
		if resp.StatusCode == status {
			return use(resp)
		}
	}
	return refusal(resp)
}

var errSilent = errors.New("the server has sent nothing for " + silence.String())

// broken is a connection that failed or an answer that ended early.
func broken(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		err = cause
	}
	return &transient{error: fmt.Errorf("no answer: %w", err)}
}

// watched is a body whose silence is noticed, and whose end before its time is
// transient.
type watched struct {
	io.ReadCloser
	ctx   context.Context
	alarm *time.Timer
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.alarm.Reset(silence)
	}
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = broken(b.ctx, err)
	}
	return n, err
}

// sent is a request's body: as long as the server takes it, it is not silent.
// A transport may read on after an answer or an error; not past end.
type sent struct {
	io.ReadCloser
	alarm *time.Timer

	mu   sync.Mutex
	over bool
}

func (b *sent) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, io.ErrClosedPipe
	}
	b.alarm.Reset(silence)
	return b.ReadCloser.Read(p)
}

func (b *sent) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
}

// refusal is what an answer of another status says.
func refusal(resp *http.Response) error {
	text := sentence(resp)
	switch code := resp.StatusCode; code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		after, _ := work.RetryAfter(resp.Header, time.Now())
		return &transient{fmt.Errorf("the server answered %s%s", resp.Status, text), after, code == http.StatusServiceUnavailable && text != ""}
	case http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "The server does not know this user or password (401)%s", cmp.Or(text, "."))
	case http.StatusForbidden:
		return fault.New(fault.Forbidden, "The server refuses this (403)%s", cmp.Or(text, "; sign in as an administrator."))
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "There is nothing at %s (404)%s", resp.Request.URL.Redacted(), text)
	case http.StatusBadRequest:
		return fault.New(fault.Invalid, "%s", strings.TrimPrefix(text, ": "))
	case http.StatusConflict:
		return fault.New(fault.Conflict, "%s", strings.TrimPrefix(text, ": "))
	}
	return fmt.Errorf("the server answered %s%s", resp.Status, text)
}

// sentence is the message of an error's body, after a colon; "" without one.
func sentence(resp *http.Response) string {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what came counts
	var body struct {
		Message string
		Errors  []struct{ Field, Message string }
	}
	text := ""
	if json.Unmarshal(b, &body) == nil {
		text = body.Message
		for _, e := range body.Errors {
			if len(body.Errors) > 1 {
				text += " " + e.Field + ": " + e.Message
			}
		}
	} else if !strings.Contains(resp.Header.Get("Content-Type"), "html") {
		text = strings.ToValidUTF8(string(b[:min(len(b), maxSentence)]), "")
	}
	if text = strings.TrimSpace(work.Printable(text)); text == "" {
		return ""
	}
	return ": " + text
}
