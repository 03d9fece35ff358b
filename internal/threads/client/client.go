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
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/work"
)

// Client asks one server. Its members are set before the first call.
type Client struct {
	Base   string              // the server's base URL
	SignIn func(*http.Request) // adds the credentials; nil: none
	HTTP   egress.Doer         // nil: http.DefaultClient
	// Patience is how long a failure is tried again, for commands at which people wait;
	// 0: for as long as maxFailures take.
	Patience time.Duration
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
	began := time.Now()
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
		if c.Patience > 0 && time.Since(began)+wait > c.Patience {
			return fmt.Errorf("gave up after %d tries: %w", failures, later.error)
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
	return work.Sleep(ctx, d)
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
