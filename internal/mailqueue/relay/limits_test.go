package relay

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/playground/smarthost"
)

// limited is a world in which that provider's limits hold.
func limited(l Limits, react func(smarthost.Request) *smarthost.Reaction) setup {
	l.SignIn = "mail.example.com:587 jira"
	return setup{host: smarthost.Options{React: react}, sender: func(o *SenderOptions) { o.Limits = l }}
}

// limitPlay is an answer that a test begins and ends.
type limitPlay struct {
	mu          sync.Mutex
	verb, reply string
	from        string // "": of any sender
}

func (f *limitPlay) set(verb, reply, from string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.verb, f.reply, f.from = verb, reply, from
}

func (f *limitPlay) react(r smarthost.Request) *smarthost.Reaction {
	f.mu.Lock()
	defer f.mu.Unlock()
	sender := r.Line
	if r.Message != nil {
		sender = r.Message.From
	}
	if r.Verb != f.verb || !strings.Contains(sender, f.from) {
		return nil
	}
	return play(map[string]string{f.verb: f.reply})(r)
}

// What providers say when a limit is reached pauses sending for hours, says why,
// and is nobody's attempt; then all goes on.
func TestLimitsOfProviders(t *testing.T) {
	for _, c := range []struct{ provider, verb, reply string }{
		{"microsoft365", "MAIL", "432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded"},
		{"microsoft365", ".", "432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded"},
		{"microsoft365", ".", "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed"},
		{"microsoft365", "DATA", "554 5.2.0 The sender's submission quota was exceeded"},
		{"gmail", "MAIL", "421 4.7.0 Try again later, closing connection!"},
		{"gmail", "DATA", "550 5.4.5 Daily user sending limit exceeded"},
		{"gmail", ".", "550-5.4.5 Daily user sending limit exceeded\n550 5.4.5 https://support.google.com/a/answer/166852"},
		{"ses", "MAIL", "454 Throttling failure: Maximum sending rate exceeded."},
		{"ses", ".", "454 4.7.0 Throttling failure: Daily message quota exceeded."},
	} {
		t.Run(fmt.Sprint(c.provider, " ", c.verb, " ", c.reply[:9]), func(t *testing.T) {
			f := new(limitPlay)
			f.set(c.verb, c.reply, "")
			atNight(t, limited(Limits{Provider: c.provider}, f.react), func(t *testing.T, n *night) {
				n.together(func() {
					for i := range 10 {
						n.addFrom(fmt.Sprintf("s%d@example.com", i%3), "b@example.com", "c@example.com")
					}
				})
				n.after(4 * time.Second)
				until, why := n.held()
				said := strings.ReplaceAll(strings.TrimSuffix(c.reply, "!"), "\n550 ", " ")
				said = strings.Replace(said, "550-", "550 ", 1)
				if until != 5*time.Second || !strings.Contains(why, said) {
					t.Errorf("held until %v: %s", until, why)
				}
				n.after(7 * time.Hour)
				n.sizes(10, 0)
				for _, id := range []int64{1, 2, 10} {
					if m := n.message(id); m.SendCount != 0 || len(n.attempts(id)) != 0 {
						t.Errorf("message %d is at fault: %+v", id, m)
					}
				}
				f.set("", "", "")
				n.after(6 * time.Minute)
				n.sizes(0, 0)
				if until, why := n.held(); until != 0 || why != "" || n.host.Count() != 10 {
					t.Errorf("held until %v: %s; %d arrived", until, why, n.host.Count())
				}
				n.empty()
			})
		})
	}
}

// These answers are like any other: to RCPT, without the words, of another
// provider, or for greylisting.
func TestNoLimits(t *testing.T) {
	for _, c := range []struct {
		provider, verb, reply string
		failed                int64
	}{
		{"microsoft365", "RCPT", "554 5.2.0 The mailbox exceeded its submission quota", 3},
		{"microsoft365", "RCPT", "552 5.2.2 Over quota", 3},
		{"microsoft365", "RCPT", "452 4.2.2 The mailbox is full and over its quota", 0},
		{"gmail", "RCPT", "452 4.2.2 The recipient's inbox is out of storage space, over quota", 0},
		{"ses", ".", "552 5.2.2 Mailbox quota exceeded", 3},
		{"gmail", "MAIL", "451 4.7.1 Greylisted, try again in 5 minutes", 0},
		{"ses", "RCPT", "450 4.7.1 Greylisted", 0},
		{"microsoft365", ".", "552 5.2.2 The recipient's mailbox is full: quota exceeded", 3},
		{"microsoft365", ".", "554 5.2.0 STOREDRV.Deliver: mailbox disabled", 3},
		{"microsoft365", "RCPT", "432 4.3.2 Concurrent connections limit exceeded", 0},
		{"microsoft365", "RCPT", "451 4.7.1 Greylisted", 0},
		{"microsoft365", "MAIL", "451 4.7.1 Greylisted", 0},
		{"gmail", "RCPT", "550 5.4.5 Daily limit exceeded", 3},
		{"gmail", ".", "550 5.7.1 Daily limit exceeded", 3},
		{"ses", ".", "554 Message rejected: Email address is not verified.", 3},
		{"", ".", "554 5.2.0 SubmissionQuotaExceededException", 3},
		{"", "MAIL", "454 Throttling failure: Maximum sending rate exceeded.", 0},
	} {
		t.Run(fmt.Sprint(c.provider, " ", c.verb, " ", c.reply[:9]), func(t *testing.T) {
			f := new(limitPlay)
			f.set(c.verb, c.reply, "")
			atNight(t, limited(Limits{Provider: c.provider}, f.react), func(t *testing.T, n *night) {
				n.together(func() {
					for range 3 {
						n.add("b@example.com")
					}
				})
				n.after(30 * time.Second)
				n.sizes(3-c.failed, c.failed)
				if m := n.message(1); m.SendCount != 1 || m.LastError != c.reply {
					t.Errorf("the message is %+v", m)
				}
			})
		})
	}
}

// A message of one sender is answered with words of a limit, and those of others
// are taken: after a pause of 5 s they go, and the answer counts for the messages
// that it is about. It never puts them into the error queue before their time.
func TestALimitThatIsNone(t *testing.T) {
	for _, one := range []bool{true, false} {
		t.Run(fmt.Sprint("of one sender alone ", one), func(t *testing.T) {
			f := new(limitPlay)
			atNight(t, limited(Limits{Provider: "microsoft365"}, f.react), func(t *testing.T, n *night) {
				f.set(".", "554 5.2.0 Quota exceeded", "bad@")
				var bad []int64
				n.together(func() {
					for range 2 {
						bad = append(bad, n.addFrom("bad@example.com", "b@example.com"))
					}
					for i := range 20 {
						if one {
							n.addFrom(fmt.Sprintf("good%d@example.com", i%4), "b@example.com")
						}
					}
				})
				n.after(4 * time.Second)
				if until, _ := n.held(); until != 5*time.Second {
					t.Errorf("held until %v", until)
				}
				n.after(10 * time.Hour)
				if !one {
					n.sizes(2, 0)
					if m := n.message(bad[0]); m.SendCount != 0 {
						t.Errorf("the message is %+v", m)
					}
					return
				}
				n.sizes(2, 0)
				if got := n.host.Count(); got != 20 {
					t.Errorf("%d of 20 arrived", got)
				}
				for _, id := range bad {
					if m := n.message(id); m.SendCount < 5 || m.LastError != "554 5.2.0 Quota exceeded" {
						t.Errorf("the message is %+v", m)
					}
				}
				n.after(5 * 24 * time.Hour)
				n.sizes(0, 2)
			})
		})
	}
}

// A provider that takes some messages after each pause, and then says again that there
// are too many, says so of none of them, even where all are of one sender.
func TestALimitThatComesAgain(t *testing.T) {
	p := &playgroundtest.MailProvider{Rate: 30, Minute: 8 * time.Second}
	atNight(t, limited(Limits{Provider: "microsoft365"}, p.React), func(t *testing.T, n *night) {
		for _, burst := range []struct {
			messages int
			after    time.Duration
		}{{5, 5 * time.Second}, {25, time.Second}, {70, 70 * time.Second}} { // of the last, 5 are taken after the first pause
			n.together(func() {
				for i := range burst.messages {
					n.add(fmt.Sprintf("b%d@example.com", i))
				}
			})
			n.after(burst.after)
		}
		n.sizes(0, 0)
		taken, refused := p.Counts()
		if deferred := testutil.ToFloat64(n.queue.metrics.deferred); deferred != 0 || taken != 100 || len(refused) == 0 {
			t.Errorf("%d were taken, %v attempts deferred; refused %d times", taken, deferred, len(refused))
		}
	})
}

// A pause for a limit holds after a restart, for as long as it did; a flush ends
// it, and what waits too long is given up.
func TestAPauseForALimitOutlastsTheProcess(t *testing.T) {
	f := new(limitPlay)
	f.set("MAIL", "421 4.7.0 Try again later!", "")
	atNight(t, limited(Limits{Provider: "gmail"}, f.react), func(t *testing.T, n *night) {
		for i := range 10 {
			n.add(fmt.Sprintf("b%d@example.com", i))
		}
		restart := func() {
			n.sender.Stop()
			n.sender = NewSender(n.queue, n.sender.o)
			must(t, n.sender.Start(t.Context()))
		}
		n.after(11 * time.Minute) // refused at 615 s, the next at 915 s
		f.set("", "", "")
		for range 2 {
			restart()
			n.after(30 * time.Second)
			n.sizes(10, 0)
			if until, why := n.held(); until != 915*time.Second || !strings.Contains(why, "421 4.7.0 Try again later") {
				t.Errorf("held until %v: %s", until, why)
			}
		}
		n.after(4 * time.Minute)
		n.sizes(0, 0)
		f.set("MAIL", "421 4.7.0 Try again later!", "")
		n.add("b@example.com")
		n.after(11 * time.Minute)
		f.set("", "", "")
		restart()
		n.after(time.Second)
		n.sizes(1, 0)
		if _, err := n.queue.Flush(t.Context(), mailqueue.MessageFilter{NodeID: node}); err != nil {
			t.Fatal(err)
		}
		n.after(time.Second)
		n.sizes(0, 0)
		f.set("MAIL", "421 4.7.0 Try again later!", "")
		n.add("b@example.com")
		n.after(5*24*time.Hour + time.Second)
		n.sizes(0, 1)
	})
}
