package relay

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/playground/smarthost"
)

// addFrom puts a message of that sender into the queue.
func (w *world) addFrom(sender string, to ...string) int64 {
	w.t.Helper()
	a := w.arrival("Subject: from "+sender+"\r\n\r\nHello\r\n", to...)
	a.sender = sender
	must(w.t, w.queue.accept(w.t.Context(), a))
	return a.id
}

// together has messages be due at once.
func (n *night) together(add func()) {
	n.t.Helper()
	must(n.t, n.queue.SetPaused(n.t.Context(), node, true))
	add()
	must(n.t, n.queue.SetPaused(n.t.Context(), node, false))
}

// 421 to MAIL for a dozen messages of one sender: the twenty of others that wait
// behind them go at once, and those of the sender are tried again as after any
// 4xx.
func TestOneRefusedSenderStopsNobodyElse(t *testing.T) {
	for _, reply := range []string{"421 4.7.0 Too many messages from you", "530 5.7.0 Authentication required", "450 4.1.8 Sender address rejected"} {
		t.Run(reply[:3], func(t *testing.T) {
			atNight(t, setup{}, func(t *testing.T, n *night) {
				n.host.SetFaults(mailFaults{Senders: map[string]string{"bad@example.com": reply}})
				var first int64
				n.together(func() {
					first = n.addFrom("bad@example.com", "b@example.com")
					for range 11 {
						n.addFrom("bad@example.com", "b@example.com")
					}
					for i := range 20 {
						n.addFrom(fmt.Sprintf("good%d@example.com", i%4), "b@example.com")
					}
				})
				n.after(3 * time.Second)
				if got := n.host.Count(); got != 20 {
					t.Fatalf("%d of 20 arrived", got)
				}
				n.after(10 * time.Minute)
				n.sizes(12, 0)
				if m := n.message(first); m.SendCount < 2 || m.LastError != reply {
					t.Errorf("the message is %+v", m)
				}
				n.addFrom("late@example.com", "b@example.com") // behind a pause of 5 min by now
				n.after(time.Second)
				if got := n.host.Count(); got != 21 {
					t.Errorf("a message of another sender waits: %d of 21 arrived", got)
				}
				n.host.SetFaults(mailFaults{})
				n.after(20 * time.Minute)
				n.sizes(0, 0)
				n.empty()
			})
		})
	}
}

// 421 to RCPT for one recipient stops neither other recipients of the message
// nor other messages of the sender.
func TestOneRefusedRecipientStopsNobodyElse(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.host.SetFaults(mailFaults{Recipients: map[string]string{"bad@example.com": "421 4.3.2 Not for that one"}})
		n.together(func() {
			for range 12 {
				n.add("bad@example.com")
			}
			n.add("b@example.com", "bad@example.com", "c@example.com")
			n.add("bad@example.com", "b@example.com")
			for range 20 {
				n.add("b@example.com")
			}
		})
		n.after(10 * time.Second)
		got := 0
		for _, m := range n.host.Messages() {
			got += len(m.To)
		}
		if got != 23 {
			t.Errorf("%d of 23 recipients have their message", got)
		}
		n.sizes(14, 0)
	})
}

// A smarthost that closes the connection at RCPT for every message of a sender,
// each of which is to another recipient, stops no other message: neither what waits
// behind them nor what comes while sending pauses.
func TestConnectionsClosedAtRCPT(t *testing.T) {
	react := func(r smarthost.Request) *smarthost.Reaction {
		if r.Verb == "RCPT" && strings.Contains(r.Line, "@closed.example") {
			return &smarthost.Reaction{Then: smarthost.HangUp}
		}
		return nil
	}
	atNight(t, setup{host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
		n.together(func() {
			for i := range 12 {
				n.addFrom("bad@example.com", fmt.Sprintf("b%d@closed.example", i))
			}
			for range 20 {
				n.addFrom("good@example.com", "b@example.com")
			}
		})
		n.after(3 * time.Second)
		if got := n.host.Count(); got != 20 {
			t.Fatalf("%d of 20 arrived", got)
		}
		n.after(10 * time.Minute)
		n.sizes(12, 0)
		n.addFrom("late@example.com", "b@example.com")
		n.after(time.Second)
		if got := n.host.Count(); got != 21 {
			t.Errorf("a message of another sender waits: %d of 21 arrived", got)
		}
	})
}

// Two recipients that are refused hold up no other recipient of the same sender.
func TestTwoRefusedRecipients(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.host.SetFaults(mailFaults{Recipients: map[string]string{"x@example.com": "421 4.3.2 No", "y@example.com": "421 4.3.2 No"}})
		n.together(func() {
			for range 6 {
				n.add("x@example.com")
				n.add("y@example.com")
			}
			for range 20 {
				n.add("b@example.com")
			}
		})
		n.after(4 * time.Second)
		if got := n.host.Count(); got != 20 {
			t.Errorf("%d of 20 arrived", got)
		}
	})
}

// The message that goes first after the smarthost was away may be of a sender
// that it refuses: that says nothing about the others.
func TestTheProbeOfAPauseIsRefused(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.host.SetFaults(mailFaults{Senders: map[string]string{"bad@example.com": "421 4.7.0 Too many messages from you"}})
		n.net.setAway(true)
		n.together(func() {
			for range 9 {
				n.addFrom("bad@example.com", "b@example.com")
			}
			n.addFrom("good@example.com", "b@example.com")
		})
		n.after(time.Hour)
		n.net.setAway(false)
		until, _ := n.held()
		n.after(until - time.Since(n.begun) + 3*time.Second)
		if got := n.host.Count(); got != 1 {
			until, why := n.held()
			t.Errorf("the message of another sender waits until %v: %s", until, why)
		}
	})
}

// A smarthost that answers 421 to every MAIL gets three and the probes, not the
// whole queue again and again; each probe is the next sender's.
func TestASmarthostThatRefusesEverySender(t *testing.T) {
	var mu sync.Mutex
	var tried []string
	refusing := true
	react := func(r smarthost.Request) *smarthost.Reaction {
		mu.Lock()
		defer mu.Unlock()
		if r.Verb != "MAIL" || !refusing {
			return nil
		}
		tried = append(tried, r.Line)
		return &smarthost.Reaction{Reply: "421 4.7.0 Not now", Then: smarthost.HangUp}
	}
	o := setup{host: smarthost.Options{React: react}, sender: func(o *SenderOptions) { o.Connections = 1 }}
	atNight(t, o, func(t *testing.T, n *night) {
		n.together(func() {
			for i := range 40 {
				n.addFrom(fmt.Sprintf("s%d@example.com", i/10), "b@example.com")
			}
		})
		n.after(4 * time.Second)
		mu.Lock()
		if len(tried) != 4 {
			t.Errorf("tried: %v", tried)
		}
		mu.Unlock()
		if until, why := n.held(); until != 5*time.Second || why != "The smarthost mail.example.com:587 answered MAIL with 421 4.7.0 Not now." {
			t.Errorf("held until %v: %s", until, why)
		}
		n.after(2 * time.Minute) // probes after 5, 15, 35, 75 s
		mu.Lock()
		var senders []byte
		for _, line := range tried {
			senders = append(senders, line[len("MAIL FROM:<s")])
		}
		if string(senders) != "00012301" {
			t.Errorf("senders were tried in this order: %s", senders)
		}
		refusing = false
		mu.Unlock()
		n.sizes(40, 0)
		n.after(15 * time.Minute)
		n.sizes(0, 0)
		if until, why := n.held(); until != 0 || why != "" {
			t.Errorf("held until %v: %s", until, why)
		}
	})
}

// Sixty recipients at a smarthost that takes so many of a message, however it
// says so: all get it once, at once, and no attempt counts.
func TestMoreRecipientsThanTheSmarthostTakes(t *testing.T) {
	for _, c := range []struct {
		takes int
		says  string
	}{
		{50, "452 4.5.3 Too many recipients"},
		{50, "554 5.5.3 Too many recipients"},
		{50, "421 4.5.3 Too many recipients"},
		{20, "452 4.5.3 Too many recipients"},
		{20, "552 5.5.3 Too many recipients"},
		{20, "421 4.5.3 Too many recipients"},
	} {
		t.Run(fmt.Sprint(c.takes, c.says[:3]), func(t *testing.T) {
			atNight(t, setup{}, func(t *testing.T, n *night) {
				n.host.SetFaults(mailFaults{MaxRecipients: c.takes, TooMany: c.says})
				var to, got []string
				for i := range 60 {
					to = append(to, fmt.Sprintf("b%02d@example.com", i))
				}
				n.add(to...)
				n.after(2 * time.Second)
				n.sizes(0, 0)
				for _, m := range n.host.Messages() {
					got = append(got, m.To...)
				}
				if slices.Sort(got); !slices.Equal(got, to) {
					t.Errorf("%d recipients got it: %v", len(got), got)
				}
				n.empty()
			})
		})
	}
}

// A transaction has at most as many recipients as mail.recipients_per_transaction
// says, 50 by itself.
func TestRecipientsOfATransaction(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		var to []string
		for i := range 120 {
			to = append(to, fmt.Sprintf("b%d@example.com", i))
		}
		n.add(to...)
		n.after(time.Second)
		var got []int
		for _, m := range n.host.Messages() {
			got = append(got, len(m.To))
		}
		if !slices.Equal(got, []int{50, 50, 20}) {
			t.Errorf("transactions of %v recipients", got)
		}
	})
}
