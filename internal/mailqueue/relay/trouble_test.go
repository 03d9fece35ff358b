package relay

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtptest"
	"outrigger/internal/playground/smarthost"
)

// noise is a message that does not compress.
func noise(n int) string {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(head)
	for b.Len() < n {
		for range 70 {
			b.WriteByte(byte('0' + rnd.IntN(70)))
		}
		b.WriteString("\r\n")
	}
	return strings.ReplaceAll(b.String(), "\r\n.", "\r\n-")
}

// A full disk refuses for now: 452, nothing half stored, and no restart needed
// when there is room again.
func TestAFullDisk(t *testing.T) {
	d := sqlite(t)
	w := newWorld(t, d, setup{noSend: true})
	full := func() {
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `PRAGMA max_page_count = 1`) // as many as there are
			return err
		}))
	}
	for _, size := range []int{40000, 300000} {
		c := smtptest.Hello(t, w.addr)
		full()
		c.Say(data)
		for _, want := range []string{"250", "250", "354"} {
			c.Expect(want)
		}
		c.Say(noise(size) + ".\r\n")
		c.Expect("452 4.3.1")
		w.sizes(0, 0)
		w.empty()
		c.Send("a@example.com", []string{"b@example.com"}, noise(size))
		w.sizes(1, 0)
		must(t, w.queue.Delete(t.Context(), w.ids(mailqueue.MessageFilter{})[0]))
	}
}

// A folder for large messages that is gone is no full disk: 451, and what needs
// no file is taken.
func TestAFolderThatIsGone(t *testing.T) {
	w := newWorld(t, sqlite(t), setup{noSend: true})
	must(t, os.RemoveAll(w.queue.o.Dir))
	c := smtptest.Hello(t, w.addr)
	c.Say(data)
	for _, want := range []string{"250", "250", "354"} {
		c.Expect(want)
	}
	c.Say(noise(300000) + ".\r\n")
	c.Expect("451 4.3.0")
	c.Send("a@example.com", []string{"b@example.com"}, noise(1000))
	w.sizes(1, 0)
}

// What PostgreSQL may have committed although its answer was lost is not sent:
// the client has heard that it was not taken.
func TestALostCommit(t *testing.T) {
	p, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: node})
	must(t, d.Migrate(t.Context(), audit.Migrations, Migrations))
	w := newWorld(t, d, setup{})
	must(t, w.queue.SetPaused(t.Context(), node, true))
	c := smtptest.Hello(t, w.addr)
	lost := false
	for tries := 0; !lost && tries < 5; tries++ {
		c.Say(data)
		for _, want := range []string{"250", "250", "354"} {
			c.Expect(want)
		}
		p.LoseAnswer("\x0bcommit") // the statement; a new connection names synchronous_commit
		c.Say(head + end)
		if lost = strings.HasPrefix(c.Expect(""), "451 4.3.0"); !lost { // a reader's commit came first
			must(t, w.queue.Delete(t.Context(), w.ids(mailqueue.MessageFilter{})[0]))
		}
	}
	if !lost {
		t.Fatal("every message was taken")
	}
	must(t, w.queue.SetPaused(t.Context(), node, false))
	c.Send("a@example.com", []string{"c@example.com"}, letter)
	w.settled(0, 0)
	if m := w.host.Messages(); len(m) != 1 || m[0].To[0] != "c@example.com" {
		t.Errorf("arrived: %+v", m)
	}
	w.empty()
}

// While the database is away mail is refused for now, what was sent is not sent
// again, and everything goes on by itself afterwards.
func TestADatabaseThatIsAway(t *testing.T) {
	p, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
	d := dbtest.Open(t, db.Options{URL: url, NodeID: node})
	must(t, d.Migrate(t.Context(), audit.Migrations, Migrations))
	taken := make(chan struct{}, 100)
	react := func(r smarthost.Request) *smarthost.Reaction {
		if r.Verb == "." {
			p.Away() // just before the outcome could be kept
			taken <- struct{}{}
		}
		return nil
	}
	w := newWorld(t, d, setup{host: smarthost.Options{React: react}, sender: func(o *SenderOptions) { o.Connections = 1 }})
	w.add("b@example.com")
	<-taken
	w.until("it to be taken", func() bool { return w.host.Count() == 1 })
	c := smtptest.Hello(t, w.addr)
	c.Say(data)
	for _, want := range []string{"250", "250", "354"} {
		c.Expect(want)
	}
	c.Say(head + end)
	c.Expect("451 4.3.0")
	p.Back()
	w.settled(0, 0)
	if got := w.host.Count(); got != 1 {
		t.Errorf("%d messages arrived", got)
	}
	w.empty()
}

// A node that is drained gives its lease back when nothing is in flight.
func TestDrained(t *testing.T) {
	begun, answer := make(chan struct{}), make(chan struct{})
	react := func(r smarthost.Request) *smarthost.Reaction {
		if r.Verb == "." {
			begun <- struct{}{}
			<-answer
		}
		return nil
	}
	active := make(chan int, 1)
	active <- 1
	members := func() int { n := <-active; active <- n; return n }
	w := newWorld(t, sqlite(t), setup{host: smarthost.Options{React: react}, sender: func(o *SenderOptions) { o.Members = counted(members) }})
	w.add("b@example.com")
	<-begun
	<-active
	active <- 0
	w.sender.Wake()
	if w.sender.Held() != 1 || w.queue.InFlight() != 1 {
		t.Error("it holds nothing while a message is in flight")
	}
	close(answer)
	w.until("the lease to be given back", func() bool { return w.sender.Held() == 0 })
	w.add("c@example.com")
	w.sizes(1, 0)
	other := db.NewLeases(w.db, "node_2", nil)
	must(t, other.Start(t.Context()))
	defer other.Stop()
	lease, err := other.Acquire(t.Context(), leaseName(node))
	if lease == nil || err != nil {
		t.Fatalf("the lease is not free: %v", err)
	}
	must(t, other.Release(t.Context(), lease))
	<-active
	active <- 1
	w.sender.Wake()
	go func() { <-begun }()
	w.settled(0, 0)
}

func counted(self func() int) func(context.Context) (int, int, error) {
	return func(context.Context) (int, int, error) { return self(), 1, nil }
}
