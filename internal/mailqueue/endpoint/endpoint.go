// Package endpoint asks one HTTP address for figures: signed in, within a time
// and a size, with errors that say which address did what.
package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/secret"
)

// askTime is how long an answer may take, to its last byte. A monitor waits for
// it, and nodes that are watched are asked every 10 s.
const askTime = 5 * time.Second

// Endpoint is an address and how to sign in there.
type Endpoint struct {
	Client   egress.Doer
	What     string // "The JMX exporter": how errors begin
	URL      string
	User     string // with Password: Basic
	Password secret.Value
	Token    secret.Value // Bearer; not beside User
}

// Request is one question.
type Request struct {
	Accept string
	Body   []byte // posted as JSON; nil asks with GET
	Max    int64  // how many bytes an answer may have
}

// Ask sends a request and has read make sizes of the answer's body, as it comes.
// What goes wrong is fault.Unavailable, and names the address; an error of read is
// the end of the sentence.
func (e *Endpoint) Ask(ctx context.Context, q Request, read func(io.Reader) (mailqueue.Sizes, error)) (none mailqueue.Sizes, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	r, err := e.request(ctx, q)
	if err != nil {
		return none, err
	}
	resp, err := e.Client.Do(r)
	if err != nil {
		return none, e.failed("did not answer: %s", e.reason(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return none, e.failed("answered %s", status(resp.StatusCode))
	}
	body := &limited{from: resp.Body, left: q.Max}
	sizes, err := read(body)
	switch {
	case body.over:
		return none, e.failed("answered with more than %d MiB", q.Max>>20)
	case body.failed != nil:
		return none, e.failed("did not answer to the end: %s", e.reason(ctx, body.failed))
	case err != nil:
		return none, e.failed("%s", err.Error())
	}
	return sizes, nil
}

func (e *Endpoint) request(ctx context.Context, q Request) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if q.Body != nil {
		method, body = http.MethodPost, bytes.NewReader(q.Body)
	}
	r, err := http.NewRequestWithContext(ctx, method, e.URL, body)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "%s has no address that can be asked.", e.What)
	}
	r.Header.Set("Accept", q.Accept)
	if q.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	switch {
	case e.User != "":
		r.SetBasicAuth(e.User, e.Password.Reveal())
	case !e.Token.IsZero():
		r.Header.Set("Authorization", "Bearer "+e.Token.Reveal())
	}
	return r, nil
}

// failed is the error; the sentence begins with what and where, and says
// everything.
func (e *Endpoint) failed(format string, args ...any) error {
	where := "its address"
	if u, err := url.Parse(e.URL); err == nil {
		where = u.Scheme + "://" + u.Host
	}
	sentence := strings.TrimRight(fmt.Sprintf(format, args...), ".")
	return fault.New(fault.Unavailable, "%s at %s %s.", e.What, where, sentence)
}

// reason is why nothing came.
func (e *Endpoint) reason(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("it took longer than %s", askTime)
	}
	return err.Error()
}

func status(code int) string {
	text := fmt.Sprintf("%d %s", code, http.StatusText(code))
	if code >= 300 && code < 400 {
		text += ": redirects are not followed, configure the address that it leads to"
	}
	return text
}

// limited reads up to a limit, and notes what the reader behind it would take
// for an end or for bad input.
type limited struct {
	from   io.Reader
	left   int64
	over   bool
	failed error
}

var errOver = errors.New("the answer is too long")

func (l *limited) Read(p []byte) (int, error) {
	// One byte more than is allowed shows that there is more.
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.from.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		l.over = true
		return 0, errOver
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.failed = err
	}
	return n, err
}
