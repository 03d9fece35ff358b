package relay

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/secret"
)

// pipes is a network in memory, so that a test's clock may run ahead.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	away bool
	at   []time.Time // when the relay dialled
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { c, _ := net.Pipe(); return c.LocalAddr() }

func (p *pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.mu.Lock()
	away := p.away
	p.at = append(p.at, time.Now())
	p.mu.Unlock()
	if away {
		return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("connection refused")}
	}
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) setAway(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

// night is a queue, a sender and a smarthost on a clock that runs ahead while
// all of them wait.
type night struct {
	*world
	net   *pipes
	begun time.Time
}

// atNight runs fn at such a time.
func atNight(t *testing.T, o setup, fn func(t *testing.T, n *night)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := sqlite(t)
		n := &night{world: &world{t: t, db: d, leases: db.NewLeases(d, node, nil)}, net: newPipes(), begun: time.Now()}
		if !o.renew { // a night has many renewals
			n.leases.Time, n.leases.Every = 24*time.Hour, 6*time.Hour
		}
		must(t, n.leases.Start(t.Context()))
		n.queue = newQueue(t, d, n.leases, node)
		n.host = newFaulty(withKeep(o.host))
		go n.host.Serve(n.net)
		no := SenderOptions{Connections: 8, Members: always, Smarthost: &smtpclient.Smarthost{
			Address: "mail.example.com:587", TLS: smtpclient.NoTLS, Hostname: "relay.example", Dial: n.net.Dial,
		}}
		if o.sender != nil {
			o.sender(&no)
		}
		n.sender = NewSender(n.queue, no)
		must(t, n.sender.Start(t.Context()))
		defer n.host.Close()
		defer n.leases.Stop()
		defer func() { n.sender.Stop() }()
		fn(t, n)
	})
}

// add puts a message into the queue.
func (w *world) add(to ...string) int64 {
	w.t.Helper()
	a := w.arrival("Subject: to "+strings.Join(to, " ")+"\r\n\r\nHello\r\n", to...)
	must(w.t, w.queue.accept(w.t.Context(), a))
	return a.id
}

func (w *world) arrival(content string, to ...string) *arrival {
	s := w.queue.codec.spool(w.t.TempDir())
	defer s.close()
	head := new(inspector)
	s.Write([]byte(content))
	head.Write([]byte(content))
	head.close()
	body, pieces, err := s.finish()
	must(w.t, err)
	a := &arrival{job: job{sender: "a@example.com", trace: "Received: from x ([::1])\r\n\tby y (Outrigger) with ESMTP", size: s.size,
		eightBit: head.eightBit, body: body}, subject: head.subject, pieces: pieces}
	if body == nil {
		a.body = []byte{}
	}
	for i, one := range to {
		a.recipients = append(a.recipients, recipient{Address: one})
		a.turn = append(a.turn, i)
	}
	return a
}

// after lets time pass, and everything that is due in it happen.
func (n *night) after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (n *night) message(id int64) mailqueue.Message {
	n.t.Helper()
	m, err := n.queue.Message(n.t.Context(), id)
	must(n.t, err)
	return m
}

func (n *night) attempts(id int64) []mailqueue.Attempt {
	n.t.Helper()
	return n.message(id).Attempts
}

// dialled is when the smarthost was dialled, since the beginning.
func (n *night) dialled() (at []time.Duration) {
	n.net.mu.Lock()
	defer n.net.mu.Unlock()
	for _, one := range n.net.at {
		at = append(at, one.Sub(n.begun).Round(time.Second))
	}
	return at
}

func seconds(list ...int) (d []time.Duration) {
	for _, s := range list {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

// held is what lists say of a pause.
func (n *night) held() (until time.Duration, why string) {
	n.t.Helper()
	queues, err := n.queue.Queues(n.t.Context())
	must(n.t, err)
	if queues[0].HeldUntil.IsZero() {
		return 0, queues[0].HeldFor
	}
	return queues[0].HeldUntil.Sub(n.begun).Round(time.Second), queues[0].HeldFor
}

// A smarthost that is away for a night is asked again after 5 s doubling to 5
// min, by one conversation; no message is to blame, and in the morning all of
// them go.
func TestASmarthostThatIsAwayForANight(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		for i := range 20 {
			n.add(fmt.Sprintf("b%d@example.com", i))
		}
		n.after(time.Second)
		if got := n.dialled(); len(got) > 8 || got[0] != 0 {
			t.Fatalf("dialled at %v", got)
		}
		n.net.mu.Lock()
		n.net.at = nil
		n.net.mu.Unlock()
		n.after(20 * time.Minute)
		if got, want := n.dialled(), seconds(5, 15, 35, 75, 155, 315, 615, 915); !slices.Equal(got, want) {
			t.Fatalf("dialled at %v, want %v", got, want)
		}
		until, why := n.held()
		if until != 1215*time.Second || why != "The smarthost mail.example.com:587 cannot be reached: connection refused." {
			t.Errorf("held until %v: %s", until, why)
		}
		n.sizes(20, 0)
		n.after(8 * time.Hour)
		n.sizes(20, 0)
		if m := n.message(1); m.SendCount != 0 || m.LastError != "" {
			t.Errorf("a message is to blame: %+v", m)
		}
		n.net.setAway(false)
		n.after(5 * time.Minute)
		n.sizes(0, 0)
		if n.host.Count() != 20 {
			t.Errorf("%d messages arrived", n.host.Count())
		}
		if until, why := n.held(); until != 0 || why != "" {
			t.Errorf("held until %v: %s", until, why)
		}
		n.empty()
	})
}

// What pauses sending, each for as long as it lasts, and is no attempt.
func TestWhatPausesSending(t *testing.T) {
	say := func(verb, reply string, then smarthost.Then) func(smarthost.Request) *smarthost.Reaction {
		return func(r smarthost.Request) *smarthost.Reaction {
			if r.Verb == verb {
				return &smarthost.Reaction{Reply: reply, Then: then}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name  string
		react func(smarthost.Request) *smarthost.Reaction
		why   string
	}{
		{"it hangs up", say("CONNECT", "", smarthost.HangUp), "did not greet: the connection was closed"},
		{"it says nothing", say("CONNECT", "", smarthost.FallSilent), "did not greet: no answer in time"},
		{"it has no service", say("CONNECT", "554 5.3.2 Go away", smarthost.GoOn), "greeted with 554 5.3.2 Go away"},
		{"it is busy", say("CONNECT", "421 4.3.2 Later", smarthost.HangUp), "greeted with 421 4.3.2 Later"},
		{"it speaks something else", say("CONNECT", "HTTP/1.1 400 Bad Request", smarthost.GoOn), `did not greet: it does not speak SMTP: "HTTP/1.1 400 Bad Request"`},
		{"it hangs up at EHLO", say("EHLO", "", smarthost.HangUp), "did not answer EHLO: the connection was closed"},
		{"it says nothing to EHLO", say("EHLO", "", smarthost.FallSilent), "did not answer EHLO: no answer in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			well := false
			react := func(r smarthost.Request) *smarthost.Reaction {
				mu.Lock()
				defer mu.Unlock()
				if well {
					return nil
				}
				return c.react(r)
			}
			atNight(t, setup{host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
				id := n.add("b@example.com")
				n.after(4 * time.Hour)
				n.sizes(1, 0)
				if m := n.message(id); m.SendCount != 0 || len(n.attempts(id)) != 0 {
					t.Errorf("it counts: %+v", m)
				}
				if _, why := n.held(); why != "" && why != "The smarthost mail.example.com:587 "+c.why+"." {
					t.Errorf("the reason is %q", why)
				}
				mu.Lock()
				well = true
				mu.Unlock()
				n.after(15 * time.Minute)
				n.sizes(0, 0)
				if n.host.Count() != 1 {
					t.Errorf("%d messages arrived", n.host.Count())
				}
			})
		})
	}
}

// A wrong password puts nothing into the error queue; the right one sends all.
func TestAWrongPassword(t *testing.T) {
	for _, mechanism := range []string{"", "AUTH LOGIN"} {
		o := setup{host: smarthost.Options{User: "ann", Password: "other"}, sender: func(o *SenderOptions) {
			o.Smarthost.User, o.Smarthost.Password = "ann", secret.New("right")
		}}
		if mechanism != "" {
			o.host.React = func(r smarthost.Request) *smarthost.Reaction {
				if r.Verb == "EHLO" {
					return &smarthost.Reaction{Reply: "250-x\n250 " + mechanism}
				}
				return nil
			}
		}
		atNight(t, o, func(t *testing.T, n *night) {
			n.add("b@example.com")
			n.after(12 * time.Hour)
			n.sizes(1, 0)
			if _, why := n.held(); why != "The smarthost mail.example.com:587 answered AUTH with 535 5.7.8 Authentication failed." {
				t.Errorf("the reason is %q", why)
			}
			n.host.SetPassword("right")
			n.after(5 * time.Minute)
			n.sizes(0, 0)
			if m := n.host.Messages(); len(m) != 1 || m[0].User != "ann" {
				t.Errorf("arrived: %+v", m)
			}
		})
	}
}

// What is answered to MAIL, or happens behind it, counts for the message as a
// 4xx does, and never puts it into the error queue before its time.
func TestWhatCountsForAMessage(t *testing.T) {
	for _, c := range []struct{ name, verb, reply, last string }{
		{"it says nothing to MAIL", "MAIL", "?", "The smarthost did not answer: no answer in time"},
		{"it hangs up at MAIL", "MAIL", "!", "The smarthost did not answer: the connection was closed"},
		{"421 to MAIL", "MAIL", "421 4.7.0 Too many messages!", "421 4.7.0 Too many messages"},
		{"it wants a password", "MAIL", "530 5.7.0 Authentication required", "530 5.7.0 Authentication required"},
		{"it wants another password", "RCPT", "535 5.7.8 Wrong", "535 5.7.8 Wrong"},
		{"it wants encryption", "DATA", "538 5.7.11 Encryption required", "538 5.7.11 Encryption required"},
		{"421 to DATA", "DATA", "421 4.3.2 Bye!", "421 4.3.2 Bye"},
		{"421 to the message", ".", "421 4.3.2 Bye!", "421 4.3.2 Bye"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var well atomic.Bool
			react := func(r smarthost.Request) *smarthost.Reaction {
				if well.Load() {
					return nil
				}
				return play(map[string]string{c.verb: c.reply})(r)
			}
			atNight(t, setup{host: smarthost.Options{React: react}}, func(t *testing.T, n *night) {
				id := n.add("b@example.com")
				n.after(7 * time.Hour)
				n.sizes(1, 0)
				if m := n.message(id); m.SendCount != 9 || m.LastError != c.last || len(n.attempts(id)) != 9 {
					t.Errorf("%d attempts, %d are told, the last error is %q", m.SendCount, len(n.attempts(id)), m.LastError)
				}
				well.Store(true)
				n.after(2 * time.Hour)
				n.sizes(0, 0)
				if n.host.Count() != 1 {
					t.Errorf("%d messages arrived", n.host.Count())
				}
			})
		})
	}
}

// A restart tries at once, whatever pause there was.
func TestARestartTriesAtOnce(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		n.add("b@example.com")
		n.after(11 * time.Minute)
		n.net.setAway(false)
		n.sender.Stop()
		n.sender = NewSender(n.queue, n.sender.o)
		must(t, n.sender.Start(t.Context()))
		n.after(0)
		n.sizes(0, 0)
	})
}
