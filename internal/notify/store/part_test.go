package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// inChannels are the events that wait on each of the rules' channels, in order, and
// the rules of each.
func inChannels(t *testing.T, s *Store, rules ...notify.RuleInfo) (all []string) {
	t.Helper()
	for _, of := range rules {
		r, err := s.Rule(t.Context(), of.ID)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.NextDeliveries(t.Context(), r.ChannelID, 100)
		if err != nil {
			t.Fatal(err)
		}
		line := r.Name + ":"
		for _, d := range list {
			line += fmt.Sprint(" ", d.EventID, d.Rules)
		}
		all = append(all, line)
	}
	return all
}

// Ten messages wait for three rules of one URL. Each rule that gets another URL
// takes its own along, in order, and leaves the others theirs.
func TestAMessageOfSeveralRulesBecomesTwo(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		counters := prometheus.NewRegistry()
		s.Measure(counters)
		one, two, three := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a")), save(t, s, someRule("three"), flowURL("a"))
		acceptMany(t, s, 10)
		want := func(rules ...[]int64) {
			t.Helper()
			var all []string
			for i, r := range []notify.RuleInfo{one, two, three} {
				line := r.Name + ":"
				for event := 1; event <= 10; event++ {
					line += fmt.Sprint(" ", event, rules[i])
				}
				all = append(all, line)
			}
			if got := inChannels(t, s, one, two, three); !slices.Equal(got, all) {
				t.Errorf("got\n%q\nwant\n%q", got, all)
			}
			addUp(t, s, counters)
		}
		together := []int64{one.ID, two.ID, three.ID}
		want(together, together, together)
		var told []int64
		s.OnChange(func([]*notify.Delivery) {}, func(c int64) { told = append(told, c) })
		moved := save(t, s, one.Rule, flowURL("b")) // the first, which stands in the row
		if !slices.Contains(told, moved.ChannelID) || !slices.Contains(told, two.ChannelID) {
			t.Errorf("told of %v, want both channels", told)
		}
		want([]int64{one.ID}, []int64{two.ID, three.ID}, []int64{two.ID, three.ID})
		r := three.Rule
		r.Format = notify.Slack
		save(t, s, r, flowURL("c"))
		want([]int64{one.ID}, []int64{two.ID}, []int64{three.ID})
		if n := count(t, s, `SELECT count(*) FROM notify_events WHERE needed <> 3`); n != 0 {
			t.Errorf("%d events are not needed by three messages", n)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_delivery_rules`); n != 0 {
			t.Errorf("%d further rules are left", n)
		}
		for _, r := range []notify.RuleInfo{one, two, three} {
			list, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{RuleID: r.ID, Limit: 100})
			if err != nil || len(list) != 10 {
				t.Errorf("rule %s has %d messages, %v", r.Name, len(list), err)
			}
		}
		if _, err := s.Cancel(t.Context(), ada, idsOf(waiting(t, s))); err != nil {
			t.Fatal(err)
		}
		addUp(t, s, counters)
	})
}

// Messages of three rules ended, two of the rules send elsewhere now, and one of them is
// disabled: put back, each goes to where its rules send, and once more to the same.
func TestARedeliveredMessageBecomesTwo(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, two, three := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a")), save(t, s, someRule("three"), flowURL("a"))
		ids := acceptMany(t, s, 3)
		if n, err := s.Cancel(t.Context(), ada, ids); n.Done != 3 || err != nil {
			t.Fatal(n, err)
		}
		save(t, s, one.Rule, flowURL("b"))
		r := three.Rule
		r.Enabled = false
		save(t, s, r, flowURL("c"))
		want := []string{"one:", "two:"}
		for event := 1; event <= 3; event++ {
			want[0] += fmt.Sprint(" ", event, []int64{one.ID})
			want[1] += fmt.Sprint(" ", event, []int64{two.ID, three.ID})
		}
		for range 2 {
			if done, err := s.Redeliver(t.Context(), ada, ids); err != nil || done.Done != len(ids) {
				t.Fatal(done, err)
			}
			if got := inChannels(t, s, one, two); !slices.Equal(got, want) {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
			ids = idsOf(waiting(t, s))
			if _, err := s.Cancel(t.Context(), ada, ids); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func idsOf(list []*notify.Delivery) (ids []int64) {
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}

// A rule gets another URL in the moment in which its message is sent to the old one,
// for it and for another rule: whatever comes of that is the other rule's.
func TestAMessageBecomesTwoWhileItIsSent(t *testing.T) {
	for _, state := range []notify.DeliveryState{notify.Delivered, notify.Failed, notify.Waiting} {
		t.Run(string(state), func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				name, fence := hold(t, s)
				one, two := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a"))
				acceptMany(t, s, 2)
				sent, err := s.NextDeliveries(t.Context(), one.ChannelID, 10)
				if err != nil || len(sent) != 2 {
					t.Fatal(err)
				}
				during(t, s, newStore(t, s.db).changeURL(two, flowURL("b")), func() error {
					return s.SaveResult(t.Context(), &notify.Result{
						Deliveries: sent, State: state, Attempt: &work.Attempt{At: time.Now(), Status: 202}, Lease: name, Fence: fence,
					})
				})
				for _, d := range sent {
					got, _, err := s.Delivery(t.Context(), d.ID)
					if err != nil || got.State != state || got.ChannelID != one.ChannelID {
						t.Errorf("delivery %d is %+v, %v", d.ID, got, err)
					}
				}
				var ofTwo []string
				for _, d := range waiting(t, s) {
					if slices.Contains(d.Rules, two.ID) {
						r, _ := s.Rule(t.Context(), two.ID)
						ofTwo = append(ofTwo, fmt.Sprint(d.EventID, d.Rules, d.ChannelID == r.ChannelID))
					}
				}
				want := []string{fmt.Sprint(2, []int64{two.ID}, true), fmt.Sprint(1, []int64{two.ID}, true)}
				if !slices.Equal(ofTwo, want) {
					t.Errorf("of rule two wait %q, want %q", ofTwo, want)
				}
			})
		})
	}
}

// Two rules get other URLs at once, on two nodes.
func TestTwoRulesLeaveAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		one, two, three := save(t, s, someRule("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a")), save(t, s, someRule("three"), flowURL("a"))
		acceptMany(t, s, 3)
		during(t, s, newStore(t, s.db).changeURL(one, flowURL("b")), func() error {
			_, err := s.SaveRule(t.Context(), ada, two.Rule, flowURL("c"))
			return err
		})
		want := []string{}
		for _, r := range []notify.RuleInfo{one, two, three} {
			want = append(want, fmt.Sprintf("%s: 1 %v 2 %[2]v 3 %[2]v", r.Name, []int64{r.ID}))
		}
		if got := inChannels(t, s, one, two, three); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// What is not decided yet parts when it is: also where it has been sent meanwhile
// for a rule that took it.
func TestWhatIsDecidedLaterBecomesTwo(t *testing.T) {
	for _, sent := range []bool{false, true} {
		t.Run(fmt.Sprint("sent ", sent), func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *Store) {
				counters := prometheus.NewRegistry()
				s.Measure(counters)
				name, fence := hold(t, s)
				one, two := save(t, s, masked("one"), flowURL("a")), save(t, s, someRule("two"), flowURL("a"))
				accept(t, s, webhook("1", push("dev")))
				d := undecided(t, s)[0]
				one = save(t, s, one.Rule, flowURL("b"))
				if sent {
					r := &notify.Result{Deliveries: []*notify.Delivery{d}, State: notify.Delivered, Attempt: &work.Attempt{At: time.Now(), Status: 202}, Lease: name, Fence: fence}
					if err := s.SaveResult(t.Context(), r); err != nil {
						t.Fatal(err)
					}
				}
				settle(t, s, d, notify.Decision{RuleID: one.ID, Taken: true})
				want := []string{fmt.Sprintf("one: 1 [%d]", one.ID), fmt.Sprintf("two: 1 [%d]", two.ID)}
				if sent {
					want[1] = "two:"
				}
				if got := inChannels(t, s, one, two); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
				addUp(t, s, counters)
			})
		})
	}
}
