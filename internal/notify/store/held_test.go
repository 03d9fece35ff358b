package store

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// quietNow is a rule whose quiet hours began an hour ago and end in one.
func quietNow(name string) notify.Rule {
	r := someRule(name)
	now := time.Now().UTC()
	r.QuietHours = &notify.QuietHours{
		From: now.Add(-time.Hour).Format("15:04"), To: now.Add(time.Hour).Format("15:04"), TimeZone: "UTC",
	}
	return r
}

// heads are how many deliveries of a channel may be sent now.
func heads(t *testing.T, s *Store, channel int64) int {
	t.Helper()
	found, err := s.NextDeliveries(t.Context(), channel, 100)
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.CountWaiting(t.Context(), channel, 100)
	if err != nil || n != len(found) {
		t.Errorf("%d may be sent, and %d are counted: %v", len(found), n, err)
	}
	pending, err := s.Pending(t.Context(), allShards)
	if err != nil {
		t.Fatal(err)
	}
	if (len(pending) > 0) != (len(found) > 0) {
		t.Errorf("%d may be sent, and %d channels have work", len(found), len(pending))
	}
	return len(found)
}

func TestQuietHoursHoldWhatComes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := quietNow("nights")
		r.EventTypes = append(r.EventTypes, notify.BranchDeleted)
		r.QuietHours.Urgent = []notify.EventType{notify.BranchDeleted}
		quiet := save(t, s, r, flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "main", "ada")))
		if n := heads(t, s, quiet.ChannelID); n != 0 {
			t.Fatalf("%d go out in quiet hours", n)
		}
		list := waiting(t, s)
		for _, d := range list {
			if left := time.Until(d.HeldUntil); left < 58*time.Minute || left > time.Hour {
				t.Errorf("delivery %d is held until %s", d.ID, d.HeldUntil)
			}
		}
		b, err := s.Backlog(t.Context(), allShards)
		if err != nil || b.Waiting != 2 || !b.Oldest.IsZero() {
			t.Errorf("backlog %+v: what is held has not waited yet: %v", b, err)
		}
		// An urgent one goes at once.
		accept(t, s, webhook("w3", refDeleted("old")))
		if n := heads(t, s, quiet.ChannelID); n != 1 {
			t.Errorf("%d go out, want the urgent one", n)
		}
		if b, _ := s.Backlog(t.Context(), allShards); b.Oldest.IsZero() {
			t.Error("the urgent one does not wait")
		}
		// The hours end: both belong together, in their order.
		damage(t, s, `UPDATE notify_deliveries SET held_until = $1 WHERE held_until > 0`, db.Micros(time.Now().Add(-time.Second)))
		if n := heads(t, s, quiet.ChannelID); n != 3 {
			t.Errorf("%d go out after the quiet hours, want 3", n)
		}
		first, _ := s.NextDeliveries(t.Context(), quiet.ChannelID, 1)
		both, err := s.Together(t.Context(), first[0], 100)
		if err != nil || len(both) != 2 || both[0].ID != list[1].ID || both[1].ID != list[0].ID {
			t.Errorf("together go %d: %v", len(both), err)
		}
		pending, _ := s.Pending(t.Context(), allShards)
		if len(pending) != 1 || !pending[0].Released {
			t.Errorf("pending %+v does not say that something was released", pending)
		}
	})
}

// A rule without quiet hours on the same channel has its messages go at once,
// also those that a quiet rule takes too.
func TestAnotherRuleDoesNotWaitForQuietHours(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		quiet := save(t, s, quietNow("nights"), flowURL("a"))
		r := someRule("main only")
		r.Branches = []string{"main"}
		save(t, s, r, flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		accept(t, s, webhook("w2", *pushedTo("ATL", "canoe", "next", "ada")))
		found, err := s.NextDeliveries(t.Context(), quiet.ChannelID, 10)
		if err != nil || len(found) != 1 || found[0].Event.Branch != "main" {
			t.Errorf("%d go out: %v", len(found), err)
		}
	})
}

func TestQuietHoursEndEarly(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		quiet := save(t, s, quietNow("nights"), flowURL("a"))
		for _, id := range []string{"w1", "w2", "w3"} {
			accept(t, s, webhook(id, *pushedTo("ATL", "canoe", id, "ada")))
		}
		list := waiting(t, s)
		if err := s.TryNow(t.Context(), ada, list[1].ID); err != nil {
			t.Fatal(err)
		}
		found, err := s.NextDeliveries(t.Context(), quiet.ChannelID, 10)
		if err != nil || len(found) != 1 || found[0].ID != list[1].ID || !found[0].HeldUntil.IsZero() {
			t.Errorf("after try now %d go out: %v", len(found), err)
		}
		// Saved with the same hours, nothing changes; without, all that waits goes.
		r := quiet.Rule
		r.Name = "other"
		saved := save(t, s, r, "")
		if n := heads(t, s, quiet.ChannelID); n != 1 {
			t.Errorf("after another name %d go out", n)
		}
		r = saved.Rule
		r.QuietHours = nil
		save(t, s, r, "")
		if n := heads(t, s, quiet.ChannelID); n != 3 {
			t.Errorf("after the quiet hours were taken away %d go out", n)
		}
	})
}

// What is held grows old from the end of the quiet hours on.
// A client reads a rule, changes its name and sends it back: it writes the same
// quiet hours in its own way.
func TestTheSameQuietHoursWrittenOtherwiseGoOn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		r := quietNow("nights")
		r.QuietHours.Days = notify.Weekdays()
		quiet := save(t, s, r, flowURL("a"))
		accept(t, s, webhook("w1", *pushedTo("ATL", "canoe", "main", "ada")))
		again := quiet.Rule
		again.Name = "every night"
		same := *quiet.QuietHours
		same.Days, same.Urgent = nil, []notify.EventType{}
		again.QuietHours = &same
		if saved := save(t, s, again, ""); saved.Name != again.Name {
			t.Fatalf("saved as %q", saved.Name)
		}
		if n := heads(t, s, quiet.ChannelID); n != 0 {
			t.Errorf("%d go out in quiet hours that did not change", n)
		}
	})
}

func TestWhatIsHeldDoesNotExpire(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		save(t, s, quietNow("nights"), flowURL("a"))
		ids := acceptMany(t, s, 2)
		age(t, s, ids, 2*time.Hour)
		limits := notify.Limits{MaxAge: time.Hour, MaxWaiting: 100}
		if n, err := s.Expire(t.Context(), allShards, limits); n != 0 || err != nil {
			t.Errorf("%d have expired in quiet hours: %v", n, err)
		}
		damage(t, s, `UPDATE notify_deliveries SET held_until = $1 WHERE id = $2`, db.Micros(time.Now().Add(-2*time.Hour)), ids[0])
		if n, err := s.Expire(t.Context(), allShards, limits); n != 1 || err != nil {
			t.Errorf("%d have expired after quiet hours, want 1: %v", n, err)
		}
	})
}

// What is undecided is held by the rules that turn out to take it, and no longer
// than the first of them that has no quiet hours.
func TestQuietHoursOfADecidedRule(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		quietMasked := quietNow("quiet, masked")
		quietMasked.BranchMask = backtracking
		cases := []struct {
			name  string
			rules []notify.Rule
			taken []bool // by those that are undecided
			held  bool
		}{
			{"a quiet one takes it", []notify.Rule{quietMasked}, []bool{true}, true},
			{"of two the quiet one takes it", []notify.Rule{quietMasked, masked("loud")}, []bool{true, false}, true},
			{"of two the other takes it", []notify.Rule{quietMasked, masked("loud")}, []bool{false, true}, false},
			{"both take it", []notify.Rule{quietMasked, masked("loud")}, []bool{true, true}, false},
			{"a quiet one had it, and the other takes it", []notify.Rule{quietNow("quiet"), masked("loud")}, []bool{true}, false},
			{"a quiet one had it, and the other does not", []notify.Rule{quietNow("quiet"), masked("loud")}, []bool{false}, true},
			{"a loud one had it", []notify.Rule{someRule("loud"), quietMasked}, []bool{true}, false},
		}
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				var made []notify.RuleInfo
				for _, r := range c.rules {
					r.ProjectKey = fmt.Sprint("P", i)
					made = append(made, save(t, s, r, flowURL(fmt.Sprint(i))))
				}
				e := push("next")
				e.Project.Key = fmt.Sprint("P", i)
				accept(t, s, webhook(c.name, e))
				open := undecided(t, s)
				if len(open) != 1 {
					t.Fatalf("%d deliveries are undecided", len(open))
				}
				for n, rule := range open[0].Undecided {
					settle(t, s, open[0], notify.Decision{RuleID: rule, Taken: c.taken[n]})
				}
				d, _, err := s.Delivery(t.Context(), open[0].ID)
				if err != nil || d.State != notify.Waiting || d.Held(time.Now()) != c.held {
					t.Errorf("state %s, held until %s: %v", d.State, d.HeldUntil, err)
				}
				for _, r := range made {
					if err := s.DeleteRule(t.Context(), ada, r.ID, 0); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}

// Another node took the quiet hours away a moment ago: what is decided here is not
// held by them.
func TestADecisionHoldsByTheQuietHoursOfNow(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if s.db.Dialect() == db.SQLite {
			return // has no other nodes
		}
		r := quietNow("nights")
		r.BranchMask = backtracking
		quiet := save(t, s, r, flowURL("a"))
		accept(t, s, webhook("w1", push("dev")))
		here := newStore(t, s.db)
		d := undecided(t, here)[0]
		r = quiet.Rule
		r.QuietHours = nil
		save(t, s, r, "")
		settle(t, here, d, notify.Decision{RuleID: quiet.ID, Taken: true})
		if n := heads(t, s, quiet.ChannelID); n != 1 {
			t.Errorf("%d go out, want the one that was decided", n)
		}
	})
}
