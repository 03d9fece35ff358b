package store

import (
	"slices"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// place is where a delivery waits, 0 when it has ended.
func place(t *testing.T, s *Store, id int64) (channel int64, state notify.DeliveryState) {
	t.Helper()
	d, _, err := s.Delivery(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d.ChannelID, d.State
}

// A message for two rules stays on their channel for the one that is left when the
// other leaves with a message of its own; when that one goes too, it ends or moves
// with it.
func TestWhatWaitsFollowsTheRuleThatIsLeft(t *testing.T) {
	leave := map[string]func(t *testing.T, s *Store, r notify.RuleInfo){
		"deleted": func(t *testing.T, s *Store, r notify.RuleInfo) {
			if err := s.DeleteRule(t.Context(), ada, r.ID, 0); err != nil {
				t.Fatal(err)
			}
		},
		"disabled": func(t *testing.T, s *Store, r notify.RuleInfo) {
			r.Enabled = false
			save(t, s, r.Rule, "")
		},
		"moved": func(t *testing.T, s *Store, r notify.RuleInfo) { save(t, s, r.Rule, flowURL("b")) },
	}
	want := map[string]notify.DeliveryState{"deleted": notify.Cancelled, "disabled": notify.Cancelled, "moved": notify.Waiting}
	for name, second := range leave {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a"))
				accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
				id := waiting(t, s)[0].ID
				moved := save(t, s, one.Rule, flowURL("b"))
				if at, _ := place(t, s, id); at != two.ChannelID {
					t.Errorf("it left channel %d for %d, though rule two wants it there", two.ChannelID, at)
				}
				own := waiting(t, s)[0].ID
				var told []int64
				s.OnChange(func([]*notify.Delivery) {}, func(c int64) { told = append(told, c) })
				second(t, s, two)
				if at, state := place(t, s, own); own == id || at != moved.ChannelID || state != notify.Waiting {
					t.Errorf("that of rule one is %s on channel %d, want waiting on %d", state, at, moved.ChannelID)
				}
				if at, state := place(t, s, id); state != want[name] || state == notify.Waiting && at != moved.ChannelID {
					t.Errorf("that of rule two is %s on channel %d, want %s", state, at, want[name])
				}
				if !slices.Contains(told, two.ChannelID) {
					t.Errorf("told of %v, want the channel that it left", told)
				}
			})
		})
	}
}

// On a broken channel nothing has its turn, so what no rule wants any more
// must not wait for it.
func TestDeletingTheLastRuleCancelsWhatWaits(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one := save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		id := waiting(t, s)[0].ID
		damage(t, s, `UPDATE notify_channels SET state = 'broken' WHERE id = $1`, one.ChannelID)
		if err := s.DeleteRule(t.Context(), ada, one.ID, 0); err != nil {
			t.Fatal(err)
		}
		if _, state := place(t, s, id); state != notify.Cancelled {
			t.Errorf("the delivery is %s, want cancelled", state)
		}
	})
}

// A rule is given another URL while a message of its old channel is under
// way: a refusal there says nothing about the new one.
func TestAResultOfTheOldChannelDoesNotEndWhatMoved(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		name, fence := hold(t, s)
		one := save(t, s, someRule("one"), flowURL("a"))
		for _, w := range []string{"w1", "w2", "w3"} {
			accept(t, s, webhook(w, *pushedTo("ATL", "canoe", "main", "ada")))
		}
		sent, err := s.NextDeliveries(t.Context(), one.ChannelID, 10)
		if err != nil || len(sent) != 3 {
			t.Fatal(err)
		}
		save(t, s, one.Rule, flowURL("b"))
		keep := func(r notify.Result) {
			t.Helper()
			r.Attempt, r.Lease, r.Fence = &work.Attempt{At: time.Now(), Status: 400}, name, fence
			if err := s.SaveResult(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
		}
		keep(notify.Result{Deliveries: sent[:1], State: notify.Failed})
		if _, state := place(t, s, sent[0].ID); state != notify.Waiting {
			t.Errorf("refused on the old channel: %s, want waiting on the new one", state)
		}
		keep(notify.Result{Deliveries: sent[1:2], State: notify.Delivered, Back: sent[0].ID})
		if _, state := place(t, s, sent[0].ID); state != notify.Waiting {
			t.Errorf("brought back on the old channel: %s, want waiting on the new one", state)
		}
		if _, state := place(t, s, sent[1].ID); state != notify.Delivered {
			t.Errorf("delivered on the old channel: %s, it need not be sent twice", state)
		}
	})
}

// An event is being committed while its rule gets another URL. PostgreSQL runs
// both at once; the delivery must not be left on the old channel.
func TestChangedURLTakesWhatIsBeingCommitted(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if s.db.Dialect() == db.SQLite {
			return // has one writer
		}
		one := save(t, s, someRule("one"), flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		begun, commit := make(chan struct{}), make(chan struct{})
		committed := make(chan error)
		go func() {
			committed <- s.db.Write(t.Context(), func(tx *db.Tx) error {
				r := webhook("w2", *pushedTo("ATL", "canoe", "main", "ada"))
				r.Match(s.Rules())
				r.Encoded = [][]byte{[]byte(`{}`)}
				if err := s.writeReceipts(t.Context(), tx, []*notify.Receipt{r}); err != nil {
					return err
				}
				close(begun)
				<-commit
				return nil
			})
		}()
		<-begun
		saved := make(chan notify.RuleInfo)
		go func() { saved <- save(t, s, one.Rule, flowURL("b")) }()
		waitForLock(t, s)
		close(commit)
		if err := <-committed; err != nil {
			t.Fatal(err)
		}
		moved := <-saved
		for _, d := range waiting(t, s) {
			if d.ChannelID != moved.ChannelID {
				t.Errorf("delivery %d is left on the old channel, whose URL is gone", d.ID)
			}
		}
	})
}

// waitForLock waits until a transaction waits for the lock of the rules.
func waitForLock(t *testing.T, s *Store) {
	t.Helper()
	for !waitsForLock(t, s) {
	}
}

func waitsForLock(t *testing.T, s *Store) bool {
	t.Helper()
	var n int
	err := s.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// A rule is deleted, the last of its channel, while another is created with
// the same URL: the channel must keep it.
func TestAURLIsNotForgottenWhileItIsSavedAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for range 20 {
			old := save(t, s, someRule("old"), flowURL("a"))
			deleted := make(chan error)
			go func() { deleted <- s.DeleteRule(t.Context(), ada, old.ID, 0) }()
			created := save(t, s, someRule("new"), flowURL("a"))
			if err := <-deleted; err != nil {
				t.Fatal(err)
			}
			_, url, err := s.Channel(t.Context(), created.ChannelID)
			if err != nil || url.IsZero() {
				t.Fatalf("the channel of the new rule has no URL: %v", err)
			}
			if err := s.DeleteRule(t.Context(), ada, created.ID, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Renames change rules in the commit of their events. Two of them at once on
// PostgreSQL must not wait for each other.
func TestRenamesDoNotDeadlock(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if s.db.Dialect() == db.SQLite {
			return // has one writer
		}
		begun, commit := make(chan struct{}), make(chan struct{})
		committed := make(chan error)
		go func() {
			committed <- s.db.Write(t.Context(), func(tx *db.Tx) error {
				if err := s.rematchStale(t.Context(), tx, nil); err != nil {
					return err
				}
				close(begun)
				<-commit
				return nil
			})
		}()
		<-begun
		renamed := make(chan error)
		go func() {
			renamed <- s.Accept(t.Context(), webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		}()
		waitForLock(t, s)
		var shared int
		err := s.db.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock'
				AND classid::bigint << 32 | objid::bigint = $1
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, int64(generationLock)).Scan(&shared)
		})
		if err != nil || shared != 1 {
			t.Errorf("the rename waits for the lock and shares it: %d holders, %v", shared, err)
		}
		close(commit)
		if err := <-committed; err != nil {
			t.Error(err)
		}
		if err := <-renamed; err != nil {
			t.Error(err)
		}
	})
}
