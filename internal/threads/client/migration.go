package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/work"
)

const (
	migrationPath = "/rest/threaded-comments/1.0/migration"
	// What goes on in the server is looked at as people watch it; soon at first,
	// since little is done at once.
	followFirst = 100 * time.Millisecond
	followEvery = time.Second
)

// Status asks how the migration stands.
func (c *Client) Status(ctx context.Context) (st threads.MigrationStatus, err error) {
	err = c.ask(ctx, http.MethodGet, migrationPath+"/status", &st)
	return st, err
}

// Operate does what an administrator asks, and returns how the migration stands
// then; what its phase does not allow is fault.Conflict, and files that are others than
// those that w names.
func (c *Client) Operate(ctx context.Context, op threads.Operation, w threads.Wish) (st threads.MigrationStatus, err error) {
	path := migrationPath + "/" + string(op)
	query := url.Values{}
	if w.AcceptIncomplete {
		query.Set("acceptIncomplete", "true")
	}
	if w.AcceptOtherSite {
		query.Set("acceptOtherSite", "true")
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var body any
	named := w.Drafts != (threads.Drafts{})
	if named {
		body = w.Drafts
	}
	unheard, err := c.order(ctx, path, body, &st)
	if unheard && fault.Is(err, fault.Conflict) {
		now, failed := c.Status(ctx)
		if failed == nil && slices.Contains(outcomes[op], now.Phase) && (!named || now.Has(w.Drafts)) {
			return now, nil
		}
	}
	return st, err
}

// outcomes are the phases in which an operation that was done leaves a
// migration, until the next one.
var outcomes = map[threads.Operation][]threads.Phase{
	threads.OpUpload:   {threads.PhaseLoading, threads.PhaseReady},
	threads.OpStart:    {threads.PhaseProcessing, threads.PhasePaused, threads.PhaseFailed, threads.PhaseCompleted},
	threads.OpStop:     {threads.PhasePaused},
	threads.OpContinue: {threads.PhaseProcessing, threads.PhasePaused, threads.PhaseFailed, threads.PhaseCompleted},
	threads.OpCancel:   {threads.PhaseCancelled},
	threads.OpReset:    {threads.PhaseEmpty},
	threads.OpRetry:    {threads.PhaseProcessing, threads.PhasePaused, threads.PhaseFailed},
	threads.OpUndo:     {threads.PhaseProcessing, threads.PhasePaused, threads.PhaseFailed, threads.PhaseEmpty},
}

// Follow waits while the migration is in one of some phases, and returns how it
// stands then. progress is told each time that was looked, and may be nil.
func (c *Client) Follow(
	ctx context.Context, progress func(threads.MigrationStatus), while ...threads.Phase,
) (threads.MigrationStatus, error) {
	for wait := followFirst; ; wait = min(2*wait, followEvery) {
		st, err := c.Status(ctx)
		if err != nil {
			return st, err
		}
		if progress != nil {
			progress(st)
		}
		if !slices.Contains(while, st.Phase) {
			return st, nil
		}
		if err := c.pause(ctx, wait); err != nil {
			return st, err
		}
	}
}

// Preview waits for what will come of the drafts, or of the data that is loaded
// where there are none. Files that cannot be used are fault.Invalid. progress
// is told how much is read, of 1, and may be nil.
func (c *Client) Preview(ctx context.Context, progress func(done float64)) (p threads.Previewed, err error) {
	err = c.made(ctx, migrationPath+"/preview", &p, progress)
	return p, err
}

// Verify has the server compare its target with the data that is loaded, and
// waits for the result. progress is told how much is compared, of 1, and may be
// nil.
func (c *Client) Verify(ctx context.Context, progress func(done float64)) (v threads.Verification, err error) {
	if err = c.ask(ctx, http.MethodPost, migrationPath+"/verify", &v); err == nil {
		err = c.made(ctx, migrationPath+"/verify", &v, progress)
	}
	return v, err
}

// Verified waits for the comparison that the server has made or makes of its
// target with the data that is loaded: a migration ends with one.
func (c *Client) Verified(ctx context.Context, progress func(done float64)) (v threads.Verification, err error) {
	err = c.made(ctx, migrationPath+"/verify", &v, progress)
	return v, err
}

// made asks for something until the server has made it.
func (c *Client) made(ctx context.Context, path string, out any, progress func(done float64)) error {
	for {
		var making bool
		var wait time.Duration
		err := c.retry(ctx, func() (bool, error) {
			r, err := c.request(ctx, http.MethodGet, path, nil)
			if err != nil {
				return false, err
			}
			r.Header.Set("Accept", "application/json")
			return false, c.send(r, func(resp *http.Response) error {
				if making = resp.StatusCode == http.StatusAccepted; !making {
					return decode(resp, out)
				}
				wait, _ = work.RetryAfter(resp.Header, time.Now())
				return tell(resp, progress)
			}, http.StatusOK, http.StatusAccepted)
		})
		if err != nil || !making {
			return err
		}
		if err := c.pause(ctx, max(wait, followEvery)); err != nil {
			return err
		}
	}
}

// tell reads how far the server is.
func tell(resp *http.Response, progress func(done float64)) error {
	var far struct{ Done float64 }
	err := decode(resp, &far)
	if err == nil && progress != nil {
		progress(far.Done)
	}
	return err
}

// ask asks until there is an answer.
func (c *Client) ask(ctx context.Context, method, path string, out any) error {
	return c.retry(ctx, func() (bool, error) { return false, c.once(ctx, method, path, nil, out) })
}

// order has the server do something. unheard: an answer was lost, it may have been
// done.
func (c *Client) order(ctx context.Context, path string, body, out any) (unheard bool, err error) {
	err = c.retry(ctx, func() (bool, error) {
		err := c.once(ctx, http.MethodPost, path, body, out)
		var later *transient
		unheard = unheard || errors.As(err, &later)
		return false, err
	})
	return unheard, err
}

// once asks for JSON; body is what it says, or nil.
func (c *Client) once(ctx context.Context, method, path string, body, out any) error {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		in = bytes.NewReader(text)
	}
	r, err := c.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json")
	return c.send(r, func(resp *http.Response) error { return decode(resp, out) }, http.StatusOK, http.StatusAccepted)
}

func decode(resp *http.Response, out any) error {
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the server's answer: %w", err)
	}
	return nil
}
