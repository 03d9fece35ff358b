package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Refused webhooks are counted over both nodes, and a flood of them takes a row.
func TestRefusedWebhooksAreCounted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		here, there := newStore(t, d), newStore(t, d)
		now := time.Now().UTC().Truncate(time.Microsecond)
		key := notify.RefusalKey{Connection: "dc", Hook: "", Reason: notify.RefusedSignature}
		add := func(s *Store, n int, at time.Time, by string) {
			t.Helper()
			err := s.AddRefused(t.Context(), []notify.RefusedWebhooks{{RefusalKey: key, Count: n, LastAt: at, LastBy: by, Message: "wrong"}})
			if err != nil {
				t.Fatal(err)
			}
		}
		add(here, 7, now.Add(-30*time.Hour), "192.0.2.1") // too long ago
		add(here, 3, now.Add(-20*time.Hour), "192.0.2.2")
		for i := range 20 {
			add([]*Store{here, there}[i%2], 100, now, fmt.Sprintf("192.0.2.%d", 10+i))
		}
		list, err := there.Refused(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := notify.RefusedWebhooks{RefusalKey: key, Count: 2003, Recent: 2000, LastAt: now, LastBy: "192.0.2.29", Message: "wrong", Alone: true}
		if len(list) != 1 || list[0] != want {
			t.Errorf("refused: %+v, want %+v", list, want)
		}
		if !list[0].NeedsAttention() {
			t.Error("2,000 refused webhooks in an hour need no attention")
		}
		var rows int
		count := func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM notify_refusals`).Scan(&rows)
		}
		if err := d.Read(t.Context(), count); err != nil {
			t.Fatal(err)
		}
		if rows > 3 {
			t.Errorf("%d rows", rows)
		}
	}, secret.Migrations, audit.Migrations, identity.Migrations, Migrations)
}
