package store

import (
	"errors"
	"io"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// What reads a file takes an end that comes too early for a file that is cut
// off. A database that hangs up in the middle of an answer is none.
func TestLostDatabaseIsNoCutFile(t *testing.T) {
	ctx := t.Context()
	proxy, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: "node_1"})
	if err := d.Migrate(ctx, Migrations); err != nil {
		t.Fatal(err)
	}
	store := NewUploads(d)
	u, err := store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 5})
	if err != nil {
		t.Fatal(err)
	}
	if u, err = store.AppendWhole(ctx, u.ID, 0, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	r := store.Reader(ctx, u)
	proxy.LoseAnswer("SELECT r.data")
	if _, err = r.Read(make([]byte, 5)); !fault.Is(err, fault.Unavailable) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, which is an end of the file: %t", err, errors.Is(err, io.ErrUnexpectedEOF))
	}
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "hello" {
		t.Errorf("after that: %q, %v", rest, err)
	}
}
