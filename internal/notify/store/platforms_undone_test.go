package store

import (
	"context"
	"errors"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// A file whose commit fails is not used any more, though a change of another node was
// loaded with it meanwhile, or is being loaded.
func TestReplaceFileThatFailsIsUndone(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		full := errors.New("full")
		var loading *notify.RuleSet
		changed := func() { // as by another node
			if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
				return tx.Do(t.Context(), "counting", `UPDATE notify_generation SET generation = generation + 1, platforms = platforms + 1`)
			}); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(when string) {
			t.Helper()
			if c := s.Platforms().Connections; c.Find("new") != nil || c.Find("dc") == nil {
				t.Errorf("%s, the connections are %q, not those of before", when, c.Names())
			}
		}
		changed()
		err := s.ReplaceFile(t.Context(), notify.Connections{{Name: "new", Kind: "bitbucket-dc"}}, func(*db.Tx) (err error) {
			if err := s.Load(t.Context()); err != nil {
				t.Error(err)
			}
			return full
		})
		if !errors.Is(err, full) {
			t.Fatal(err)
		}
		expect("after another change was loaded")
		changed()
		err = s.ReplaceFile(t.Context(), notify.Connections{{Name: "new", Kind: "bitbucket-dc"}}, func(*db.Tx) (err error) {
			loading, err = db.Read(t.Context(), s.db, func(tx *db.Tx) (*notify.RuleSet, error) { return s.load(context.Background(), tx) })
			return errors.Join(err, full)
		})
		if !errors.Is(err, full) {
			t.Fatal(err)
		}
		s.swapRules(loading)
		if s.rules.Load().Generation != loading.Generation {
			t.Error("the other change is not used")
		}
		expect("after another change that was being loaded")
	})
}
