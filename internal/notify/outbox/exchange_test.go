package outbox

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/secret"
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
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return countedConn{conn, &writes}, err
	}}
	defer transport.CloseIdleConnections()
	b := &Outbox{Options: Options{Client: &http.Client{Transport: transport}}}
	card := strings.Repeat("x", 2<<10)
	resp, _, err := b.exchange(t.Context(), secret.New(chat.URL), []byte(card))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	if int(taken.Load()) != len(card) || writes.Load() != 1 {
		t.Errorf("%d of %d bytes arrived in %d writes, want one", taken.Load(), len(card), writes.Load())
	}
}
