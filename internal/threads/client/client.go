// Package client asks servers of threaded comment migration: any server of the
// export and of the id mappings report, the host application's own included,
// and Outrigger's migration API.
//
// Downloads survive what networks do: they wait where the server says so
// (Retry-After), try again where it does not answer, and go on at the record
// or byte that they reached.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/work"
)

// Client asks one server. Its members are set before the first call.
type Client struct {
	Base   string              // the server's base URL
	SignIn func(*http.Request) // adds the credentials; nil: none
	HTTP   egress.Doer         // nil: http.DefaultClient
	// Notice is told in a sentence why the client waits; may be nil.
	Notice func(text string)

	sleep func(ctx context.Context, d time.Duration) error // nil: really; tests do not wait
}

const (
	// maxFailures is how often in a row a request fails before it is given up:
	// with the backoff, some minutes, in which a host restarts.
	maxFailures = 10
	// silence is how long a server may send nothing: hosts gather a page of
	// many records before the first byte.
	silence = 5 * time.Minute
	// maxSentence is how much of an answer that is no JSON is quoted.
	maxSentence = 300
	// unready is how long an export is asked for again while the server says
	// itself why it has none (503): a source that it cannot read is no restart.
	unready = time.Minute
)

func backoff() work.Backoff {
	return work.Backoff{
		Steps:  []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second},
		Jitter: 0.2,
	}
}

// transient is a failure that may be over soon.
type transient struct {
	error
	after  time.Duration // as the server says; 0: it does not
	stated bool          // the server says why: 503 with a reason
}

func (t *transient) Unwrap() error { return t.error }

// retry runs try until it succeeds, fails for good, or has failed maxFailures
// times in a row without getting further: try says whether it did.
func (c *Client) retry(ctx context.Context, try func() (further bool, err error)) error {
	return c.retryWithin(ctx, 0, try)
}

// retryWithin is retry, and gives up when the server has said for the time of
// patience why it cannot; 0 is as long as for any other failure.
func (c *Client) retryWithin(ctx context.Context, patience time.Duration, try func() (further bool, err error)) error {
	var since time.Time // when the server began to say so
	for failures := 0; ; {
		further, err := try()
		var later *transient
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &later):
			return err
		case further:
			failures = 0
		}
		if failures++; failures == maxFailures {
			return fmt.Errorf("gave up after %d tries: %w", maxFailures, later.error)
		}
		wait := later.after
		if wait == 0 {
			wait = backoff().Delay(failures-1, rand.Float64)
		}
		switch now := time.Now(); {
		case patience == 0 || !later.stated:
			since = time.Time{}
		case since.IsZero():
			since = now
			wait = min(wait, patience)
		case now.Sub(since) >= patience:
			return fmt.Errorf("gave up after %s: %w", patience, later.error)
		default:
			wait = min(wait, patience-now.Sub(since))
		}
		if err := c.wait(ctx, later.error.Error(), wait); err != nil {
			return err
		}
	}
}

// wait waits, and says why.
func (c *Client) wait(ctx context.Context, why string, d time.Duration) error {
	if c.Notice != nil {
		c.Notice(fmt.Sprintf("%s; trying again in %s", why, d.Round(100*time.Millisecond)))
	}
	return c.pause(ctx, d)
}

// pause lets time pass.
func (c *Client) pause(ctx context.Context, d time.Duration) error {
	if c.sleep != nil {
		return c.sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request makes a request for a path with its query.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.Base, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("the server's URL: %w", err)
	}
	if b, ok := body.(sized); ok {
		r.ContentLength = b.n
	}
	if c.SignIn != nil {
		c.SignIn(r)
	}
	return r, nil
}

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
		return fault.New(fault.Unauthenticated, "The server does not know this user or password (401).")
	case http.StatusForbidden:
		return fault.New(fault.Forbidden, "This user does not have permission; sign in as an administrator (403).")
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
