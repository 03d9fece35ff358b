package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// A connection costs memory: what reads one after another needs one.
func TestReadsOneAfterAnotherShareAConnection(t *testing.T) {
	d := openThings(t)
	read := func(*db.Tx) error { return nil }
	must(t, d.Read(t.Context(), read))
	before := d.Connections()
	for range 20 {
		must(t, d.Read(t.Context(), read))
	}
	if now := d.Connections(); now != before {
		t.Errorf("20 reads one after another opened %d more connections", now-before)
	}
}

func TestReadersAreBounded(t *testing.T) {
	d := openThings(t)
	const readers = 8
	end, inside := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			if err := d.Read(t.Context(), func(*db.Tx) error {
				inside <- struct{}{}
				<-end
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range readers { // they read at the same time
		<-inside
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := d.Read(ctx, func(*db.Tx) error {
		t.Error("one reader too many reads")
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a reader too many got %v", err)
	}
	close(end)
	all.Wait()
	must(t, d.Read(t.Context(), func(*db.Tx) error { return nil }))
}

func openThings(t *testing.T) *db.DB {
	t.Helper()
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), things))
	return d
}

// What many readers at once needed is given back when they have rested.
func TestReadersThatRestAreClosed(t *testing.T) {
	d := openThings(t)
	read := func(*db.Tx) error { return nil }
	must(t, d.Read(t.Context(), read))
	few := d.Connections()
	end, inside := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := d.Read(t.Context(), func(*db.Tx) error { inside <- struct{}{}; <-end; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	for range 3 {
		<-inside
	}
	if n := d.Connections(); n != few+2 {
		t.Errorf("%d connections while three read, want %d", n, few+2)
	}
	close(end)
	all.Wait()
	for began := time.Now(); d.Connections() != few; <-time.After(100 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%d connections are still open, want %d", d.Connections(), few)
		}
		must(t, d.Read(t.Context(), read))
	}
}
