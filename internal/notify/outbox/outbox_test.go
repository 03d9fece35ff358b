package outbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/notify"
)

// world is an outbox between a queue in memory and a scripted chat platform.
type world struct {
	*Outbox
	queue  *queue
	mu     sync.Mutex
	sent   []string // "channel/message at seconds"
	begun  time.Time
	answer func(channel, message string) (status int, header http.Header, body string, err error)
}

// run starts an outbox with one shard held, calls fn, and ends it.
func run(t *testing.T, fn func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{queue: newQueue(), begun: time.Now()}
		w.answer = func(string, string) (int, http.Header, string, error) { return 202, nil, "", nil }
		w.Outbox = New(Options{
			Queue: w.queue, Client: w, Message: func(_ context.Context, d *notify.Delivery) []byte { return []byte(d.Event.URL) }, Digest: digestNames,
			Alone: true, Rate: 1, Burst: 4, Clock: time.Now, Random: func() float64 { return 0 },
			Log: slog.New(slog.DiscardHandler),
		})
		ctx, stop := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { w.runShard(ctx, 1, &lease{}) })
		synctest.Wait()
		fn(w)
		stop()
		ended.Wait()
	})
}

func (w *world) PostJSON(_ context.Context, target string, body []byte) (*http.Response, error) {
	host := hostOf(target)
	w.mu.Lock()
	w.sent = append(w.sent, fmt.Sprintf("%s%s at %v", host, body, time.Since(w.begun)))
	answer := w.answer
	w.mu.Unlock()
	status, header, text, err := answer(host, string(body))
	if err != nil {
		return nil, err
	}
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func hostOf(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	return u.Host
}

// digestNames is a digest with room for five events.
func digestNames(_ context.Context, deliveries []*notify.Delivery) (names []byte, taken int) {
	taken = min(len(deliveries), 5)
	for _, d := range deliveries[:taken] {
		names = append(names, d.Event.URL...)
	}
	return names, taken
}

// pass lets the fake clock run on, and everything that it sets going settle.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// expect waits for a time and compares what was sent since the last call.
func (w *world) expect(t *testing.T, after time.Duration, want ...string) {
	t.Helper()
	pass(after)
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.sent, func(a, b string) int { return cmp.Compare(a[:2], b[:2]) }) // channels have no order between them
	if !slices.Equal(w.sent, want) {
		t.Errorf("sent\n  %s\nwant\n  %s", strings.Join(w.sent, "\n  "), strings.Join(want, "\n  "))
	}
	w.sent = nil
}

// lease is always good.
type lease struct{ bad bool }

func (l *lease) Name() string            { return "outbox/01" }
func (l *lease) Fence() int64            { return 1 }
func (l *lease) Good(time.Duration) bool { return !l.bad }
func (l *lease) Lost() <-chan struct{}   { return nil }

func (w *world) add(rule int64, names ...string) {
	for _, n := range names {
		w.Enqueued([]*notify.Delivery{w.queue.add(rule, n)})
	}
}

func (w *world) answers(status int, body string, header ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = func(string, string) (int, http.Header, string, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return status, h, body, nil
	}
}

func TestPaceAndOrder(t *testing.T) {
	run(t, func(w *world) {
		w.add(0, "1", "2", "3", "4", "5", "6")
		w.expect(t, 3*time.Second, "c0/1 at 0s", "c0/2 at 0s", "c0/3 at 0s", "c0/4 at 0s", "c0/5 at 1s", "c0/6 at 2s")
	})
}

func TestWhatWaitedBeforeTheStartGoesFirst(t *testing.T) {
	run(t, func(w *world) {
		w.queue.add(0, "1")
		w.queue.add(0, "2")
		w.add(0, "3")
		w.expect(t, 0, "c0/1 at 0s", "c0/2 at 0s", "c0/3 at 0s")
	})
}

func TestGateStepsAndStartsAgain(t *testing.T) {
	run(t, func(w *world) {
		w.answers(429, "")
		w.add(0, "1", "2")
		w.expect(t, 0, "c0/1 at 0s")
		w.expect(t, 5*time.Second, "c0/1 at 5s")
		w.expect(t, 30*time.Second, "c0/1 at 35s")
		w.expect(t, 2*time.Minute, "c0/1 at 2m35s")
		w.answers(202, "")
		w.expect(t, 10*time.Minute, "c0/1 at 12m35s", "c0/2 at 12m35s")
		w.answers(429, "")
		w.add(0, "3")
		w.expect(t, 5*time.Second, "c0/3 at 12m35s", "c0/3 at 12m40s")
	})
}

func TestRetryAfterIsObeyedInFull(t *testing.T) {
	run(t, func(w *world) {
		w.answers(429, "", "Retry-After", "7200")
		w.add(0, "1", "2")
		w.add(1, "other")
		w.expect(t, 0, "c0/1 at 0s", "c1/other at 0s")
		w.answers(202, "")
		w.expect(t, 2*time.Hour-time.Second)
		w.expect(t, time.Second, "c0/1 at 2h0m0s", "c0/2 at 2h0m0s", "c1/other at 2h0m0s")
	})
}

func TestOneSlowChannelHoldsUpNoOther(t *testing.T) {
	run(t, func(w *world) {
		w.answer = func(channel, _ string) (int, http.Header, string, error) {
			if channel == "c0" {
				<-time.After(9 * time.Second)
			}
			return 202, nil, "", nil
		}
		w.add(0, "slow")
		w.add(1, "quick")
		w.expect(t, time.Millisecond, "c0/slow at 0s", "c1/quick at 0s")
		w.expect(t, 10*time.Second)
		if w.queue.state(1) != "delivered" {
			t.Error("the slow one did not get through")
		}
	})
}

// A platform that says that the workflow is off may be in the middle of a
// deployment, so it is asked again before its channel counts as broken; and a
// broken channel opens by itself.
func TestABrokenChannelIsProbedAndOpens(t *testing.T) {
	run(t, func(w *world) {
		w.answers(400, `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"It is off."}}`)
		w.add(0, "1", "2")
		w.expect(t, 59*time.Second, "c0/1 at 0s", "c0/1 at 10s")
		if s := w.standing(1); s != "waiting" {
			t.Errorf("after two refusals the channel is %s", s)
		}
		w.expect(t, 72*time.Hour, "c0/1 at 1m10s", "c0/1 at 1h1m10s", "c0/1 at 7h1m10s", "c0/1 at 31h1m10s", "c0/1 at 55h1m10s")
		c := w.queue.channels[1]
		if c.State != notify.Broken || !strings.Contains(c.Inside, "It is off.") || !c.BrokenAt.Equal(w.begun.Add(70*time.Second)) {
			t.Errorf("channel %+v", c)
		}
		w.answers(202, "")
		w.expect(t, 24*time.Hour, "c0/1 at 79h1m10s", "c0/2 at 79h1m10s")
		if c := w.queue.channels[1]; c.State != notify.Open || c.Reason != "" || c.Refused != 0 {
			t.Errorf("after a 2xx the channel is %+v", c)
		}
	})
}

// An administrator tries again: the store opens the channel and says so.
func TestABrokenChannelIsTriedAgainAtOnce(t *testing.T) {
	run(t, func(w *world) {
		w.answers(404, "")
		w.add(0, "1", "2")
		w.expect(t, 30*time.Minute, "c0/1 at 0s", "c0/1 at 10s", "c0/1 at 1m10s")
		w.answers(202, "")
		w.queue.mu.Lock()
		w.queue.channels[1] = &notify.Channel{ID: 1, State: notify.Open}
		w.queue.mu.Unlock()
		w.Moved(1)
		w.expect(t, time.Second, "c0/1 at 30m0s", "c0/2 at 30m0s")
	})
}

func TestFiveRefusalsInARowBreakTheChannel(t *testing.T) {
	run(t, func(w *world) {
		w.answers(413, "")
		w.add(0, "1", "2", "3", "4", "5", "6")
		w.expect(t, time.Minute, "c0/1 at 0s", "c0/2 at 0s", "c0/3 at 0s", "c0/4 at 0s", "c0/5 at 1s")
		if w.queue.state(5) != "failed" || w.queue.state(6) != "waiting" || w.queue.channels[1].State != notify.Broken {
			t.Errorf("5th %s, 6th %s, channel %s", w.queue.state(5), w.queue.state(6), w.queue.channels[1].State)
		}
	})
}

func TestARefusalDoesNotCountAfterA2xx(t *testing.T) {
	run(t, func(w *world) {
		for i := range 12 {
			w.answers([]int{400, 400, 400, 400, 202}[i%5], "")
			w.add(0, fmt.Sprint(i))
			pass(2 * time.Second)
		}
		if w.queue.channels[1].State != notify.Open {
			t.Error("broken, though no five refusals came in a row")
		}
	})
}

func TestAnOutageFailsNothing(t *testing.T) {
	run(t, func(w *world) {
		w.answers(500, "")
		w.add(0, "1", "2", "3")
		pass(30 * time.Hour)
		w.sent = nil
		w.answers(202, "")
		w.expect(t, 2*time.Hour, w.sentInOrder(t, "c0/1", "c0/2", "c0/3")...)
	})
}

// sentInOrder waits until something is sent and gives the lines that expect
// wants, whatever the minute was.
func (w *world) sentInOrder(t *testing.T, names ...string) []string {
	t.Helper()
	pass(2 * time.Hour)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sent) != len(names) {
		t.Fatalf("sent %v, want %v", w.sent, names)
	}
	for i, n := range names {
		if !strings.HasPrefix(w.sent[i], n+" ") {
			t.Errorf("message %d is %s, want %s", i, w.sent[i], n)
		}
	}
	return w.sent
}

func TestDisabledRuleCancels(t *testing.T) {
	run(t, func(w *world) {
		w.answers(503, "")
		w.add(0, "1")
		w.expect(t, 0, "c0/1 at 0s")
		w.queue.mu.Lock()
		w.queue.rules, _ = new(notify.RuleSet).Next(2, nil)
		w.queue.mu.Unlock()
		w.expect(t, time.Minute)
		if w.queue.state(1) != "cancelled" {
			t.Errorf("state %s", w.queue.state(1))
		}
	})
}

func TestAResultThatCannotBeKeptIsNoFlood(t *testing.T) {
	run(t, func(w *world) {
		w.queue.refuse = 100
		w.add(0, "1", "2")
		w.expect(t, 50*time.Second, "c0/1 at 0s")
		w.expect(t, 60*time.Second, "c0/2 at 1m40s")
		if w.queue.state(1) != "delivered" {
			t.Errorf("state %s", w.queue.state(1))
		}
	})
}
