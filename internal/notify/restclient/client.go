// Package restclient is what the clients of the platforms' REST APIs share: a
// request whose answer is bounded, errors in the platform's own words, and the
// pauses that a platform asks for.
//
// Errors are fault.Unavailable. They never hold a credential.
package restclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// maxAnswer is several times a page of 250 values with long descriptions, the
// longest answer that is asked for.
const maxAnswer = 4 << 20

// Client sends requests. It is safe for concurrent use.
type Client struct {
	by  egress.Doer
	now func() time.Time

	mu     sync.Mutex
	pauses map[string]pause // by Request.Account
}

// New makes a client that asks by egress.Client.Trusted; now nil is time.Now.
func New(by egress.Doer, now func() time.Time) *Client {
	if now == nil {
		now = time.Now
	}
	return &Client{by: by, now: now, pauses: make(map[string]pause)}
}

// Fresh returns a client of its own, which is under no pause.
func (cl *Client) Fresh() *Client { return New(cl.by, cl.now) }

// Now is the present time by the client's clock.
func (cl *Client) Now() time.Time { return cl.now() }

// Request is a request to a platform.
type Request struct {
	Platform string // the connection's name, for errors
	// Account is who asks, and where: a pause that the platform asks for is that
	// of one account. See AccountOf.
	Account     string
	Method, URL string
	Authorize   func(*http.Request)
	JSON        any         // the body; nil: none
	Form        url.Values  // the body in place of JSON; nil: none
	Out         any         // what the answer is read into; nil: it is not read
	Header      http.Header // takes the headers of an answer that is a success; nil: they are not kept
	// Explain reads the body of an answer that is no success into a Refusal that
	// has its status.
	Explain func(r *Refusal, body []byte)
	// Hidden are masked in the platform's words.
	Hidden []secret.Value
}

// AccountOf makes a Request.Account of what tells accounts apart, credentials
// included: it cannot be read back.
func AccountOf(parts ...string) string {
	return string(secret.Fingerprint(strings.Join(parts, "\n")))
}

// Do sends a request, unless the account is under a pause.
func (cl *Client) Do(ctx context.Context, q Request) error {
	if err := cl.paused(q.Account); err != nil {
		return err
	}
	err := cl.send(ctx, q)
	cl.note(q.Account, err)
	return err
}

func (cl *Client) send(ctx context.Context, q Request) error {
	req, err := q.request(ctx)
	if err != nil {
		return err
	}
	resp, err := cl.by.Do(req)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The platform of %s does not answer: %s.", q.Platform, why(ctx, err))
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fault.Wrap(err, fault.Unavailable, "The answer of the platform of %s was cut off.", q.Platform)
	case resp.StatusCode >= 300:
		return cl.refusal(q, req, resp, answer)
	case len(answer) > maxAnswer:
		return fault.New(fault.Unavailable, "The platform of %s answers with more than %d MiB.", q.Platform, maxAnswer>>20)
	}
	if q.Header != nil {
		maps.Copy(q.Header, resp.Header)
	}
	switch {
	case q.Out == nil || resp.StatusCode == http.StatusNoContent:
		return nil
	case json.Unmarshal(answer, q.Out) != nil:
		return NotThePlatform(q.Platform)
	}
	return nil
}

// why says why no answer came, to others than administrators without what names the
// proxy.
func why(ctx context.Context, err error) string {
	if words := egress.Discreet(err); words != "" && !identity.From(ctx).May(identity.Admin, identity.Resource{}) {
		return words
	}
	return err.Error()
}

func (q *Request) request(ctx context.Context) (*http.Request, error) {
	var body []byte
	contentType := ""
	switch {
	case q.JSON != nil:
		text, err := json.Marshal(q.JSON)
		if err != nil {
			return nil, err
		}
		body, contentType = text, "application/json"
	case q.Form != nil:
		body, contentType = []byte(q.Form.Encode()), "application/x-www-form-urlencoded"
	}
	req, err := egress.NewRequest(ctx, q.Method, q.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Authorize(req)
	req.Header.Set("Accept", "application/json")
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// NotThePlatform is the error of an answer that no platform gives.
func NotThePlatform(platform string) error {
	return fault.New(fault.Unavailable, "What answers at the base URL of %s is not the platform; check the base URL.", platform)
}

// Endless is the error of a list that does not end.
func Endless(platform string) error {
	return fault.New(fault.Unavailable, "The platform of %s answers with pages that do not end.", platform)
}

// Repeating is the error of a list whose pages come again.
func Repeating(platform string) error {
	return fault.New(fault.Unavailable, "The platform of %s repeats its pages.", platform)
}
