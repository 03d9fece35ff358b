package store

import (
	"fmt"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// audited is what the audit trail says of an action on deliveries.
func audited(t *testing.T, s *Store, action string) (entries []string) {
	t.Helper()
	err := s.db.Read(t.Context(), func(tx *db.Tx) (err error) {
		entries, err = db.List(t.Context(), tx, "reading the audit trail", func(row db.Row) (string, error) {
			var of, after string
			err := row.Scan(&of, &after)
			return of + " " + after, err
		}, `SELECT object_id, after_json FROM audit_entries WHERE object = 'delivery' AND action = $1 ORDER BY id`, action)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// However many deliveries are redelivered or cancelled, and in how many transactions,
// it is one entry of the audit trail; of two people who do so at once, each has one,
// and their sum is what was done.
func TestManyAreOneEntryOfTheAuditTrail(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		const many = 2*cancelSlice + 3
		hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		save(t, s, someRule("two"), flowURL("b"))
		acceptMany(t, s, many)
		var ids []int64
		if err := s.db.Read(t.Context(), func(tx *db.Tx) (err error) {
			ids, err = readIDs(t.Context(), tx, `SELECT id FROM notify_deliveries ORDER BY id`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		first, last := ids[0], ids[len(ids)-1]
		entries := func(action string, want ...string) {
			t.Helper()
			if got := audited(t, s, action); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: the trail has %q, want %q", action, got, want)
			}
		}
		n, err := s.Cancel(t.Context(), ada, ids)
		if err != nil || n.Done != 2*many {
			t.Fatalf("%d are cancelled, %v", n.Done, err)
		}
		entries("cancel", fmt.Sprintf(`%d…%d {"cancelled":"%d"}`, first, last, 2*many))
		if n, err := s.Cancel(t.Context(), ada, ids); err != nil || n.Done != 0 {
			t.Errorf("%d are cancelled again, %v", n.Done, err)
		}
		entries("cancel", fmt.Sprintf(`%d…%d {"cancelled":"%d"}`, first, last, 2*many))

		var both sync.WaitGroup
		var mu sync.Mutex
		var sum notify.Affected
		for range 2 {
			both.Go(func() {
				done, err := s.Redeliver(t.Context(), ada, ids)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				sum.Done += done.Done
			})
		}
		both.Wait()
		total := 0
		found := audited(t, s, "redeliver")
		for _, e := range found {
			var a, b int64
			var n, skipped int
			if _, err := fmt.Sscanf(e, `%d…%d {"redelivered":"%d","skipped":"%d"}`, &a, &b, &n, &skipped); err != nil || a != first || b != last || n == 0 {
				t.Errorf("%s: %v", e, err)
			}
			total += n
		}
		if sum.Done != 2*many || total != 2*many || len(found) == 0 || len(found) > 2 {
			t.Errorf("%d are redelivered, and the trail says %q", sum.Done, found)
		}
		if _, err := s.Cancel(t.Context(), ada, ids[4:5]); err != nil {
			t.Fatal(err)
		}
		entries("cancel", fmt.Sprintf(`%d…%d {"cancelled":"%d"}`, first, last, 2*many), fmt.Sprintf(`%d {"cancelled":"1"}`, ids[4]))
	})
}
