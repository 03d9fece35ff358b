package outbox

import (
	"testing"
	"time"

	"outrigger/internal/notify"
)

// addUndecided puts a message into the queue that waits for a decision.
func (w *world) addUndecided(rule int64, name string) int64 {
	d := w.queue.add(rule, name, func(d *notify.Delivery) { d.State = notify.Deciding })
	w.Enqueued([]*notify.Delivery{d})
	return d.ID
}

func TestUndecidedKeepsItsPlace(t *testing.T) {
	run(t, func(w *world) {
		w.add(0, "1")
		id := w.addUndecided(0, "2")
		w.add(0, "3")
		w.add(1, "1")
		w.expect(t, 3*time.Second, "c0/1 at 0s", "c1/1 at 0s")
		w.queue.decide(id, true)
		w.Moved(1)
		w.expect(t, 0, "c0/2 at 3s", "c0/3 at 3s")
	})
}

func TestUndecidedThatNoRuleTakesIsPassedOver(t *testing.T) {
	run(t, func(w *world) {
		id := w.addUndecided(0, "1")
		w.add(0, "2", "3")
		w.expect(t, time.Second)
		w.queue.decide(id, false)
		w.Moved(1)
		w.expect(t, 0, "c0/2 at 1s", "c0/3 at 1s")
	})
}

// What another node decides is found by looking again.
func TestDecisionOfAnotherNodeIsFound(t *testing.T) {
	run(t, func(w *world) {
		id := w.addUndecided(0, "1")
		w.add(0, "2")
		w.expect(t, time.Second)
		w.queue.decide(id, true)
		w.expect(t, lookAgain, "c0/1 at 5s", "c0/2 at 5s")
	})
}

func TestWhatWasSetAsideGoesWhileTheQueueIsUndecided(t *testing.T) {
	run(t, func(w *world) {
		w.answers(503, "")
		w.add(0, "1")
		w.expect(t, 6*time.Second, "c0/1 at 0s", "c0/1 at 5s") // set aside: due at 35 s
		w.answers(202, "")
		w.add(0, "2")
		w.expect(t, time.Second, "c0/2 at 6s")
		w.addUndecided(0, "3")
		w.expect(t, 30*time.Second, "c0/1 at 35s")
	})
}

func TestDigestEndsBeforeWhatIsUndecided(t *testing.T) {
	run(t, func(w *world) {
		w.DigestAbove = 2
		w.answers(429, "", "Retry-After", "10")
		w.add(0, "1")
		w.expect(t, time.Second, "c0/1 at 0s")
		w.answers(202, "")
		for _, name := range []string{"2", "3", "4", "5", "6", "7", "8"} {
			w.add(0, name)
		}
		id := w.addUndecided(0, "9")
		for _, name := range []string{"A", "B", "C", "D", "E", "F", "G", "H", "I"} {
			w.add(0, name)
		}
		w.expect(t, 10*time.Second, "c0/1/2/3/4/5 at 10s", "c0/6/7/8 at 10s")
		w.queue.decide(id, true)
		w.Moved(1)
		w.expect(t, time.Second, "c0/9/A/B/C/D at 11s", "c0/E/F/G/H/I at 11s")
	})
}

// What was undecided before this node had the shard gets its time: a node that
// was away for an hour decides before it gives up.
func TestOnlyShardsHeldForLongReleaseWhatIsUndecided(t *testing.T) {
	run(t, func(w *world) {
		for _, step := range []struct {
			wait time.Duration
			want string
		}{{notify.DecideWithin - time.Second, "[] 1m0s"}, {time.Second, "[1] 1m0s"}} {
			pass(step.wait)
			if err := w.releaseUndecided(t.Context()); err != nil {
				t.Fatal(err)
			}
			if w.queue.released != step.want {
				t.Errorf("after %v: %s, want %s", time.Since(w.begun), w.queue.released, step.want)
			}
		}
	})
}
