package store

import (
	"testing"
	"time"

	"outrigger/internal/notify"
)

// What was put back by hand waits since then; what has waited for longer behind
// it is the oldest.
func TestOldestWaitingIsNotWhatWasPutBack(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		oldest := func() time.Duration {
			t.Helper()
			b, err := s.Backlog(t.Context(), allShards)
			if err != nil {
				t.Fatal(err)
			}
			if b.Oldest.IsZero() {
				return 0
			}
			return time.Since(b.Oldest).Round(time.Hour)
		}
		age(t, s, ids, 3*time.Hour)
		age(t, s, ids[:1], 97*time.Hour)
		if got := oldest(); got != 100*time.Hour {
			t.Errorf("before: %s", got)
		}
		again := func(ids ...int64) {
			t.Helper()
			if _, err := s.Cancel(t.Context(), ada, ids); err != nil {
				t.Fatal(err)
			}
			if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Affected{Done: len(ids)}) {
				t.Fatalf("%+v, %v", done, err)
			}
		}
		again(ids[0])
		if got := oldest(); got != 3*time.Hour {
			t.Errorf("the first put back: %s, want that of the second", got)
		}
		again(ids[1], ids[2])
		if got := oldest(); got != 0 {
			t.Errorf("all put back: %s", got)
		}
	})
}
