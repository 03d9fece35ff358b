package store

import (
	"context"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// A rule or report that is made while another node deletes its connection is
// refused: the next connection of that name would have it.
func TestNothingIsMadeForAConnectionThatIsBeingDeleted(t *testing.T) {
	for name, save := range map[string]func(s *Store) error{
		"rule": func(s *Store) error {
			r := someRule("one")
			r.Connection = "second"
			_, err := s.SaveRule(t.Context(), ada, r, flowURL("a"))
			return err
		},
		"report": func(s *Store) error {
			r := someReport("one")
			r.Connection = "second"
			_, err := s.SaveReport(t.Context(), ada, r, flowURL("a"), reportDay)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				another(t, s)
				var err error
				during(t, s, func(ctx context.Context, tx *db.Tx) error {
					if err := s.beginPlatformsChange(ctx, tx); err != nil {
						return err
					}
					_, err := tx.Exec(ctx, `DELETE FROM notify_connections WHERE name = 'second'`)
					return err
				}, func() error {
					err = save(newStore(t, s.db))
					return nil
				})
				if !fault.Is(err, fault.Invalid) {
					t.Errorf("it is made: %v", err)
				}
				if n := count(t, s, `SELECT (SELECT count(*) FROM notify_rules) + (SELECT count(*) FROM notify_reports)`); n != 0 {
					t.Errorf("%d are there", n)
				}
			})
		})
	}
}
