package rest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/identity"
	"outrigger/internal/trace"
)

// TestRequestID: every answer has one of ours, and every line of the request
// that is logged with its context has the same.
func TestRequestID(t *testing.T) {
	s := newStage(t, "http://localhost:8090")
	wing := slog.New(LogHandler(slog.NewTextHandler(s.log, nil))).With("wing", "x").WithGroup("g")
	s.handle(Route{Method: "POST", Path: "/rest/x"}, func(w http.ResponseWriter, r *http.Request) error {
		wing.InfoContext(r.Context(), "deep inside")
		return WriteJSON(w, r, 200, RequestID(r.Context()))
	})
	w := s.do("POST", "/rest/x", "", "Authorization", "Bearer all", "X-Request-Id", "theirs")
	id := w.Header().Get("X-Request-Id")
	if len(id) != 16 || w.Body.String() != `"`+id+`"` {
		t.Errorf("X-Request-Id is %q, the handler sees %s", id, w.Body)
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Count(line, "request_id="+id) != 1 {
			t.Errorf("a line without the id: %s", line)
		}
	}
	if !strings.Contains(s.log.String(), "deep inside") || !strings.Contains(s.log.String(), `level=INFO msg=request method=POST path=/rest/x status=200`) ||
		!strings.Contains(s.log.String(), "address=192.0.2.1 user=ann") {
		t.Errorf("the log says %s", s.log)
	}
	if other := s.do("GET", "/nothing", "").Header().Get("X-Request-Id"); other == "" || other == id {
		t.Errorf("the next request has the id %q", other)
	}
}

// A request that belongs to a trace is logged with it; what is no traceparent is not.
func TestTrace(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for header, want := range map[string]string{"00-" + id + "-00f067aa0ba902b7-01": id, "00-" + id + "-00f067aa0ba902b7-zz": "", "": ""} {
		s := newStage(t, "http://localhost:8090")
		s.handle(Route{Method: "POST", Path: "/rest/x"}, func(w http.ResponseWriter, r *http.Request) error {
			return WriteJSON(w, r, 200, trace.Of(r.Context()).ID)
		})
		w := s.do("POST", "/rest/x", "", "Authorization", "Bearer all", "Traceparent", header)
		if w.Body.String() != `"`+want+`"` {
			t.Errorf("%q: the handler sees %s", header, w.Body)
		}
		if got := strings.Contains(s.log.String(), "trace_id="+id); got != (want != "") || strings.Contains(s.log.String(), "trace_id") != got {
			t.Errorf("%q: the log says %s", header, s.log)
		}
	}
}

func TestLogHandlerOnce(t *testing.T) {
	var log bytes.Buffer
	once := slog.New(LogHandler(LogHandler(slog.NewTextHandler(&log, nil)).WithAttrs(nil)))
	once.InfoContext(identity.WithCaller(context.Background(), &identity.Caller{Origin: identity.Origin{RequestID: "abc"}}), "x")
	if strings.Count(log.String(), "request_id=abc") != 1 {
		t.Errorf("the log says %s", &log)
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	rt, err := NewRouter(Options{Identity: people{}, Log: slog.New(slog.DiscardHandler), BaseURL: "http://localhost:8090", Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	rt.handle(Route{Method: "GET", Path: "/rest/thing/{id}", Access: Anyone}, answer(queue{}))
	s := stage{rt, nil}
	for _, path := range []string{"/rest/thing/1", "/rest/thing/2", "/rest/nothing/3", "/other"} {
		s.do("GET", path, "")
	}
	s.do("BREW", "/rest/thing/1", "")
	s.do("HEAD", "/rest/thing/1", "")
	want := `
# HELP outrigger_http_requests_total Requests answered, by route, method and status.
# TYPE outrigger_http_requests_total counter
outrigger_http_requests_total{method="GET",route="/rest/thing/{id}",status="200"} 2
outrigger_http_requests_total{method="GET",route="other",status="404"} 2
outrigger_http_requests_total{method="HEAD",route="/rest/thing/{id}",status="200"} 1
outrigger_http_requests_total{method="other",route="other",status="405"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "outrigger_http_requests_total"); err != nil {
		t.Error(err)
	}
	if _, err := NewRouter(Options{Log: slog.New(slog.DiscardHandler), BaseURL: "http://localhost:8090", Metrics: reg}); err == nil {
		t.Error("two routers share their metrics")
	}
}

// TestSlowHeader: a client that dawdles over its header loses its connection
// after ten seconds, one that says nothing more after two minutes.
func TestSlowHeader(t *testing.T) {
	for _, c := range []struct {
		name, sends string
		after       time.Duration
	}{
		{"header", "GET /rest/openapi.yaml HTTP/1.1\r\nHost: a\r\n", 10 * time.Second},
		{"idle", "GET /rest/openapi.yaml HTTP/1.1\r\nHost: a\r\n\r\n", 120 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			rt, err := NewRouter(Options{Log: slog.New(slog.DiscardHandler), BaseURL: "http://localhost:8090"})
			if err != nil {
				t.Fatal(err)
			}
			client, served := net.Pipe()
			listener := &oneConn{conns: make(chan net.Conn, 1)}
			listener.conns <- served
			server := Server(rt, slog.New(slog.DiscardHandler))
			done := make(chan error)
			go func() { done <- server.Serve(listener) }()
			start := time.Now()
			go func() { _, _ = io.WriteString(client, c.sends) }()
			_, _ = io.Copy(io.Discard, client)
			if took := time.Since(start); took != c.after {
				t.Errorf("%s: the connection was closed after %v, want %v", c.name, took, c.after)
			}
			_ = server.Close()
			<-done
		})
	}
}

type oneConn struct{ conns chan net.Conn }

func (l *oneConn) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l *oneConn) Close() error   { close(l.conns); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
