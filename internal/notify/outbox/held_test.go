package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
)

// hold puts messages into the queue that quiet hours hold, of rule 0 and perhaps
// others, all on its channel.
func (w *world) hold(until time.Duration, rules []int64, names ...string) {
	for _, n := range names {
		w.Enqueued([]*notify.Delivery{w.queue.add(0, n, func(d *notify.Delivery) {
			d.Rules, d.HeldUntil = rules, w.begun.Add(until)
		})})
	}
}

// runPolled is run with what looks now and then for what has become due.
func runPolled(t *testing.T, fn func(w *world)) {
	run(t, func(w *world) {
		ctx, stop := context.WithCancel(context.Background())
		w.polling.Go(func() { w.poll(ctx) })
		fn(w)
		stop()
		w.polling.Wait()
	})
}

func TestQuietHoursEndWithADigest(t *testing.T) {
	runPolled(t, func(w *world) {
		w.hold(8*time.Hour, []int64{0}, "1", "2", "3")
		w.expect(t, 8*time.Hour-time.Second)
		w.expect(t, 2*time.Second, "c0/1/2/3 at 8h0m0s")
		if got := w.states(1, 2, 3); got != "delivered delivered delivered" {
			t.Errorf("states %s", got)
		}
	})
}

// More than one digest takes go out as several, and one alone as itself.
func TestQuietHoursOfMany(t *testing.T) {
	runPolled(t, func(w *world) {
		w.hold(time.Hour, []int64{0}, "1", "2", "3", "4", "5", "6")
		w.expect(t, time.Hour+10*time.Second, "c0/1/2/3/4/5 at 1h0m0s", "c0/6 at 1h0m0s")
	})
}

// What one rule holds does not hold what another sends, and the other way round.
func TestQuietHoursHoldNoOtherMessage(t *testing.T) {
	runPolled(t, func(w *world) {
		w.hold(time.Hour, []int64{0}, "q1")
		w.add(0, "now1")
		w.hold(time.Hour, []int64{0}, "q2")
		w.add(0, "now2")
		w.expect(t, time.Minute, "c0/now1 at 0s", "c0/now2 at 0s")
		w.expect(t, time.Hour, "c0/q1/q2 at 1h0m0s")
		w.answers(503, "")
		w.add(0, "now3")
		w.expect(t, 0, "c0/now3 at 1h1m0s")
	})
}

// A channel that always has something in memory to send still sends what is
// released.
func TestQuietHoursEndOnABusyChannel(t *testing.T) {
	runPolled(t, func(w *world) {
		w.hold(20*time.Second, []int64{0}, "q1", "q2")
		w.addMany(0, 0, 8)
		for i := range 40 {
			w.add(0, fmt.Sprint(8+i))
			pass(time.Second)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		at := slices.IndexFunc(w.sent, func(s string) bool { return strings.HasPrefix(s, "c0/q1/q2 at 2") })
		if at < 0 {
			t.Errorf("no digest after 20 s: %q", w.sent)
		}
	})
}

// Each set of rules has a digest of its own, however they are mixed.
func TestQuietHoursOfSeveralRules(t *testing.T) {
	runPolled(t, func(w *world) {
		w.hold(time.Hour, []int64{0}, "a1")
		w.hold(time.Hour, []int64{0, 1}, "b1")
		w.hold(time.Hour, []int64{0}, "a2")
		w.hold(2*time.Hour, []int64{0}, "c1")
		w.hold(time.Hour, []int64{0, 1}, "b2")
		w.hold(2*time.Hour, []int64{0}, "c2")
		w.expect(t, 3*time.Hour, "c0/a1/a2 at 1h0m0s", "c0/b1/b2 at 1h0m0s", "c0/c1/c2 at 2h0m0s")
	})
}

// A digest that is not taken is sent again as it was.
func TestADigestOfQuietHoursIsRetried(t *testing.T) {
	runPolled(t, func(w *world) {
		w.answers(429, "")
		w.hold(time.Hour, []int64{0}, "a1")
		w.hold(time.Hour, []int64{0, 1}, "b1")
		w.hold(time.Hour, []int64{0}, "a2")
		w.expect(t, time.Hour+time.Second, "c0/a1/a2 at 1h0m0s")
		w.answers(202, "")
		w.expect(t, time.Minute, "c0/a1/a2 at 1h0m5s", "c0/b1 at 1h0m5s")
	})
}
