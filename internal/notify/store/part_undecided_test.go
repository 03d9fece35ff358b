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

// sender has everything that waits on the channel of a rule be delivered, and says
// which events that was.
func sender(t *testing.T, s *Store) func(rule notify.RuleInfo) []string {
	name, fence := hold(t, s)
	return func(rule notify.RuleInfo) (sent []string) {
		t.Helper()
		now, err := s.Rule(t.Context(), rule.ID)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.NextDeliveries(t.Context(), now.ChannelID, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			if d.State != notify.Waiting {
				continue
			}
			r := &notify.Result{Deliveries: []*notify.Delivery{d}, State: notify.Delivered, Attempt: &work.Attempt{At: time.Now(), Status: 202}, Lease: name, Fence: fence}
			if err := s.SaveResult(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, fmt.Sprint(d.EventID))
		}
		return sent
	}
}

// Ten messages wait for rules of one URL: some took them, of others that is not
// decided yet. One that took them gets another URL: it has them there, whether they
// are sent before the decision or after it; and so has each that takes them later.
func TestARuleThatTookAMessageTakesItAlong(t *testing.T) {
	events := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}
	for _, sent := range []bool{false, true} {
		for _, taken := range []bool{false, true} {
			for _, first := range []bool{false, true} {
				t.Run(fmt.Sprintf("sent %v, taken %v, undecided first %v", sent, taken, first), func(t *testing.T) {
					eachStore(t, func(t *testing.T, s *Store) {
						counters := prometheus.NewRegistry()
						s.Measure(counters)
						send := sender(t, s)
						var open, took notify.RuleInfo
						if first {
							open = save(t, s, masked("open"), flowURL("a"))
						}
						took = save(t, s, someRule("took"), flowURL("a"))
						if !first {
							open = save(t, s, masked("open"), flowURL("a"))
						}
						other := save(t, s, masked("other"), flowURL("a"))
						for _, e := range events {
							accept(t, s, webhook(e, push("dev"+e)))
						}
						all := undecided(t, s)
						took = save(t, s, took.Rule, flowURL("b"))
						var got []string
						if sent {
							got = send(took)
							if early := send(open); len(early) > 0 {
								t.Errorf("%v went to a channel of which no rule took them", early)
							}
						}
						for _, d := range all {
							settle(t, s, d, notify.Decision{RuleID: open.ID, Taken: taken, Member: "branchMask"})
						}
						if got = append(got, send(took)...); !slices.Equal(got, events) {
							t.Errorf("the rule that took them has %v", got)
						}
						want := events
						if !taken {
							want = nil
						}
						if got := send(open); !slices.Equal(got, want) {
							t.Errorf("the rule that was open has %v, want %v", got, want)
						}
						for _, d := range all {
							settle(t, s, d, notify.Decision{RuleID: other.ID, Member: "branchMask"})
						}
						if left := waiting(t, s); len(left) > 0 {
							t.Errorf("%d wait", len(left))
						}
						addUp(t, s, counters)
					})
				})
			}
		}
	}
}

// Of three rules of a URL one took a message and two were open; one of these takes it,
// gets another URL, and the message is sent before the third is decided.
func TestARuleThatTookAMessageLaterHasItWhereItSendsNow(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		counters := prometheus.NewRegistry()
		s.Measure(counters)
		send := sender(t, s)
		took := save(t, s, someRule("took"), flowURL("a"))
		second, third := save(t, s, masked("second"), flowURL("a")), save(t, s, masked("third"), flowURL("a"))
		var want []string
		for n := range 10 {
			accept(t, s, webhook(fmt.Sprint(n), push(fmt.Sprint("dev", n))))
			want = append(want, fmt.Sprint(n+1))
		}
		all := undecided(t, s)
		second = save(t, s, second.Rule, flowURL("b"))
		for _, d := range all {
			settle(t, s, d, notify.Decision{RuleID: second.ID, Taken: true})
		}
		for _, rule := range []notify.RuleInfo{took, second} {
			if got := send(rule); !slices.Equal(got, want) {
				t.Errorf("rule %s has %v, want %v", rule.Name, got, want)
			}
		}
		for _, d := range all {
			settle(t, s, d, notify.Decision{RuleID: third.ID, Taken: true})
		}
		if left := waiting(t, s); len(left) > 0 {
			t.Errorf("%d wait again where they were sent", len(left))
		}
		addUp(t, s, counters)
	})
}
