package egress

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/trace"
)

// Caller sends requests. Its errors never hold the path or the query of a URL,
// nor the credentials of a proxy, which may be secrets.
type Caller struct {
	secure, plain, proxied *http.Transport
	proxies                *proxies
	// judge says what a proxy may be asked for, and whether that is public; nil:
	// anything, and nobody asks.
	judge func(context.Context, *url.URL) (public bool, err error)
	// isPublic judges an address that was dialled; nil: it is not checked.
	isPublic func(addr net.Addr, plaintext bool) bool
	json     http.Header   // of a POST of JSON, User-Agent included
	limit    time.Duration // 0: the caller watches over the time
}

// Doer is a Caller, for those who send requests. What it promises is said at
// Caller.Do.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Poster is a Caller, for those who only post JSON.
type Poster interface {
	PostJSON(ctx context.Context, url string, text []byte) (*http.Response, error)
}

// NewRequest is http.NewRequestWithContext with an error that does not quote
// the URL.
func NewRequest(ctx context.Context, method, url string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The stored URL is not a URL.")
	}
	return req, nil
}

// Do sends a request and gives the answer, whatever its status; it follows no
// redirect. A request without a User-Agent gets ours, and one for a request that belongs
// to a trace that trace. Timeout holds for all of
// it, unless the Caller is Unlimited. The caller closes the answer's body. An
// address that may not be dialled is an ErrRefused, a proxy that cannot be
// used an ErrProxy, credentials that one could read an ErrExposed; the end of the request's own context stays recognisable
// with errors.Is.
func (c *Caller) Do(req *http.Request) (*http.Response, error) {
	return c.through(c.proxies.forURL(req.URL), req)
}

// through is Do by a route.
func (c *Caller) through(by route, req *http.Request) (*http.Response, error) {
	ctx, w := c.onWay(req.Context())
	out := req.WithContext(ctx)
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header["User-Agent"] = c.json["User-Agent"]
	}
	return c.send(by, w, out)
}

// PostJSON is Do for a POST of JSON. The text may be read after it has failed, so its
// memory must not be used again. Such requests share their headers.
//
// net/http sends a bytes.Reader in one packet with the header; before any other
// reader it would send the header by itself.
func (c *Caller) PostJSON(ctx context.Context, url string, text []byte) (*http.Response, error) {
	ctx, w := c.onWay(ctx)
	out, err := NewRequest(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		w.end()
		return nil, err
	}
	out.Header = c.json
	return c.send(c.proxies.forURL(out.URL), w, out)
}

// send sends a request whose context is that of w.
func (c *Caller) send(by route, w *way, out *http.Request) (*http.Response, error) {
	w.by(by, c.isPublic, out.URL.Scheme == "http")
	if next := trace.Of(w.asked).Next(); next != "" {
		out.Header = out.Header.Clone()
		out.Header[trace.Header] = []string{next}
	}
	resp, err := c.roundTrip(by, out)
	if err != nil {
		w.end()
		return nil, describe(out.URL, w, err, c.judge != nil)
	}
	resp.Body = &body{ReadCloser: resp.Body, end: w.end}
	return resp, nil
}

func (c *Caller) roundTrip(by route, out *http.Request) (*http.Response, error) {
	switch {
	case by.proxy != nil:
		err := by.exposes(out)
		if err == nil {
			err = c.permitted(out.Context(), out.URL)
		}
		if err != nil {
			closeBody(out)
			return nil, err
		}
		return answerOf(c.proxied.RoundTrip(out))
	case out.URL.Scheme == "http":
		return c.plain.RoundTrip(out)
	}
	return c.secure.RoundTrip(out)
}

func (c *Caller) permitted(ctx context.Context, u *url.URL) error {
	if c.judge == nil {
		return nil
	}
	public, err := c.judge(ctx, u)
	wayOf(ctx).public.Store(public)
	return err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// body ends the request's time limit when it is closed.
type body struct {
	io.ReadCloser
	end context.CancelFunc
}

func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
