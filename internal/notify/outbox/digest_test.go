package outbox

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/notify"
)

// addMany puts n messages for rule's channel into the queue, named from first
// on, as one commit.
func (w *world) addMany(rule int64, first, n int) {
	var deliveries []*notify.Delivery
	for i := range n {
		deliveries = append(deliveries, w.queue.add(rule, fmt.Sprint(first+i)))
	}
	w.Enqueued(deliveries)
}

func TestManyThatWaitGoAsDigests(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 3
		w.answers(429, "", "Retry-After", "60")
		w.add(0, "0")
		w.expect(t, 0, "c0/0 at 0s")
		w.addMany(0, 1, 11)
		w.answers(202, "")
		// Digests of five; of the two that are left, each by itself.
		w.expect(t, 2*time.Minute, "c0/0/1/2/3/4 at 1m0s", "c0/5/6/7/8/9 at 1m0s", "c0/10 at 1m0s", "c0/11 at 1m0s")
		if got := w.states(1, 5, 6, 12); got != "delivered delivered delivered delivered" {
			t.Errorf("states %s", got)
		}
	})
}

func TestAFewGoOneByOne(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 4
		w.addMany(0, 1, 4)
		w.expect(t, time.Second, "c0/1 at 0s", "c0/2 at 0s", "c0/3 at 0s", "c0/4 at 0s")
	})
}

// A digest that was not taken is sent again as it was, though more wait now,
// and its members have one fate.
func TestADigestIsSentAgainAsItWas(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 2
		w.answers(429, "")
		w.addMany(0, 1, 3)
		w.expect(t, 0, "c0/1/2/3 at 0s")
		w.addMany(0, 4, 3)
		w.expect(t, 5*time.Second, "c0/1/2/3 at 5s")
		w.answers(413, "")
		w.expect(t, time.Minute, "c0/1/2/3 at 35s", "c0/4/5/6 at 35s")
		if got := w.states(1, 2, 3); got != "failed failed failed" {
			t.Errorf("states %s", got)
		}
		if n := w.queue.deliveries[2].Attempts; n != 3 {
			t.Errorf("a member has %d attempts, want 3", n)
		}
	})
}

// Two server errors set a digest aside with all its members.
func TestADigestIsSetAside(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 2
		w.refuses(500, "1/2/3")
		w.addMany(0, 1, 3)
		w.expect(t, time.Second, "c0/1/2/3 at 0s")
		w.add(0, "4")
		w.expect(t, 20*time.Second, "c0/1/2/3 at 5s", "c0/4 at 5s")
		w.answers(202, "")
		w.expect(t, time.Minute, "c0/1/2/3 at 35s")
		if got := w.states(1, 2, 3, 4); got != "delivered delivered delivered delivered" {
			t.Errorf("states %s", got)
		}
	})
}

// A digest takes no message of a rule that is off, nor of another format.
func TestADigestIsARunOfOneKind(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 2
		w.answers(429, "")
		w.add(0, "0")
		w.expect(t, 0, "c0/0 at 0s")
		w.queue.mu.Lock()
		for i := range 5 {
			d := &notify.Delivery{
				ID: int64(i + 2), ChannelID: 1, Rules: []int64{0}, State: notify.Waiting, Format: notify.Teams,
				Event: &notify.Event{URL: fmt.Sprintf("/%d", i+1)}, Generation: w.queue.rules.Generation,
			}
			if i == 2 {
				d.Format = notify.Slack
			}
			w.queue.deliveries = append(w.queue.deliveries, d)
		}
		w.queue.mu.Unlock()
		w.Moved(1)
		w.answers(202, "")
		w.expect(t, time.Minute, "c0/0/1/2 at 5s", "c0/3 at 5s", "c0/4 at 5s", "c0/5 at 5s")
	})
}
