package store

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// damage runs a statement that no part of the program would.
func damage(t *testing.T, s *Store, q string, args ...any) {
	t.Helper()
	err := s.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), q, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever is wrong with one row: the others are read, and the one is given
// out without an event, so that it fails alone when its turn comes.
func TestADeliveryThatCannotBeReadIsAlone(t *testing.T) {
	for _, c := range []struct{ name, statement string }{
		{"its rules are no JSON", `UPDATE notify_deliveries SET rules = 'x' WHERE id = $1`},
		{"it has no rules", `UPDATE notify_deliveries SET rules = '[]' WHERE id = $1`},
		{"its event is gone", `DELETE FROM notify_events WHERE id = (SELECT event_id FROM notify_deliveries WHERE id = $1)`},
		{"its event is no JSON", `UPDATE notify_events SET event = NULL WHERE id = (SELECT event_id FROM notify_deliveries WHERE id = $1)`},
		{"its event has no types", `UPDATE notify_events SET event = CAST('{}' AS ` + "BLOB" + `) WHERE id = (SELECT event_id FROM notify_deliveries WHERE id = $1)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				info := save(t, s, someRule("one"), flowURL("a"))
				accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
				accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "main", "ada")))
				statement := c.statement
				if s.db.Dialect() == db.Postgres {
					statement = strings.ReplaceAll(statement, "BLOB", "BYTEA")
				}
				first := waiting(t, s)[1]
				damage(t, s, statement, first.ID)
				list, err := s.NextDeliveries(t.Context(), info.ChannelID, 10)
				if err != nil || len(list) != 2 || list[0].ID != first.ID || list[0].Event != nil || list[1].Event == nil {
					t.Fatalf("heads %+v, %v", list, err)
				}
				if n := len(waiting(t, s)); n != 2 {
					t.Errorf("%d in the list, want 2", n)
				}
				name, fence := hold(t, s)
				if err := s.SaveResult(t.Context(), &notify.Result{Deliveries: []*notify.Delivery{list[0]}, State: notify.Failed, Lease: name, Fence: fence}); err != nil {
					t.Fatal(err)
				}
				err = s.db.Write(t.Context(), func(tx *db.Tx) error {
					n, err := DeleteDeliveries(t.Context(), tx, time.Now().Add(time.Hour), 10)
					if n != 1 {
						t.Errorf("retention deleted %d, want 1", n)
					}
					return err
				})
				if err != nil {
					t.Errorf("retention: %v", err)
				}
				if _, err := s.SaveRule(t.Context(), ada, info.Rule, flowURL("b")); err != nil {
					t.Errorf("a URL cannot be changed: %v", err)
				}
			})
		})
	}
}

func TestARuleThatCannotBeReadIsAlone(t *testing.T) {
	for _, filter := range []string{`{`, `{"eventTypes":["OF_A_LATER_RELEASE"]}`} {
		eachStore(t, func(t *testing.T, s *Store) {
			odd := save(t, s, someRule("odd"), flowURL("a"))
			save(t, s, someRule("sound"), flowURL("b"))
			damage(t, s, `UPDATE notify_rules SET filter = $1 WHERE id = $2`, filter, odd.ID)
			again := newStore(t, s.db)
			accept(t, again, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
			if n := len(waiting(t, again)); n != 1 {
				t.Errorf("%d deliveries, want that of the sound rule", n)
			}
			list, err := again.ListRules(t.Context(), notify.RuleQuery{})
			if err != nil || len(list) != 2 {
				t.Errorf("%d rules in the list, %v", len(list), err)
			}
			if err := again.DeleteRule(t.Context(), ada, odd.ID, 0); err != nil {
				t.Errorf("it cannot be deleted: %v", err)
			}
		})
	}
}

// A rule of a later release, or one that a save of it wrote, keeps what this
// release knows of it.
func TestEventTypesOfALaterReleaseAreLeftOut(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := save(t, s, someRule("one"), flowURL("a"))
		damage(t, s, `UPDATE notify_rules SET filter = '{"eventTypes":["OF_A_LATER_RELEASE","BRANCH_UPDATED"]}' WHERE id = $1`, info.ID)
		again := newStore(t, s.db)
		accept(t, again, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		if n := len(waiting(t, again)); n != 1 {
			t.Errorf("%d deliveries, want 1", n)
		}
	})
}

func TestARuleWhoseMaskIsRefusedNowLosesNothing(t *testing.T) {
	set, _ := new(notify.RuleSet).Next(1, []*notify.Rule{{ID: 7, ChannelID: 3, Format: notify.Teams, Enabled: true, Filter: notify.Filter{EventTypes: []notify.EventType{notify.BranchUpdated}, BranchMask: "("}}})
	if of := (&notify.Delivery{Rules: []int64{7}, ChannelID: 3, Format: notify.Teams}); !set.Enabled(of) || !set.On(of) {
		t.Error("what waits for it would be cancelled")
	}
}

// What others say (a certificate's names) may hold what PostgreSQL does not
// take as text.
func TestReasonsWithBytesThatAreNoText(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		info := save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		const odd = "valid for \x00\xff only"
		channel := info.Channel
		channel.GateReason = odd
		r := &notify.Result{
			Deliveries: []*notify.Delivery{waiting(t, s)[0]}, State: notify.Waiting, Reason: odd, Channel: &channel, Lease: name, Fence: fence,
			Attempt: &work.Attempt{At: time.Now(), Err: odd},
		}
		if err := s.SaveResult(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		const want = "valid for �� only"
		d, attempts, err := s.Delivery(t.Context(), r.Deliveries[0].ID)
		if err != nil || d.Reason != want || attempts[0].Err != want {
			t.Errorf("kept %q, %+v, %v", d.Reason, attempts, err)
		}
	})
}

// Neither may be a failure of the server: PostgreSQL takes no U+0000, and no
// key of over 2,700 bytes into an index.
func TestTextThatADatabaseDoesNotTake(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if list, err := s.ListRules(t.Context(), notify.RuleQuery{Connection: "a\x00", ProjectKey: "A\x00\xff", RepositoryKey: "\x00"}); err != nil || len(list) > 0 {
			t.Errorf("list: %d, %v", len(list), err)
		}
		page := notify.RulePage{Level: notify.RepositoryLevel, Project: "\x00", Repository: "\xff", AfterName: "\x00\xff", Limit: 1, Visible: func(*notify.Rule) bool { return true }}
		if list, err := s.PageRules(t.Context(), page); err != nil || len(list) > 0 {
			t.Errorf("page: %d, %v", len(list), err)
		}
		long := strings.Repeat("ä", 3000)
		for _, change := range []func(*notify.Rule){
			func(r *notify.Rule) { r.ProjectKey = long },
			func(r *notify.Rule) { r.ProjectKey, r.RepositoryKey = "ATL", long },
			func(r *notify.Rule) {
				r.Repositories = []notify.RepositoryRef{{ProjectKey: "ATL", RepositoryKey: long}}
			},
			func(r *notify.Rule) {
				r.Repositories = []notify.RepositoryRef{{ProjectKey: long, RepositoryKey: "canoe"}}
			},
		} {
			r := someRule("long")
			change(&r)
			if _, err := s.SaveRule(t.Context(), ada, r, flowURL("a")); !fault.Is(err, fault.Invalid) {
				t.Errorf("saved with keys of %d, %d: %v", len(r.ProjectKey), len(r.RepositoryKey), err)
			}
		}
	})
}
