package egress

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/trace"
)

// countedConn counts the writes to a connection.
type countedConn struct {
	net.Conn
	writes *atomic.Int32
}

func (c countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// A header that is written by itself costs each message a second packet, which
// the chat platform reads by itself too.
func TestAMessageIsOneWrite(t *testing.T) {
	var taken atomic.Int32
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		taken.Store(int32(n))
	}))
	defer chat.Close()
	var writes atomic.Int32
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}})
	dial := c.webhook.plain.DialContext
	c.webhook.plain.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return countedConn{conn, &writes}, err
	}
	card := strings.Repeat("x", 2<<10)
	resp, err := c.Webhook().PostJSON(t.Context(), chat.URL, []byte(card))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if int(taken.Load()) != len(card) || writes.Load() != 1 {
		t.Errorf("%d of %d bytes arrived in %d writes, want one", taken.Load(), len(card), writes.Load())
	}
}

// Headers are shared by all posts, and what one of them has in addition is not.
func TestHeadersOfPosts(t *testing.T) {
	seen := make(chan http.Header, 1)
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header }))
	defer chat.Close()
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}, Version: "1.2"})
	traced := trace.With(t.Context(), trace.From(http.Header{trace.Header: {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}))
	for _, ctx := range []context.Context{t.Context(), traced, t.Context()} {
		resp, err := c.Webhook().PostJSON(ctx, chat.URL, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		h := <-seen
		if h.Get("User-Agent") != "Outrigger/1.2" || h.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("sent %v", h)
		}
		if (h.Get(trace.Header) != "") != (ctx == traced) {
			t.Errorf("with the trace %v, sent %v", trace.Of(ctx), h)
		}
	}
}
