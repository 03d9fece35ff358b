package store

import (
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// The audit trail names rules and channels as people do, and has no entry of a
// save that changes nothing.
func TestAuditOfRules(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		draft := someRule("Releases")
		draft.ChannelName = "Releases channel"
		rule := save(t, s, draft, flowURL("a"))
		again := rule.Rule
		if now := save(t, s, again, ""); now.Version != rule.Version || !now.UpdatedAt.Equal(rule.UpdatedAt) {
			t.Errorf("a save that changes nothing made version %d of %d", now.Version, rule.Version)
		}
		again.Branches = []string{"main"}
		if now := save(t, s, again, ""); now.Version != rule.Version+1 {
			t.Errorf("a change made version %d of %d", now.Version, rule.Version)
		}
		if _, err := s.RetryChannel(t.Context(), ada, rule.ChannelID, notify.RetryAll); err != nil {
			t.Fatal(err)
		}
		var found []audit.Stored
		list := func(tx *db.Tx) (err error) {
			found, err = audit.List(t.Context(), tx, audit.Visible{All: true}, audit.Filter{Limit: 10})
			return err
		}
		if err := s.db.Read(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range found {
			got = append(got, e.Action+" "+e.Object+" "+e.ObjectName)
		}
		want := []string{"retry channel Releases channel", "update rule Releases", "create rule Releases"}
		if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
