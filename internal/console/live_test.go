package console

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// often is how often streams of these tests look: soon enough to wait for.
const often = 5 * time.Millisecond

// patience bounds waiting for what must happen, on a machine that is busy with
// other things.
const patience = time.Minute

// until waits until something is so.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); <-time.After(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// liveSite serves one stream, of a counter.
func liveSite(t *testing.T, l Live) (*Console, *httptest.Server) {
	t.Helper()
	return liveSiteOf(t, &sessions{}, Anyone, l)
}

func liveSiteOf(t *testing.T, users *sessions, access Access, l Live) (*Console, *httptest.Server) {
	t.Helper()
	c, err := New(Options{Identity: users, BaseURL: plainBase})
	if err != nil {
		t.Fatal(err)
	}
	c.AddPages(wingOf(map[string]string{"n.html": `{{define "content"}}{{template "n" .}}{{end}}{{define "n"}}<p>{{.}}</p>
<p>two</p>{{end}}`}))
	l.Template, l.Part = "n", "n"
	c.Handle("GET /live", access, func(*http.Request) (Response, error) { return l, nil }, "n")
	h, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return c, s
}

// nextEvent reads one event, without the comments between.
func nextEvent(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var event strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case line == "\n" && event.Len() > 0:
			return event.String()
		case line != "\n" && line != ":\n":
			event.WriteString(line)
		}
	}
}

func TestLiveSendsWhatChanged(t *testing.T) {
	defer goleak.VerifyNone(t)
	var n, asked atomic.Int64
	c, s := liveSite(t, Live{Every: often, Data: func(context.Context) (any, error) {
		asked.Add(1)
		return n.Load(), nil
	}})
	answer, err := http.Get(s.URL + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("Content-Type: %s", got)
	}
	events := bufio.NewReader(answer.Body)
	if got := nextEvent(t, events); got != "data: <p>0</p>\ndata: <p>two</p>\n" {
		t.Errorf("first: %q", got)
	}
	until(t, func() bool { return asked.Load() > 2 }) // nothing did: nothing is sent
	n.Store(1)
	if got := nextEvent(t, events); got != "data: <p>1</p>\ndata: <p>two</p>\n" {
		t.Errorf("second: %q", got)
	}
	c.Stop()
	if rest, err := events.ReadString('\n'); err == nil {
		t.Errorf("after Stop: %q", rest)
	}
	s.Close()
	http.DefaultClient.CloseIdleConnections()
}

func TestLiveThatFailsAtOnceIsAStatusPage(t *testing.T) {
	_, s := liveSite(t, Live{Data: func(context.Context) (any, error) { return nil, errors.New("cause") }})
	answer, err := http.Get(s.URL + "/live")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 500 || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
}

func TestLiveThatFailsLaterEnds(t *testing.T) {
	var failed atomic.Bool
	_, s := liveSite(t, Live{Every: often, Data: func(context.Context) (any, error) {
		if failed.Load() {
			return nil, errors.New("cause")
		}
		return 0, nil
	}})
	answer, err := http.Get(s.URL + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	nextEvent(t, events)
	failed.Store(true)
	if rest, err := events.ReadString('\n'); err == nil {
		t.Errorf("it goes on: %q", rest)
	}
}

func TestHeadOfALiveStreamEnds(t *testing.T) {
	_, s := liveSite(t, Live{Every: time.Hour, Data: func(context.Context) (any, error) { return 0, nil }})
	answer, err := http.Head(s.URL + "/live")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Errorf("%d", answer.StatusCode)
	}
}
