package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	goodPassword = "correct horse battery"
	here         = "192.0.2.1"
)

// clock stands still until it is moved.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// node is a Service as one of several on a database.
type node struct {
	*Service
	*clock
	log *bytes.Buffer
	dir string
}

// aThousandth is what a password costs in tests.
var aThousandth = PasswordCost{Memory: 64, Rounds: 1}

func newNode(t *testing.T, d *db.DB, c *clock) node {
	t.Helper()
	n := node{clock: c, log: new(bytes.Buffer), dir: t.TempDir()}
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, secret.KeySize), nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Service = New(d, Options{Clock: c.read, Log: slog.New(slog.NewTextHandler(n.log, nil)), DataDir: n.dir, Box: box, PasswordCost: aThousandth})
	if err := n.UsePasskeys("https://outrigger.test"); err != nil {
		t.Fatal(err)
	}
	return n
}

// each runs fn with a node on both databases.
func each(t *testing.T, fn func(t *testing.T, n node)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, newNode(t, d, newClock())) }, secret.Migrations, audit.Migrations, Migrations)
}

func (n node) mustCreate(t *testing.T, name string) User {
	t.Helper()
	u, err := n.CreateUser(t.Context(), name, secret.New(goodPassword))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (n node) mustGrant(t *testing.T, name string, perm Permission, at Resource) Grant {
	t.Helper()
	g, err := n.Grant(t.Context(), name, perm, at)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// trail is what the audit trail says: action, object, id, before, after.
func (n node) trail(t *testing.T) []string {
	t.Helper()
	var lines []string
	err := n.db.Read(context.Background(), func(tx *db.Tx) error {
		rows, err := tx.Query(t.Context(), `SELECT who, action, object, object_id, before_json, after_json FROM audit_entries WHERE area = 'identity' ORDER BY id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line [6]string
			if err := rows.Scan(&line[0], &line[1], &line[2], &line[3], &line[4], &line[5]); err != nil {
				return err
			}
			text, _ := json.Marshal(line[:4])
			lines = append(lines, string(text)+line[4]+line[5])
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
