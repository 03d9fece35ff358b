package outbox

import (
	"net/http"
	"testing"
	"time"
)

// refuses has the platform answer a status to messages with these names, and
// 202 to all others.
func (w *world) refuses(status int, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = func(_, message string) (int, http.Header, string, error) {
		for _, n := range names {
			if message == "/"+n {
				return status, nil, "", nil
			}
		}
		return 202, nil, "", nil
	}
}

func TestAMessageThatAloneGetsServerErrorsHoldsUpNoOther(t *testing.T) {
	run(t, func(w *world) {
		w.refuses(500, "poison")
		w.add(0, "poison", "good", "more")
		w.expect(t, 20*time.Second, "c0/poison at 0s", "c0/poison at 5s", "c0/good at 5s", "c0/more at 5s")
		w.add(0, "later")
		w.expect(t, 24*time.Hour, "c0/later at 20s", "c0/poison at 35s", "c0/poison at 2m35s", "c0/poison at 12m35s",
			"c0/poison at 42m35s", "c0/poison at 1h42m35s", "c0/poison at 2h42m35s", "c0/poison at 3h42m35s", "c0/poison at 4h42m35s")
		if got := w.states(1, 2, 3, 4); got != "failed delivered delivered delivered" {
			t.Errorf("states %s", got)
		}
		if n := w.queue.deliveries[0].Attempts; n != maxTries {
			t.Errorf("it failed after %d tries", n)
		}
	})
}

// The platform mends what it had against the message.
func TestAMessageThatWasSetAsideIsDelivered(t *testing.T) {
	run(t, func(w *world) {
		w.refuses(500, "odd")
		w.add(0, "odd", "good")
		w.expect(t, 30*time.Second, "c0/odd at 0s", "c0/odd at 5s", "c0/good at 5s")
		w.answers(202, "")
		w.expect(t, time.Hour, "c0/odd at 35s")
		if got := w.states(1, 2); got != "delivered delivered" {
			t.Errorf("states %s", got)
		}
	})
}

// Where nothing else shows whether it is the message or an outage, its tries
// do not count against it, and what comes later need not wait for it.
func TestAMessageThatIsAloneInAnOutage(t *testing.T) {
	run(t, func(w *world) {
		w.answers(503, "")
		w.add(0, "1")
		w.expect(t, 2*time.Hour, "c0/1 at 0s", "c0/1 at 5s", "c0/1 at 35s", "c0/1 at 2m35s", "c0/1 at 12m35s", "c0/1 at 42m35s", "c0/1 at 1h42m35s")
		pass(38 * time.Hour)
		if got := w.states(1); got != "waiting" {
			t.Errorf("after 40 hours it is %s", got)
		}
		w.times()
		w.add(0, "2")
		w.expect(t, time.Second, "c0/2 at 40h0m0s")
		w.answers(202, "")
		pass(2 * time.Minute)
		if got := w.states(1, 2); got != "delivered delivered" {
			t.Errorf("states %s", got)
		}
	})
}

// Retry-After of a message that was set aside is obeyed, and is not the
// channel's.
func TestRetryAfterOfAMessageThatWasSetAside(t *testing.T) {
	run(t, func(w *world) {
		w.mu.Lock()
		w.answer = func(_, message string) (int, http.Header, string, error) {
			if message == "/poison" {
				return 503, http.Header{"Retry-After": {"3600"}}, "", nil
			}
			return 202, nil, "", nil
		}
		w.mu.Unlock()
		w.add(0, "poison", "good")
		w.expect(t, 2*time.Hour-time.Second, "c0/poison at 0s", "c0/poison at 1h0m0s")
		w.expect(t, time.Second, "c0/good at 2h0m0s", "c0/poison at 2h0m0s")
		w.add(0, "more")
		w.expect(t, time.Hour-time.Second, "c0/more at 2h0m0s")
		w.expect(t, time.Second, "c0/poison at 3h0m0s")
	})
}

// The store remembers what was set aside.
func TestWhatWasSetAsideOutlivesAReload(t *testing.T) {
	run(t, func(w *world) {
		w.refuses(500, "poison")
		w.add(0, "poison", "good")
		w.expect(t, 10*time.Second, "c0/poison at 0s", "c0/poison at 5s", "c0/good at 5s")
		w.Moved(1)
		w.add(0, "more")
		w.expect(t, 40*time.Second, "c0/more at 10s", "c0/poison at 35s")
	})
}
