package app

import (
	"encoding/json"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// Several nodes share one PostgreSQL: each is ready, a user made on one is
// known on the other, and a node's place is taken once.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	url := secret.New(dbtest.PostgresURL(t, migrations()...))
	key := secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	node := func(id string) *config.Config {
		cfg := settings(t)
		cfg.NodeID, cfg.DatabaseURL, cfg.SecretKey, cfg.Cluster.Enabled = id, url, key, true
		return cfg
	}
	one, two := start(t, node("one")), start(t, node("two"))
	for _, a := range []*App{one, two} {
		if status, body := get(t, a.URL()+"/readyz"); status != 200 {
			t.Errorf("%s: %d %s", a.nodeID, status, body)
		}
		status, body := get(t, a.URL()+"/rest/outrigger/1.0/users", asAdmin)
		var users struct{ Items []struct{ Name string } }
		if err := json.Unmarshal([]byte(body), &users); err != nil || status != 200 || len(users.Items) != 1 || users.Items[0].Name != "admin" {
			t.Errorf("%s: %d %s", a.nodeID, status, body)
		}
	}
	if _, active, err := two.cluster.Members(t.Context()); err != nil || active != 2 {
		t.Errorf("%d nodes are active: %v", active, err)
	}

	third := newApp(t, node("two"), Options{})
	if err := third.Start(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second node called two: %v", err)
	}

	// A node with another key must not come among them.
	stranger := node("three")
	stranger.SecretKey = secret.New("eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHl6eHk=")
	fourth := newApp(t, stranger, Options{})
	if err := fourth.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("a node with another key: %v", err)
	}

	// Commands work beside the nodes.
	command := newApp(t, node("one"), Options{})
	accounts, err := command.StartAccounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.CreateUser(t.Context(), "ada", secret.New("staple horse battery")); err != nil {
		t.Error(err)
	}
	if err := command.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if status, body := get(t, two.URL()+"/rest/outrigger/1.0/users", asAdmin); status != 200 || !strings.Contains(body, `"ada"`) {
		t.Errorf("the user made by a command: %d %s", status, body)
	}
}

// The schemas of all parts together are accepted by both databases.
func TestMigrationsTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for range 2 {
			if err := d.Migrate(t.Context(), migrations()...); err != nil {
				t.Fatal(err)
			}
		}
	})
}
