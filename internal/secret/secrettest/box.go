// Package secrettest gives tests a key.
package secrettest

import (
	"bytes"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/secret"
)

// Box opens the secrets of a database. The key is the same every time, so that
// several nodes of a test can share a database.
func Box(t testing.TB, d *db.DB) *secret.Box {
	t.Helper()
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, secret.KeySize), nil)
	if err != nil {
		t.Fatal(err)
	}
	return box
}
