package console

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	liveEvery = 2 * time.Second  // by default; progress that is watched
	liveBeat  = 20 * time.Second // proxies close what is silent for 60 s
	// liveLimit ends a stream; the browser comes back at once and is asked
	// again who it is and what it may see.
	liveLimit = 5 * time.Minute

	// A stream whose answer takes long pauses liveRest times as long, so that a
	// reader costs at most a twentieth of a core, but no longer than liveSlowest.
	liveRest    = 20
	liveSlowest = 30 * time.Second
)

// Live answers a stream of server-sent events, each the template Part of the
// page Template rendered with what Data answers, sent when it differs from
// the last. The page shows the same part in an element with data-live; it
// needs reloading where there is no JavaScript.
//
//	<div data-live="{{link "/mail/live"}}">{{template "nodes" .}}</div>
//
// Rows of a table with data-row, which names the row, are inserted and removed;
// what is not named is renewed in its place. In an element with data-live-list,
// new rows wait while the list is in use; see live-list.js.
//
// A stream ends when its reader signs out or has other permissions than before.
type Live struct {
	Template, Part string
	Data           func(ctx context.Context) (any, error)
	Every          time.Duration // how often it is asked; 2 s by default

	// Version, where not nil, answers a text that is another one when Data's
	// answer may be. It is asked first, and Data only if it differs.
	Version func(ctx context.Context) (string, error)
	// Topic, where not "", has the streams of the same Topic share Version's
	// answers or, where that is nil, Data's: those of half of Every, or younger.
	// It must name all that they depend on, and that may not be who asks.
	Topic string
}

func (l Live) respond(x *exchange) error {
	leave, err := x.c.live.enter(x.principal)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(x.r.Context(), liveLimit)
	defer cancel()
	defer context.AfterFunc(x.c.ended, cancel)()
	x.r = x.r.WithContext(ctx)

	s := stream{Live: l, x: x, out: http.NewResponseController(x.w)}
	s.Every = cmp.Or(l.Every, liveEvery)
	first, err := s.next(ctx)
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold the stream back
	if x.r.Method == http.MethodHead || send(x.w, s.out, first) != nil {
		return nil // the client is gone
	}
	s.run(ctx)
	return nil
}

// stream is a Live that is being answered.
type stream struct {
	Live
	x       *exchange
	out     *http.ResponseController
	version string    // of what was sent last
	last    []byte    // what was
	rest    time.Time // nothing is asked before then
}

func (s *stream) run(ctx context.Context) {
	ask, beat := time.NewTicker(s.Every), time.NewTicker(liveBeat)
	defer ask.Stop()
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if send(s.x.w, s.out, nil) != nil {
				return
			}
			continue
		case <-ask.C:
		}
		if !s.x.sameReader(ctx) {
			return // the browser comes back, and is answered as any other
		}
		if time.Now().Before(s.rest) {
			continue
		}
		html, err := s.next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.x.refer(err) // the answer has begun; the browser tries again
			}
			return
		}
		if html != nil && send(s.x.w, s.out, html) != nil {
			return
		}
	}
}

// next returns the part as it is now; nil where it is what was sent last.
func (s *stream) next(ctx context.Context) ([]byte, error) {
	began := time.Now()
	defer func() {
		now := time.Now()
		if rest := pause(now.Sub(began)); rest > s.Every {
			s.rest = now.Add(rest)
		}
	}()
	if s.Version != nil {
		version, err := s.x.c.live.shared(ctx, s.Topic, s.Every/2, s.Version)
		if err != nil || s.last != nil && version == s.version {
			return nil, err
		}
		s.version = version
	}
	html, err := s.part(ctx)
	if err != nil || bytes.Equal(html, s.last) {
		return nil, err
	}
	s.last = html
	return html, nil
}

func (s *stream) part(ctx context.Context) ([]byte, error) {
	if s.Topic == "" || s.Version != nil {
		return s.render(ctx, s.x.c)
	}
	fresh := s.Every / 2
	if s.last == nil {
		fresh = 0 // an older answer could take back what the page shows already
	}
	html, err := s.x.c.live.shared(ctx, s.Topic, fresh, func(ctx context.Context) (string, error) {
		html, err := s.render(ctx, s.x.c)
		return string(html), err
	})
	return []byte(html), err
}

// pause is how long nothing is asked after an answer that took so long.
func pause(took time.Duration) time.Duration { return min(liveRest*took, liveSlowest) }

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
