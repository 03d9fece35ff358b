package store

import (
	"testing"

	"outrigger/internal/notify"
)

// A delivery that another node cancelled, or that went with its rule to another
// channel, waits no more where it was read.
func TestWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 2)
		read := waiting(t, s)
		expect := func(what string, d *notify.Delivery, want bool) {
			t.Helper()
			if waits, err := s.Waits(t.Context(), d, one.Channel.Fingerprint); waits != want || err != nil {
				t.Errorf("%s: it waits: %v, %v", what, waits, err)
			}
		}
		for _, d := range read {
			expect("as it was read", d, true)
			if d.ID == ids[0] {
				if _, err := s.Cancel(t.Context(), ada, ids[:1]); err != nil {
					t.Fatal(err)
				}
				expect("cancelled", d, false)
			}
		}
		save(t, s, one.Rule, flowURL("b"))
		for _, d := range read {
			if d.ID == ids[1] {
				expect("moved", d, false)
			}
		}
	})
}
