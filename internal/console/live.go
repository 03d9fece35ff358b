package console

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"outrigger/internal/identity"
)

const (
	liveEvery = 2 * time.Second  // by default; progress that is watched
	liveBeat  = 20 * time.Second // proxies close what is silent for 60 s
	// liveLimit ends a stream; the browser comes back at once and is asked
	// again who it is and what it may see.
	liveLimit = 5 * time.Minute
)

// Live answers a stream of server-sent events, each the template Part of the
// page Template rendered with what Data answers, sent when it differs from
// the last. The page shows the same part in an element with data-live; it
// needs reloading where there is no JavaScript.
//
//	<div data-live="{{link "/mail/live"}}">{{template "nodes" .}}</div>
type Live struct {
	Template, Part string
	Data           func(ctx context.Context) (any, error)
	Every          time.Duration   // how often Data is asked; 2 s by default
	Changed        <-chan struct{} // asks Data at once; may be nil
}

func (l Live) respond(x *exchange) error {
	ctx, cancel := context.WithTimeout(x.r.Context(), liveLimit)
	defer cancel()
	defer context.AfterFunc(x.c.ended, cancel)()
	x.r = x.r.WithContext(ctx)

	out := http.NewResponseController(x.w)
	last, err := l.render(ctx, x.c)
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold the stream back
	if x.r.Method == http.MethodHead || send(x.w, out, last) != nil {
		return nil // the client is gone
	}
	ask, beat := time.NewTicker(cmp.Or(l.Every, liveEvery)), time.NewTicker(liveBeat)
	defer ask.Stop()
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if send(x.w, out, nil) != nil {
				return nil
			}
			continue
		case <-ask.C:
		case <-l.Changed:
		}
		if !x.still(ctx) {
			return nil // the browser comes back, and is asked who it is
		}
		next, err := l.render(ctx, x.c)
		if err != nil {
			if ctx.Err() == nil {
				x.refer(err) // the answer has begun; the browser tries again
			}
			return nil
		}
		if bytes.Equal(next, last) {
			continue
		}
		if send(x.w, out, next) != nil {
			return nil
		}
		last = next
	}
}

// still tells whether who reads the stream may go on: the session may have ended
// since it began, or a permission been revoked.
func (x *exchange) still(ctx context.Context) bool {
	var p *identity.Principal
	if cookie, err := x.r.Cookie(x.sessionCookie()); err == nil && x.principal != nil {
		if p, err = x.c.opts.Identity.Session(ctx, cookie.Value); err != nil {
			return false
		}
	}
	return x.route.access(x.r, p)
}

func (l Live) render(ctx context.Context, c *Console) ([]byte, error) {
	data, err := l.Data(ctx)
	if err != nil {
		return nil, err
	}
	return c.pages.render(l.Template, l.Part, data)
}

// send writes one event, or a comment that keeps the connection for nil.
func send(w io.Writer, out *http.ResponseController, html []byte) error {
	// A server's write timeout is about pages. What does not know deadlines,
	// as a test's recorder, has none.
	_ = out.SetWriteDeadline(time.Now().Add(liveBeat))
	var event bytes.Buffer
	if html == nil {
		event.WriteString(":\n\n")
	} else {
		for line := range bytes.Lines(html) {
			fmt.Fprintf(&event, "data: %s\n", bytes.TrimRight(line, "\r\n"))
		}
		event.WriteString("\n")
	}
	if _, err := w.Write(event.Bytes()); err != nil {
		return err
	}
	return out.Flush()
}
