package db_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

func TestOneProcessOnADataFolder(t *testing.T) {
	dir := t.TempDir()
	d, err := db.Open(t.Context(), db.Options{Dir: dir})
	must(t, err)
	_, err = db.Open(t.Context(), db.Options{Dir: dir})
	wantCode(t, err, fault.Conflict, "("+strconv.Itoa(os.Getpid())+") is using the data folder "+dir)
	if strings.Contains(err.Error(), "resource temporarily unavailable") {
		t.Errorf("the lock's own error is shown: %v", err)
	}
	must(t, d.Ping(t.Context()))
	must(t, d.Close())
	must(t, dbtest.Open(t, db.Options{Dir: dir}).Ping(t.Context()))
}

func TestOneProcessOnANodeID(t *testing.T) {
	o := db.Options{URL: dbtest.PostgresURL(t), NodeID: "node_1"}
	d, err := db.Open(t.Context(), o)
	must(t, err)
	_, err = db.Open(t.Context(), o)
	wantCode(t, err, fault.Conflict, "Another process is running as node node_1")
	dbtest.Open(t, db.Options{URL: o.URL, NodeID: "node_2"})
	must(t, d.Close())
	dbtest.Open(t, o)

	_, err = db.Open(t.Context(), db.Options{URL: o.URL})
	wantCode(t, err, fault.Invalid, "node_id")
	_, err = db.Open(t.Context(), db.Options{URL: "postgres://%", NodeID: "node_1"})
	wantCode(t, err, fault.Invalid, "database_url")
}

// A node that is to be alone does not share a database, in either order.
func TestOneProcessThatIsAlone(t *testing.T) {
	url := dbtest.PostgresURL(t)
	for _, alone := range []bool{true, false} {
		d, err := db.Open(t.Context(), db.Options{URL: url, NodeID: "node_1", Alone: alone})
		must(t, err)
		_, err = db.Open(t.Context(), db.Options{URL: url, NodeID: "node_2", Alone: !alone})
		wantCode(t, err, fault.Conflict, "cluster.enabled")
		must(t, d.Close())
	}
}

// logs are messages as they come.
type logs chan string

func (l logs) Enabled(context.Context, slog.Level) bool { return true }
func (l logs) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logs) WithGroup(string) slog.Handler            { return l }
func (l logs) Handle(_ context.Context, r slog.Record) error {
	l <- r.Message
	return nil
}

// The server restarts: the lock is taken again, and no other process can take it.
func TestTheNodeLockSurvivesItsConnection(t *testing.T) {
	direct := dbtest.PostgresURL(t)
	proxy, through := dbtest.NewProxy(t, direct)
	said := make(logs, 100)
	d := dbtest.Open(t, db.Options{URL: through, NodeID: "node_1", Log: slog.New(said)})
	proxy.Away()
	if got := <-said; got != "the connection that holds the node's lock is lost" {
		t.Errorf("it said %q", got)
	}
	proxy.Back()
	for got := range said {
		if got == "the node's lock is held again" {
			break
		}
	}
	_, err := db.Open(t.Context(), db.Options{URL: direct, NodeID: "node_1"})
	wantCode(t, err, fault.Conflict, "node_1")
	select {
	case <-d.Lost():
		t.Error("the node was given up")
	default:
	}
}

// While this node was cut off, another process became it.
func TestTheNodeLockIsLostToAnother(t *testing.T) {
	direct := dbtest.PostgresURL(t)
	proxy, through := dbtest.NewProxy(t, direct)
	said := make(logs, 100)
	d := dbtest.Open(t, db.Options{URL: through, NodeID: "node_1", Log: slog.New(said)})
	proxy.Away()
	<-said
	dbtest.Open(t, db.Options{URL: direct, NodeID: "node_1"})
	proxy.Back()
	<-d.Lost()
}

func TestAFolderThatCannotBeUsed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, err := db.Open(t.Context(), db.Options{Dir: missing})
	wantCode(t, err, fault.Unavailable, missing)

	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "outrigger.db"), 0o700))
	_, err = db.Open(t.Context(), db.Options{Dir: dir})
	wantCode(t, err, fault.Unavailable, dir)

	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "outrigger.db"), []byte("this is no database, and long enough to see that it is none"), 0o600))
	_, err = db.Open(t.Context(), db.Options{Dir: dir})
	wantCode(t, err, fault.Unavailable, dir)
}

// Characters that mean something in a URL.
func TestAFolderWithAnOddName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c#d%20&é")
	must(t, os.Mkdir(dir, 0o700))
	must(t, dbtest.Open(t, db.Options{Dir: dir}).Ping(t.Context()))
	if _, err := os.Stat(filepath.Join(dir, "outrigger.db")); err != nil {
		t.Error(err)
	}
}
