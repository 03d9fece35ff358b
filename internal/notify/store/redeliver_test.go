package store

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// counted reads the counters of deliveries.
func counted(t *testing.T, r *prometheus.Registry) map[string]int {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int)
	for _, f := range families {
		for _, m := range f.Metric {
			switch n := int(m.GetCounter().GetValue()); f.GetName() {
			case "outrigger_notify_matched_total":
				got["matched"] = n
			case "outrigger_notify_deliveries_total":
				got[m.Label[0].GetValue()] = n
			}
		}
	}
	return got
}

// addUp holds the counters to what waits.
func addUp(t *testing.T, s *Store, r *prometheus.Registry) {
	t.Helper()
	c := counted(t, r)
	if n := len(waiting(t, s)); c["matched"] != c["delivered"]+c["failed"]+c["cancelled"]+c["expired"]+n {
		t.Errorf("%v do not add up with %d waiting", c, n)
	}
}

// A rule was disabled for a moment: what that cancelled is sent after all, in
// its order, and counted as what it is.
func TestWhatDisablingARuleCancelledIsRedelivered(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := prometheus.NewRegistry()
		s.Measure(r)
		one := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		off := one.Rule
		off.Enabled, off.Version = false, 0
		save(t, s, off, "")
		if got := states(t, s, ids); got != "ccc" {
			t.Fatalf("disabled: %s", got)
		}
		if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Affected{Skipped: 3}) {
			t.Errorf("while it is off: %+v, %v", done, err)
		}
		off.Enabled = true
		save(t, s, off, "")
		var told []int64
		s.OnChange(func([]*notify.Delivery) {}, func(id int64) { told = append(told, id) })
		if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done != (notify.Affected{Done: 3}) {
			t.Errorf("enabled again: %+v, %v", done, err)
		}
		heads, err := s.NextDeliveries(t.Context(), one.ChannelID, 10)
		if err != nil || len(heads) != 3 || heads[0].ID != ids[0] || heads[2].ID != ids[2] || len(told) != 1 {
			t.Errorf("in the queue: %v, told %v, %v", heads, told, err)
		}
		if c := counted(t, r); c["matched"] != 6 || c["cancelled"] != 3 {
			t.Errorf("counted %v", c)
		}
		addUp(t, s, r)
		// It is not older than it waits again.
		age(t, s, ids, 30*24*time.Hour)
		if n, err := s.Expire(t.Context(), allShards, notify.Limits{MaxAge: time.Hour, MaxWaiting: 100}); n != 0 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
	})
}

// What was delivered goes out again, and keeps the attempt that delivered it.
func TestWhatWasDeliveredIsRedelivered(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := prometheus.NewRegistry()
		s.Measure(r)
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		acceptMany(t, s, 1)
		deliver := func() {
			t.Helper()
			d := waiting(t, s)[0]
			err := s.SaveResult(t.Context(), &notify.Result{
				Deliveries: []*notify.Delivery{d}, State: notify.Delivered, Lease: name, Fence: fence,
				Attempt: &work.Attempt{At: time.Now(), Took: time.Millisecond, Status: 202, Answer: "taken"},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		id := waiting(t, s)[0].ID
		deliver()
		for range 2 { // the second finds it waiting
			if _, err := s.Redeliver(t.Context(), ada, []int64{id}); err != nil {
				t.Fatal(err)
			}
		}
		deliver()
		_, attempts, err := s.Delivery(t.Context(), id)
		if err != nil || len(attempts) != 2 || attempts[0].Status != 202 || attempts[0].Answer != "taken" || attempts[1].Status != 202 {
			t.Errorf("attempts %+v, %v", attempts, err)
		}
		if c := counted(t, r); c["matched"] != 2 || c["delivered"] != 2 {
			t.Errorf("counted %v", c)
		}
		addUp(t, s, r)
	})
}

// A user cancels a message that is being sent, and it arrives: it is counted
// as both, and so is that it came to wait.
func TestAMessageThatIsCancelledUnderWay(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := prometheus.NewRegistry()
		s.Measure(r)
		name, fence := hold(t, s)
		save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		list := waiting(t, s)
		keep := func(d *notify.Delivery, state notify.DeliveryState) {
			t.Helper()
			a := &work.Attempt{At: time.Now(), Status: 202}
			if err := s.SaveResult(t.Context(), &notify.Result{Deliveries: []*notify.Delivery{d}, State: state, Attempt: a, Lease: name, Fence: fence}); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.Cancel(t.Context(), ada, ids[:2]); n.Done != 2 || err != nil {
			t.Fatalf("%d, %v", n.Done, err)
		}
		addUp(t, s, r)
		keep(list[2], notify.Delivered)
		keep(list[1], notify.Failed)
		keep(list[0], notify.Failed)
		if got := states(t, s, ids); got != "dcf" {
			t.Errorf("states %s", got)
		}
		if c := counted(t, r); c["matched"] != 4 || c["delivered"] != 1 || c["cancelled"] != 2 || c["failed"] != 1 {
			t.Errorf("counted %v", c)
		}
		addUp(t, s, r)
		if n, err := s.Cancel(t.Context(), ada, ids); n.Done != 0 || err != nil {
			t.Errorf("what ended was cancelled: %d, %v", n.Done, err)
		}
	})
}

// On another node, a message that was cancelled under way is put back by hand in
// the moment in which its result is kept: what ended is counted once.
func TestARedeliveryWhileItsResultIsKept(t *testing.T) {
	url := dbtest.PostgresURL(t)
	node := func(id string) (*Store, *prometheus.Registry) {
		d := dbtest.Open(t, db.Options{URL: url, NodeID: id})
		if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations, Migrations); err != nil {
			t.Fatal(err)
		}
		s, r := newStore(t, d), prometheus.NewRegistry()
		s.Measure(r)
		return s, r
	}
	s, here := node("node_1")
	other, there := node("node_2")
	name, fence := hold(t, s)
	save(t, s, someRule("one"), flowURL("a"))
	ids := acceptMany(t, s, 1)
	list := waiting(t, s)
	for range 100 {
		if _, err := s.Redeliver(t.Context(), ada, ids); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Cancel(t.Context(), ada, ids); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			if _, err := other.Redeliver(t.Context(), ada, ids); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			if err := s.SaveResult(t.Context(), &notify.Result{
				Deliveries: list, State: notify.Delivered, Attempt: &work.Attempt{At: time.Now(), Status: 202}, Lease: name, Fence: fence,
			}); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
	}
	n := len(waiting(t, s))
	for _, c := range []map[string]int{counted(t, here), counted(t, there)} {
		n += c["delivered"] + c["failed"] + c["cancelled"] + c["expired"] - c["matched"]
	}
	if n != 0 {
		t.Errorf("%d more ended or wait than were matched", n)
	}
}

// Trying again opens a channel, brings forward what was set aside, and leaves
// out what is asked.
func TestRetryChannel(t *testing.T) {
	for which, want := range map[notify.RetryMode]string{notify.RetryAll: "www", notify.RetryRecent: "cww", notify.RetryNone: "ccc"} {
		t.Run(string(which), func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				r := prometheus.NewRegistry()
				s.Measure(r)
				one := save(t, s, someRule("one"), flowURL("a"))
				ids := acceptMany(t, s, 3)
				age(t, s, ids[:1], 25*time.Hour)
				later := time.Now().Add(time.Hour).UnixMicro()
				damage(t, s, `UPDATE notify_deliveries SET due_at = $1, beside = 2 WHERE id = $2`, later, ids[1])
				damage(t, s, `UPDATE notify_channels SET state = 'broken', reason = 'gone', broken_at = 1, gate_until = $1, refused = 4`, later)
				n, err := s.RetryChannel(t.Context(), ada, one.ChannelID, which)
				if err != nil || n != strings.Count(want, "c") || states(t, s, ids) != want {
					t.Errorf("%d cancelled, %s, %v", n, states(t, s, ids), err)
				}
				c, _, err := s.Channel(t.Context(), one.ChannelID)
				if err != nil || c.State != notify.Open || !c.GateUntil.IsZero() || c.Refused != 0 || c.Reason != "" {
					t.Errorf("the channel is %+v, %v", c, err)
				}
				if d, _, _ := s.Delivery(t.Context(), ids[1]); d.DueAt.After(time.Now().Add(time.Minute)) {
					t.Errorf("what was set aside is due at %v", d.DueAt)
				}
				addUp(t, s, r)
			})
		})
	}
	eachStore(t, func(t *testing.T, s *Store) {
		if _, err := s.RetryChannel(t.Context(), ada, 99, notify.RetryAll); !fault.Is(err, fault.NotFound) {
			t.Errorf("a channel that is not there: %v", err)
		}
	})
}

// A message moves in the moment in which it is cancelled: the channel where it was
// ended reads again what waits there.
func TestCancellingTellsTheChannelOfNow(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 1)
		two := save(t, s, someRule("two"), flowURL("b"))
		var mu sync.Mutex
		told := make(map[int64]int)
		s.OnChange(func([]*notify.Delivery) {}, func(c int64) {
			mu.Lock()
			defer mu.Unlock()
			told[c]++
		})
		during(t, s, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE notify_deliveries SET channel_id = $1 WHERE id = $2`, two.ChannelID, ids[0])
			return err
		}, func() error {
			_, err := s.Cancel(t.Context(), ada, ids)
			return err
		})
		if at, state := place(t, s, ids[0]); at != two.ChannelID || state != notify.Cancelled || told[at] != 1 {
			t.Errorf("%s on channel %d; told %v", state, at, told)
		}
	})
}
