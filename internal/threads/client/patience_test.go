package client

import (
	"strings"
	"testing"
	"time"
)

// A command at which people wait gives up after its patience, also where the server
// asks for a longer wait; another goes on for as long as a restart takes.
func TestPatience(t *testing.T) {
	for _, retryAfter := range []string{"", "120"} {
		for _, patience := range []time.Duration{0, 10 * time.Second} {
			inBubble(t, func(t *testing.T) {
				client := &Client{Base: "https://cloud.example.com", Patience: patience, HTTP: doer(func(x *exchange) {
					if retryAfter != "" {
						x.header.Set("Retry-After", retryAfter)
					}
					x.answer(503)
				})}
				began := time.Now()
				_, err := client.Status(t.Context())
				took := time.Since(began)
				if err == nil || !strings.Contains(err.Error(), "gave up after") || (patience > 0) != (took <= 10*time.Second) {
					t.Errorf("patience of %s: %s, %v", patience, took, err)
				}
			})
		}
	}
}
