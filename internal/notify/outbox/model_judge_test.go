package outbox

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
)

// judge compares what was acknowledged with what the chat platform has.
func (m *model) judge(r *rapid.T, steady bool) {
	all, err := m.node.ListDeliveries(m.t.Context(), notify.DeliveryFilter{Limit: 1000})
	if err != nil {
		r.Fatal(err)
	}
	byEvent := make(map[string][]*notify.Delivery)
	for _, d := range all {
		byEvent[d.Event.URL] = append(byEvent[d.Event.URL], d)
	}
	m.sink.mu.Lock() // a request of a process that was cut off may still end
	got := make(map[string]int)
	for host, taken := range m.sink.taken {
		first := slices.Clone(taken[:0])
		for _, name := range taken {
			got[name]++
			if !slices.Contains(first, name) {
				first = append(first, name)
			}
		}
		// One message an interruption may be repeated, which is a digest at most.
		posts := slices.Clone(m.sink.posts[host])
		slices.Sort(posts)
		if repeats := len(m.sink.posts[host]) - len(slices.Compact(posts)); repeats > m.breaks+m.changes {
			r.Errorf("%s has %d repeats after %d crashes and %d changes: %v", host, repeats, m.breaks, m.changes, taken)
		}
		if steady && !slices.IsSorted(first) {
			r.Errorf("%s has them out of order: %v", host, first)
		}
	}
	m.sink.mu.Unlock()
	m.judgeCounters(r)
	m.sink.mu.Lock()
	defer m.sink.mu.Unlock()
	for _, e := range m.events {
		// What a rule would have refused may have ended before that was decided.
		var early []*notify.Delivery
		for _, d := range byEvent[e.name] {
			if slices.Equal(d.Rules, []int64{e.refuses}) {
				early = append(early, d)
			}
		}
		if len(early) > 0 && (steady || !e.ended && !e.off[e.refuses]) {
			r.Errorf("event %s has a delivery of rule %d, which refuses it: %s (%s)", e.name, e.refuses, early[0].State, early[0].Reason)
		}
		if n := len(byEvent[e.name]) - len(early); n < e.wants || n > e.takes || steady && n != e.wants {
			r.Errorf("event %s has %d deliveries, want %d, or up to %d where rules that shared a channel do no more", e.name, n, e.wants, e.takes)
		}
		for _, d := range byEvent[e.name] {
			m.judgeDelivery(r, e, d, got[e.name])
		}
	}
}

// judgeCounters holds the counters of all processes together against each other:
// as nothing waits any more, as many ended as were matched. A counter follows its
// commit in a moment.
func (m *model) judgeCounters(r *rapid.T) {
	for until := time.Now().Add(patience); ; {
		var matched, ended float64
		for _, c := range m.counters {
			families, err := c.Gather()
			if err != nil {
				r.Fatal(err)
			}
			for _, f := range families {
				for _, x := range f.GetMetric() {
					switch f.GetName() {
					case "outrigger_notify_matched_total":
						matched += x.GetCounter().GetValue()
					case "outrigger_notify_deliveries_total":
						ended += x.GetCounter().GetValue()
					}
				}
			}
		}
		if matched == ended {
			return
		}
		if time.Now().After(until) {
			r.Fatalf("%v deliveries were matched and %v ended, but none waits", matched, ended)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func (m *model) judgeDelivery(r *rapid.T, e *modelEvent, d *notify.Delivery, got int) {
	excused := false
	switch d.State {
	case notify.Delivered:
		excused = got >= 1
	case notify.Cancelled:
		excused = e.ended || !slices.ContainsFunc(d.Rules, func(id int64) bool { return !e.off[id] })
	case notify.Failed:
		excused = m.sink.fives[e.name] >= maxTries || e.ended && strings.HasPrefix(d.Reason, "expired")
	}
	if !excused {
		r.Errorf("%s for the rules %v is %s (%s); the platform has it %d times; rules off since: %v", e.name, d.Rules, d.State, d.Reason, got, e.off)
	}
}
