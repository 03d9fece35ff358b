package outbox

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// Ids are given again when retention has deleted the last delivery.
func TestIDsThatAreGivenAgain(t *testing.T) {
	run(t, func(w *world) {
		w.add(0, "1", "2")
		w.expect(t, 10*time.Second, "c0/1 at 0s", "c0/2 at 0s")
		w.queue.mu.Lock()
		w.queue.deliveries = nil
		w.queue.mu.Unlock()
		w.add(0, "3", "4", "5")
		w.expect(t, 0, "c0/3 at 10s", "c0/4 at 10s", "c0/5 at 10s")
	})
}

func TestWhoLostTheShardSendsNoMore(t *testing.T) {
	run(t, func(w *world) {
		w.queue.conflict = true // though the lease is still good by the own clock
		w.add(0, "1", "2")
		w.expect(t, time.Hour, "c0/1 at 0s")
		w.add(0, "3")
		w.add(1, "4")
		w.expect(t, time.Hour)
	})
}

// Another node saved the rule and took its first event; this one, which sends
// it, has not read the rules again yet.
func TestARuleThatIsNotKnownYetCancelsNothing(t *testing.T) {
	run(t, func(w *world) {
		w.queue.mu.Lock()
		w.queue.latest = w.queue.rules
		w.queue.rules, _ = new(notify.RuleSet).Next(0, nil)
		w.queue.mu.Unlock()
		w.add(0, "1")
		w.expect(t, time.Second, "c0/1 at 0s")
	})
}

// What is cancelled takes no turn from what is sent.
func TestCancellingIsNotPaced(t *testing.T) {
	run(t, func(w *world) {
		w.answers(503, "")
		for i := range 100 {
			w.add(0, fmt.Sprint(i))
		}
		w.expect(t, 0, "c0/0 at 0s")
		w.answers(202, "")
		w.queue.mu.Lock()
		for _, d := range w.queue.deliveries {
			d.Rules = []int64{99} // which is not there any more
		}
		w.queue.mu.Unlock()
		w.Moved(1)
		w.add(0, "kept")
		w.expect(t, 5*time.Second, "c0/kept at 5s")
	})
}

func TestABrokenChannelHoldsNoMemory(t *testing.T) {
	run(t, func(w *world) {
		w.answers(404, "")
		w.add(0, "1", "2", "3")
		w.expect(t, 2*time.Minute, "c0/1 at 0s", "c0/1 at 10s", "c0/1 at 1m10s")
		w.add(0, "4")
		pass(time.Second)
		if n := w.handed.Load(); n != 0 {
			t.Errorf("%d deliveries of a broken channel take the place of others", n)
		}
	})
}

// The last rule of a URL is deleted, and a new one has it again.
func TestAURLThatComesBack(t *testing.T) {
	run(t, func(w *world) {
		w.queue.urls = map[int64]string{1: ""}
		w.Enqueued([]*notify.Delivery{w.queue.add(0, "1", func(d *notify.Delivery) { d.Rules = []int64{99} })})
		w.expect(t, time.Second)
		if w.queue.state(1) != "cancelled" {
			t.Fatalf("state %s", w.queue.state(1))
		}
		w.queue.mu.Lock()
		w.queue.urls = nil
		w.queue.mu.Unlock()
		w.add(0, "2")
		w.expect(t, time.Second, "c0/2 at 1s")
	})
}

// The URL is entered again on another node, which opens the gate.
func TestAGateThatAnotherNodeOpens(t *testing.T) {
	run(t, func(w *world) {
		w.answers(429, "", "Retry-After", "3600")
		w.add(0, "1")
		w.expect(t, 0, "c0/1 at 0s")
		poll := func() {
			if err := w.wakeChannels(t.Context(), []int{1}); err != nil {
				t.Fatal(err)
			}
		}
		poll()
		w.expect(t, time.Minute)
		w.answers(202, "")
		w.queue.mu.Lock()
		w.queue.channels[1] = &notify.Channel{ID: 1, State: notify.Open}
		w.queue.mu.Unlock()
		poll()
		w.expect(t, 0, "c0/1 at 1m0s")
	})
}

// No proxy is in the way: a 407 is that host's own, and no other's business.
func TestARefusalOfOneHostPausesNoOther(t *testing.T) {
	run(t, func(w *world) {
		w.answer = func(channel, _ string) (int, http.Header, string, error) {
			if channel == "c0" {
				return 407, http.Header{"Retry-After": {"86400"}}, "", nil
			}
			return 202, nil, "", nil
		}
		w.add(0, "1")
		w.expect(t, time.Second, "c0/1 at 0s")
		w.add(1, "2")
		w.expect(t, time.Second, "c1/2 at 1s")
	})
}

// A message that fails for good is logged with its reason: no later one is.
func TestAFailedMessageIsLogged(t *testing.T) {
	run(t, func(w *world) {
		var said bytes.Buffer
		w.Log = slog.New(slog.NewTextHandler(&said, nil))
		w.answers(400, "invalid_blocks")
		w.add(0, "1")
		w.expect(t, time.Second, "c0/1 at 0s")
		if got := w.states(1); got != "failed" {
			t.Fatal(got)
		}
		if n := strings.Count(said.String(), "level=WARN"); n != 1 || !strings.Contains(said.String(), "invalid_blocks") || !strings.Contains(said.String(), "delivery=1") {
			t.Errorf("it is said %d times:\n%s", n, said.String())
		}
	})
}

// Our own proxy refuses: that is no channel's fault, so all wait, it is said
// once, and one request an interval asks whether it is over.
func TestTheProxyPausesEverything(t *testing.T) {
	run(t, func(w *world) {
		var said bytes.Buffer
		w.Log = slog.New(slog.NewTextHandler(&said, nil))
		w.mu.Lock()
		w.answer = func(string, string) (int, http.Header, string, error) {
			return 0, nil, "", fmt.Errorf("the proxy proxy.example.com answered 407: %w", egress.ErrProxy)
		}
		w.mu.Unlock()
		w.add(0, "1", "2")
		w.expect(t, 0, "c0/1 at 0s")
		w.add(1, "3")
		w.expect(t, 4*time.Second)
		pass(29 * time.Second)
		if asked := w.times(); strings.Count(asked, "@5s") != 1 || strings.Count(asked, "@") != 1 {
			t.Errorf("after 5 s was sent %s, want one message", asked)
		}
		w.answers(202, "")
		pass(20 * time.Second)
		if got := w.states(1, 2, 3); got != "delivered delivered delivered" {
			t.Errorf("after the pause: %s", got)
		}
		if c := w.queue.channels[1]; c.Refused != 0 || c.GateStep != 0 || !c.FailingSince.IsZero() {
			t.Errorf("the channel is blamed: %+v", c)
		}
		if n := strings.Count(said.String(), "all channels that go by it wait"); n != 1 || !strings.Contains(said.String(), "lets requests through again") {
			t.Errorf("it is said %d times:\n%s", n, said.String())
		}
	})
}

// What NO_PROXY names goes past the proxy, so it does not wait for it, and says
// nothing about it.
func TestDirectChannelsDoNotWaitForTheProxy(t *testing.T) {
	run(t, func(w *world) {
		w.ByProxy = func(url string) bool { return !strings.Contains(url, "c1") }
		w.mu.Lock()
		w.answer = func(channel, _ string) (int, http.Header, string, error) {
			if channel == "c1" {
				return 202, nil, "", nil
			}
			return 0, nil, "", fmt.Errorf("the proxy proxy.example.com answered 407: %w", egress.ErrProxy)
		}
		w.mu.Unlock()
		w.add(0, "1")
		w.expect(t, 0, "c0/1 at 0s")
		w.add(1, "2", "3")
		w.expect(t, 0, "c1/2 at 0s", "c1/3 at 0s")
		w.add(2, "4")
		w.expect(t, 4*time.Second)
		if got := w.ProxyTrouble(); !got.Since.Equal(w.begun) || got.Reason != "the proxy proxy.example.com answered 407: cannot be used" {
			t.Errorf("the trouble is %+v", got)
		}
		w.answers(202, "")
		pass(time.Minute)
		if got := w.ProxyTrouble(); !got.Since.IsZero() || w.states(1, 2, 3, 4) != "delivered delivered delivered delivered" {
			t.Errorf("afterwards: %+v, %s", got, w.states(1, 2, 3, 4))
		}
	})
}

// Who tries a channel again has the proxy asked at once.
func TestTryAgainAsksTheProxy(t *testing.T) {
	run(t, func(w *world) {
		w.mu.Lock()
		w.answer = func(string, string) (int, http.Header, string, error) { return 0, nil, "", egress.ErrProxy }
		w.mu.Unlock()
		w.add(0, "1")
		w.expect(t, time.Minute, "c0/1 at 0s", "c0/1 at 5s", "c0/1 at 35s")
		w.answers(202, "")
		w.Moved(1)
		w.expect(t, 0, "c0/1 at 1m0s")
	})
}

// Some servers repeat in an error page what they were asked for.
func TestAnAnswerThatRepeatsTheURL(t *testing.T) {
	const path, query = "/services/T0/B0/Zm9vYmFyYmF6cXV4Zm9v", "sv=1.0&sig=AbC-dEf%2FghIjKlMnOpQrSt_0123"
	run(t, func(w *world) {
		w.queue.urls = map[int64]string{1: "https://c0" + path + "?" + query}
		w.answers(404, "Cannot POST "+path+" ("+query+"), nor sig AbC-dEf/ghIjKlMnOpQrSt_0123, nor Zm9vYmFyYmF6cXV4Zm9v")
		w.add(0, "1")
		pass(2 * time.Minute)
		w.queue.mu.Lock()
		defer w.queue.mu.Unlock()
		for _, text := range []string{w.queue.deliveries[0].Reason, w.queue.channels[1].Reason, w.queue.answer} {
			if text == "" || strings.Contains(text, "Zm9v") || strings.Contains(text, "AbC") {
				t.Errorf("kept %q", text)
			}
		}
	})
}

// A long error page is stored up to a cut, which may be within the URL.
func TestALongAnswerThatRepeatsTheURL(t *testing.T) {
	const target = "/flows/T0?sv=1.0&sig=AbC-dEfGhIjKlMnOpQrStUvWxYz0123456789"
	for name, page := range map[string]string{
		"cut":      strings.Repeat("x", work.MaxAnswer-len(target)/2) + target + strings.Repeat("x", 100),
		"its part": strings.Repeat("x", work.MaxAnswer-20) + "AbC-dEfGhIjKlMnOpQrStUvWxYz0123456789" + strings.Repeat("x", 100),
		// What is masked is shorter, and brings what follows before the cut.
		"many": strings.Repeat(target, 100),
	} {
		t.Run(name, func(t *testing.T) {
			chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, page, http.StatusNotFound)
			}))
			defer chat.Close()
			b := &Outbox{Options: Options{Client: toThisMachine(t), Clock: time.Now}}
			a := b.Post(t.Context(), secret.New(chat.URL+target), []byte("{}"))
			if a.Status != http.StatusNotFound || a.Answer == "" || len(a.Answer) > work.MaxAnswer {
				t.Errorf("%d with %d bytes", a.Status, len(a.Answer))
			}
			if strings.Contains(a.Answer, "AbC") {
				t.Errorf("kept the end %q", a.Answer[max(0, len(a.Answer)-80):])
			}
		})
	}
}
