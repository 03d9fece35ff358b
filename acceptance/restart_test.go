package acceptance

import (
	"context"
	"errors"
	"fmt"
	"net/smtp"
	"net/textproto"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

// restarts is how often a node is restarted in each way: TEST_RESTARTS, on both
// databases; or 5, each way on one of them.
func restarts(t *testing.T) (n int, onBoth bool) {
	t.Helper()
	text, ok := os.LookupEnv("TEST_RESTARTS")
	if !ok {
		return 5, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TEST_RESTARTS: %v", err)
	}
	return n, true
}

// waysToRestart restart a node that serves: how long its stop took, and all until
// it served again.
var waysToRestart = map[string]func(t *testing.T, p *loadtest.Process) (stop, all time.Duration){
	"by a service manager": func(t *testing.T, p *loadtest.Process) (stop, all time.Duration) {
		began := time.Now()
		stop, err := p.Stop()
		if err != nil {
			t.Fatal(err)
		}
		start(t, p)
		return stop, time.Since(began)
	},
	"by signal": func(t *testing.T, p *loadtest.Process) (stop, all time.Duration) {
		succeed(t, p)
		return took(t, p, "stopped for the successor"), took(t, p, "handed over")
	},
}

// took is how long the last line with a message says that something took.
func took(t *testing.T, p *loadtest.Process, msg string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(last(t, p, msg).Took)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// last is the last line of the log with a message.
func last(t *testing.T, p *loadtest.Process, msg string) loadtest.Line {
	t.Helper()
	lines, err := p.Lines(msg)
	if err != nil || len(lines) == 0 {
		t.Fatalf("no line %q: %v\n%s", msg, err, p.Log())
	}
	return lines[len(lines)-1]
}

func succeed(t *testing.T, p *loadtest.Process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if err := p.Succeed(ctx); err != nil {
		t.Fatal(err)
	}
}

// hold has the node's sockets held as a service manager does, so that they stay
// open while it is restarted.
func hold(t *testing.T, p *loadtest.Process) {
	t.Helper()
	for name, address := range map[string]string{"http": p.Addr(), "smtp": p.Settings.MailListen} {
		s, err := loadtest.Hold(name, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.File.Close() })
		p.Sockets = append(p.Sockets, s)
	}
}

// handOverTime is what a stop may take for which a successor waits.
const handOverTime = 8 * time.Second

// A node that is restarted again and again under 500 webhooks a second, on kept
// and on new connections, and under mail refuses nothing and loses nothing. A
// webhook would not be sent again.
func TestRestartRefusesNothing(t *testing.T) {
	times, onBoth := restarts(t)
	for name, database := range databases {
		for way, restart := range waysToRestart {
			if !onBoth && (name == "postgres") != (way == "by signal") {
				continue
			}
			t.Run(name+" "+way, func(t *testing.T) {
				const channels = 32
				sink := newSink(t, channels)
				host, address := smarthostAt(t, 100_000)
				p := node(t, loadtest.Settings{
					DatabaseURL: database(t), NodeID: "node_1", MailListen: freeAddress(t), Smarthost: address,
				})
				if way == "by a service manager" {
					hold(t, p)
				}
				start(t, p)
				if err := p.SaveChannelRules(t.Context(), channels, sink.URL()); err != nil {
					t.Fatal(err)
				}
				load := loadtest.NewLoad(channels, channels, p.Addr())
				load.Fresh = channels / 2
				stopLoad := background(t, load, 500)
				mail := sendMail(t, p.Settings.MailListen)
				for range times {
					pass(t, time.Second)
					stop, all := restart(t, p)
					t.Logf("stop %s, start %s", stop, all-stop)
					if stop > handOverTime {
						t.Errorf("the stop took %s", stop)
					}
				}
				pass(t, time.Second)
				stopLoad()
				mail.stop()
				if n := load.Refused(); n > 0 {
					t.Errorf("%d webhooks were refused: %v", n, load.Statuses())
				}
				await(t, load, sink, patience, 0)
				mail.check(t, host)
			})
		}
	}
}

// mailClients are clients that send mail one message after the other, as a host
// application does.
type mailClients struct {
	stop func()

	mu      sync.Mutex
	taken   map[string]bool // by Message-ID
	later   int             // 421 and ends of a connection that was kept: sent again
	refused []error
}

// sendMail has four clients send until stop is called: two on a connection for
// each message, two on a connection that they keep.
func sendMail(t *testing.T, address string) *mailClients {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m := &mailClients{taken: map[string]bool{}}
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() { m.send(ctx, address, i, i%2 == 0) })
	}
	m.stop = sync.OnceFunc(func() { cancel(); clients.Wait() })
	t.Cleanup(m.stop)
	return m
}

func (m *mailClients) send(ctx context.Context, address string, client int, keep bool) {
	var c *smtp.Client
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; <-tick.C {
		kept := c != nil
		var err error
		if c == nil {
			c, err = smtp.Dial(address)
		}
		id := fmt.Sprintf("<%d-%d@restart>", client, n)
		if err == nil {
			err = sendOne(c, id)
		}
		if err == nil && !keep {
			err = c.Quit()
		}
		m.note(id, err, kept)
		if err == nil {
			n++
		}
		if c != nil && (err != nil || !keep) {
			c.Close()
			c = nil
		}
	}
}

// note counts what came of a message. A connection that was kept may end
// between two messages; then it is sent on another.
func (m *mailClients) note(id string, err error, kept bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var reply *textproto.Error
	switch {
	case err == nil:
		m.taken[id] = true
	case kept && (!errors.As(err, &reply) || reply.Code == 421):
		m.later++
	default:
		m.refused = append(m.refused, fmt.Errorf("%s: %w", id, err))
	}
}

func sendOne(c *smtp.Client, id string) error {
	if err := c.Mail("jira@example.com"); err != nil {
		return err
	}
	if err := c.Rcpt("ada@example.org"); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "From: jira@example.com\r\nTo: ada@example.org\r\nMessage-ID: %s\r\nSubject: x\r\n\r\nHello\r\n", id); err != nil {
		return err
	}
	return w.Close()
}

// check waits until all that was taken has arrived.
func (m *mailClients) check(t *testing.T, host *smarthost.Host) {
	t.Helper()
	if len(m.refused) > 0 {
		t.Errorf("%d messages were refused, the first: %v", len(m.refused), m.refused[0])
	}
	t.Logf("%d messages were taken, %d tries went on on another connection", len(m.taken), m.later)
	missing := 0
	until(t, patience, "not all mail has arrived", func() bool {
		arrived := messageIDs(host)
		missing = 0
		for id := range m.taken {
			if arrived[id] == 0 {
				missing++
			}
		}
		return missing == 0 && len(m.taken) > 0
	})
}
