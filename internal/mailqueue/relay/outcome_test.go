package relay

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/playground/smarthost"
)

// play answers by what the client says: "RCPT b" is the recipient that begins
// with b, "." the end of a message. A reply that ends in "!" hangs up behind
// it, and "?" says nothing more.
func play(replies map[string]string) func(smarthost.Request) *smarthost.Reaction {
	return func(r smarthost.Request) *smarthost.Reaction {
		reply, ok := replies[r.Verb]
		if r.Verb == "RCPT" && !ok {
			_, to, _ := strings.Cut(r.Line, "<")
			reply, ok = replies["RCPT "+to[:1]]
		}
		if !ok {
			return nil
		}
		then := smarthost.GoOn
		if strings.HasSuffix(reply, "!") {
			then = smarthost.HangUp
		}
		if strings.HasSuffix(reply, "?") {
			then = smarthost.FallSilent
		}
		return &smarthost.Reaction{Reply: strings.TrimRight(reply, "!?"), Then: then}
	}
}

// What each answer means for each recipient, a second after the message came:
// w waits, e is in the error queue, - is done.
func TestOutcomes(t *testing.T) {
	noOffers := []string{"PIPELINING"}
	for _, c := range []struct {
		name    string
		replies map[string]string
		offers  []string
		content string
		want    string // of b, c and d; "" when the message is gone
		last    string // error in lists
		arrived int64
	}{
		{"all accepted", nil, nil, "", "", "", 1},
		{"one refused", map[string]string{"RCPT c": "550 5.1.1 Unknown"}, nil, "", "-e-", "550 5.1.1 Unknown", 1},
		{"one deferred", map[string]string{"RCPT c": "450 4.2.1 Later"}, nil, "", "-w-", "450 4.2.1 Later", 1},
		{"one of each", map[string]string{"RCPT b": "450 4.2.1 Later", "RCPT c": "553 5.1.3 No such thing"}, nil, "", "we-", "553 5.1.3 No such thing", 1},
		{"all refused", map[string]string{"RCPT": "550 5.1.1 Unknown"}, nil, "", "eee", "550 5.1.1 Unknown", 0},
		{"all deferred", map[string]string{"RCPT": "450 4.2.1 Later"}, nil, "", "www", "450 4.2.1 Later", 0},
		{"MAIL refused", map[string]string{"MAIL": "550 5.7.1 Not from you"}, nil, "", "eee", "550 5.7.1 Not from you", 0},
		{"MAIL deferred", map[string]string{"MAIL": "452 4.3.1 Full"}, nil, "", "www", "452 4.3.1 Full", 0},
		{"DATA refused", map[string]string{"DATA": "554 5.7.1 No"}, nil, "", "eee", "554 5.7.1 No", 0},
		{"DATA deferred", map[string]string{"DATA": "451 4.3.0 Later"}, nil, "", "www", "451 4.3.0 Later", 0},
		{"the message refused", map[string]string{".": "552 5.3.4 Too large"}, nil, "", "eee", "552 5.3.4 Too large", 0},
		{"the message deferred", map[string]string{".": "451 4.3.0 Later"}, nil, "", "www", "451 4.3.0 Later", 0},
		{"the message deferred, one refused", map[string]string{".": "451 4.3.0 Later", "RCPT c": "550 5.1.1 Unknown"}, nil, "", "wew", "550 5.1.1 Unknown", 0},
		{"an answer of several lines", map[string]string{".": "550-5.7.1 No\n550 5.7.1 Never"}, nil, "", "eee", "550 5.7.1 No 5.7.1 Never", 0},

		{"accepted, then gone", map[string]string{".": "250 2.0.0 OK!"}, nil, "", "", "", 1},
		{"gone without an answer", map[string]string{".": "!"}, nil, "", "www", "The smarthost did not answer: the connection was closed", 0},
		{"gone at DATA", map[string]string{"DATA": "!"}, nil, "", "www", "The smarthost did not answer: the connection was closed", 0},
		{"gone at RCPT", map[string]string{"RCPT d": "!"}, nil, "", "www", "The smarthost did not answer: the connection was closed", 0},
		{"421 at RCPT", map[string]string{"RCPT": "421 4.3.2 Bye!"}, nil, "", "www", "421 4.3.2 Bye", 0},
		{"421 to the message", map[string]string{".": "421 4.3.2 Bye!"}, nil, "", "www", "421 4.3.2 Bye", 0},
		{"354 to a message for nobody", map[string]string{"RCPT": "550 5.1.1 Unknown", "DATA": "354 Go ahead?"}, nil, "", "eee", "550 5.1.1 Unknown", 0},
		{"250 to DATA", map[string]string{"DATA": "250 OK"}, nil, "", "www", "451 OK", 0},

		{"8 bits, not offered", nil, noOffers, "ü\r\n", "eee", "The smarthost offers no 8BITMIME, which this message needs.", 0},
		{"8 bits, offered", nil, []string{"8BITMIME"}, "ü\r\n", "", "", 1},
		{"no CRLF at the end, CHUNKING not offered", nil, noOffers, "x", "eee", "The smarthost offers no CHUNKING, which this message needs.", 0},
		{"no CRLF at the end, offered", nil, []string{"CHUNKING"}, "x", "", "", 1},
		{"no pipelining", nil, []string{"8BITMIME"}, "", "", "", 1},
		{"no pipelining, all refused", map[string]string{"RCPT": "550 5.1.1 Unknown", "DATA": "354 Go ahead?"}, []string{"8BITMIME"}, "", "eee", "550 5.1.1 Unknown", 0},
		{"no EHLO", map[string]string{"EHLO": "502 5.5.1 No such thing"}, nil, "", "", "", 1},
		{"no EHLO, 8 bits", map[string]string{"EHLO": "500 No such thing"}, nil, "ü\r\n", "eee", "The smarthost offers no 8BITMIME, which this message needs.", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			atNight(t, setup{host: smarthost.Options{Offers: c.offers, React: play(c.replies)}}, func(t *testing.T, n *night) {
				a := n.arrival("Subject: x\r\n\r\n"+c.content, "b@example.com", "c@example.com", "d@example.com")
				a.openEnd = strings.HasSuffix(c.content, "x")
				must(t, n.queue.accept(t.Context(), a))
				n.after(time.Second)
				if c.want == "" {
					n.sizes(0, 0)
					n.empty()
				} else {
					n.states(a.id, c.want)
					m := n.message(a.id)
					if m.LastError != c.last {
						t.Errorf("the last error is %q, want %q", m.LastError, c.last)
					}
					if len(n.attempts(a.id)) == 0 {
						t.Error("there is no attempt")
					}
				}
				if n.host.Count() != c.arrived {
					t.Errorf("%d messages arrived, want %d", n.host.Count(), c.arrived)
				}
			})
		})
	}
}

// states compares how a message stands with its recipients, and the sizes.
func (n *night) states(id int64, want string) {
	n.t.Helper()
	signs := map[mailqueue.State]string{mailqueue.Waiting: "w", mailqueue.Failed: "e", mailqueue.Sent: "-"}
	got := ""
	for _, r := range n.message(id).Recipients {
		got += signs[r.State]
	}
	if got != want {
		n.t.Errorf("the recipients stand as %s, want %s", got, want)
	}
	size, errors := int64(0), int64(0)
	if strings.Contains(want, "w") {
		size = 1
	}
	if strings.Contains(want, "e") {
		errors = 1
	}
	n.sizes(size, errors)
}

// A smarthost that takes three recipients at a time gets the rest in the next
// transactions, which are no attempts for those who had to wait.
func TestTooManyRecipientsForTheSmarthost(t *testing.T) {
	var mu sync.Mutex
	recipients := 0
	react := func(r smarthost.Request) *smarthost.Reaction {
		mu.Lock()
		defer mu.Unlock()
		if r.Verb == "MAIL" {
			recipients = 0
		}
		if r.Verb == "RCPT" {
			if recipients++; recipients > 3 {
				return &smarthost.Reaction{Reply: "452 4.5.3 Too many recipients"}
			}
		}
		return nil
	}
	atNight(t, setup{host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
		var to []string
		for i := range 10 {
			to = append(to, fmt.Sprintf("b%d@example.com", i))
		}
		n.add(to...)
		n.after(time.Second)
		n.sizes(0, 0)
		var got []string
		for _, m := range n.host.Messages() {
			if len(m.To) > 3 {
				t.Errorf("a message went to %v", m.To)
			}
			got = append(got, m.To...)
		}
		if !slices.Equal(got, to) {
			t.Errorf("they went to %v", got)
		}
		n.empty()
	})
}

// A smarthost that takes no recipient at all, with 452, is no different from
// one that defers.
func TestNoRecipientAtAll(t *testing.T) {
	atNight(t, setup{host: smarthost.Options{React: play(map[string]string{"RCPT": "452 4.5.3 Too many recipients"})}}, func(t *testing.T, n *night) {
		id := n.add("b@example.com", "c@example.com")
		n.after(time.Second)
		if m := n.message(id); m.SendCount != 1 || m.DueAt.Sub(n.begun) < 59*time.Second {
			t.Errorf("the message is %+v", m)
		}
	})
}

// Recipients that were deferred are tried again without those who have it.
func TestOnlyTheRestIsTriedAgain(t *testing.T) {
	var mu sync.Mutex
	well := false
	react := func(r smarthost.Request) *smarthost.Reaction {
		mu.Lock()
		defer mu.Unlock()
		if !well && r.Verb == "RCPT" && strings.Contains(r.Line, "<c@") {
			return &smarthost.Reaction{Reply: "450 4.2.1 Later"}
		}
		return nil
	}
	atNight(t, setup{host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
		id := n.add("b@example.com", "c@example.com", "d@example.com")
		n.after(30 * time.Second)
		n.states(id, "-w-")
		mu.Lock()
		well = true
		mu.Unlock()
		n.after(31 * time.Second)
		n.sizes(0, 0)
		var to [][]string
		for _, m := range n.host.Messages() {
			to = append(to, m.To)
		}
		if len(to) != 2 || !slices.Equal(to[0], []string{"b@example.com", "d@example.com"}) || !slices.Equal(to[1], []string{"c@example.com"}) {
			t.Errorf("they went to %v", to)
		}
		n.empty()
	})
}

// Conversations are kept: many messages over few of them, and none for ever.
func TestKeptConversations(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		for range 50 {
			n.add("b@example.com")
			n.after(time.Second)
		}
		if n.host.Count() != 50 || n.host.Sessions() != 1 {
			t.Errorf("%d messages over %d conversations", n.host.Count(), n.host.Sessions())
		}
		n.after(2 * restTime)
		n.queue.out.mu.Lock()
		workers := n.queue.out.workers
		n.queue.out.mu.Unlock()
		if workers != 0 {
			t.Errorf("%d workers are left", workers)
		}
	})
}

// A conversation that the smarthost ended while it was kept costs no pause: the
// message has a new one at once.
func TestAKeptConversationThatEnded(t *testing.T) {
	for _, reply := range []string{"!", "421 4.4.2 Idle for too long!"} {
		var mails atomic.Int32
		react := func(r smarthost.Request) *smarthost.Reaction {
			if r.Verb == "MAIL" && mails.Add(1) == 2 {
				return play(map[string]string{"MAIL": reply})(r)
			}
			return nil
		}
		alone := func(o *SenderOptions) { o.Connections = 1 } // so that the second message has the kept one
		atNight(t, setup{host: smarthost.Options{React: react}, sender: alone}, func(t *testing.T, n *night) {
			n.add("b@example.com")
			n.after(time.Second)
			n.add("c@example.com")
			n.after(time.Second)
			n.sizes(0, 0)
			if n.host.Count() != 2 || n.host.Sessions() != 2 {
				t.Errorf("%d messages over %d conversations", n.host.Count(), n.host.Sessions())
			}
		})
	}
}

// A smarthost that takes two conversations and no more gets all messages over
// those, without a pause.
func TestASmarthostThatLimitsConnections(t *testing.T) {
	var mu sync.Mutex
	open := make(map[int]bool)
	react := func(r smarthost.Request) *smarthost.Reaction {
		mu.Lock()
		defer mu.Unlock()
		switch r.Verb {
		case "CONNECT":
			if len(open) == 2 {
				return &smarthost.Reaction{Reply: "421 4.7.0 Too many connections from you", Then: smarthost.HangUp}
			}
			open[r.Session] = true
		case "QUIT":
			delete(open, r.Session)
		}
		return nil
	}
	atNight(t, setup{host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
		must(t, n.queue.SetPaused(t.Context(), node, true))
		for range 100 {
			n.add("b@example.com")
		}
		must(t, n.queue.SetPaused(t.Context(), node, false))
		n.after(time.Second)
		n.sizes(0, 0)
		if n.host.Count() != 100 || n.host.Sessions() > 20 {
			t.Errorf("%d messages arrived, %d conversations were begun", n.host.Count(), n.host.Sessions())
		}
	})
}

// TLS is what was asked for, or nothing is sent.
func TestTLSToTheSmarthost(t *testing.T) {
	server, trust := certificate(t)
	dropped := play(map[string]string{"STARTTLS": "220 2.0.0 Go ahead!"})
	for _, c := range []struct {
		name string
		host smarthost.Options
		how  func(*smtpclient.Smarthost)
		why  string // it is held; "" when the message goes
	}{
		{"STARTTLS", smarthost.Options{TLS: server}, func(h *smtpclient.Smarthost) { h.TLS, h.Config = smtpclient.StartTLS, trust }, ""},
		{"not offered", smarthost.Options{}, func(h *smtpclient.Smarthost) { h.TLS, h.Config = smtpclient.StartTLS, trust },
			"offers no STARTTLS, and mail.smarthost_tls asks for it."},
		{"not trusted", smarthost.Options{TLS: server}, func(h *smtpclient.Smarthost) { h.TLS = smtpclient.StartTLS },
			"failed at TLS: tls: failed to verify certificate: x509: "},
		{"refused", smarthost.Options{TLS: server, React: play(map[string]string{"STARTTLS": "454 4.7.0 Not now"})}, func(h *smtpclient.Smarthost) { h.TLS, h.Config = smtpclient.StartTLS, trust },
			"answered STARTTLS with 454 4.7.0 Not now."},
		{"dropped", smarthost.Options{TLS: server, React: dropped}, func(h *smtpclient.Smarthost) { h.TLS, h.Config = smtpclient.StartTLS, trust },
			"failed at TLS: the connection was closed."},
	} {
		t.Run(c.name, func(t *testing.T) {
			atNight(t, setup{host: c.host, sender: func(o *SenderOptions) {
				c.how(o.Smarthost)
				o.Smarthost.Address = "127.0.0.1:25"
			}}, func(t *testing.T, n *night) {
				n.add("b@example.com")
				n.after(4 * time.Second)
				_, why := n.held()
				if c.why == "" {
					if n.host.Count() != 1 || !n.host.Messages()[0].TLS {
						t.Errorf("it did not go within TLS: %s", why)
					}
					return
				}
				n.sizes(1, 0)
				if !strings.HasPrefix(why, "The smarthost 127.0.0.1:25 "+c.why) {
					t.Errorf("the reason is %q", why)
				}
			})
		})
	}
}
