package app

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A body that never comes holds no connection for long, whatever the path says
// to it.
func TestStalledBodiesEnd(t *testing.T) {
	a := start(t, settings(t))
	var stalled sync.WaitGroup
	for _, request := range []string{
		"POST /healthz", "PUT /readyz", "POST /sign-in", "POST /", "GET /metrics", "POST /hooks/unknown",
		"DELETE /rest/outrigger/1.0/users/admin", "POST /rest/outrigger/1.0/users", "PATCH /rest/threaded-comments/1.0/uploads/1",
		"POST /nowhere", "OPTIONS *",
	} {
		for _, length := range []string{"Content-Length: 100", "Content-Length: 99999999", "Transfer-Encoding: chunked"} {
			stalled.Go(func() {
				c, err := net.Dial("tcp", a.Addr())
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(patience))
				fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n\r\n", request, length)
				began := time.Now()
				if _, err := io.Copy(io.Discard, c); err != nil {
					t.Errorf("%s, %s: open for %v: %v", request, length, time.Since(began), err)
				}
			})
		}
	}
	stalled.Wait()
}
