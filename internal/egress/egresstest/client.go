// Package egresstest gives tests clients for outgoing HTTP.
package egresstest

import (
	"testing"

	"outrigger/internal/egress"
)

// Client is a client with the default options, closed when the test ends.
func Client(t testing.TB) *egress.Client {
	t.Helper()
	c, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
