package relay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/playground/playgroundtest"
)

// beside has another node send its queue to the same smarthost.
func (n *night) beside(name string) *world {
	w := &world{t: n.t, db: n.db, leases: db.NewLeases(n.db, name, nil), host: n.host}
	w.leases.Time, w.leases.Every = n.leases.Time, n.leases.Every
	must(n.t, w.leases.Start(n.t.Context()))
	w.queue = newQueue(n.t, n.db, w.leases, name)
	w.sender = NewSender(w.queue, n.sender.o)
	must(n.t, w.sender.Start(n.t.Context()))
	return w
}

func (w *world) close() {
	w.sender.Stop()
	w.leases.Stop()
}

func (w *world) waiting() int64 {
	w.t.Helper()
	all, err := w.queue.sizesByNode(w.t.Context())
	must(w.t, err)
	n := int64(0)
	for _, s := range all {
		n += s.Size
	}
	return n
}

// Three nodes have 105 messages at once, for a provider that takes 30 a minute:
// it never has to refuse one, each minute is used, and lists say why mail waits.
func TestTheRateOfTheCluster(t *testing.T) {
	p := &playgroundtest.MailProvider{Rate: 30}
	atNight(t, limited(Limits{Rate: 30, Provider: "microsoft365"}, p.React), func(t *testing.T, n *night) {
		two, three := n.beside("node_2"), n.beside("node_3")
		defer two.close()
		defer three.close()
		for i := range 35 {
			for _, w := range []*world{n.world, two, three} {
				w.add(fmt.Sprintf("b%d@example.com", i))
			}
		}
		n.after(30 * time.Second)
		if taken, refused := p.Counts(); taken != 30 || len(refused) != 0 {
			t.Errorf("%d were taken in the first half minute, refused %v", taken, refused)
		}
		if until, why := n.held(); until < 60*time.Second || until > 70*time.Second || why != "mail.rate is reached: 30 messages a minute." {
			t.Errorf("held until %v: %s", until, why)
		}
		n.after(30*time.Second + 3*70*time.Second)
		if taken, refused := p.Counts(); taken != 105 || len(refused) != 0 {
			t.Errorf("%d were taken, refused %v", taken, refused)
		}
		if until, why := n.held(); n.waiting() != 0 || until != 0 || why != "" {
			t.Errorf("%d wait, held until %v: %s", n.waiting(), until, why)
		}
	})
}

// A node that waits for a connection takes no share of the minute's messages from
// those that have one.
func TestAShareNeedsAConnection(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		p := new(playgroundtest.MailProvider)
		o := limited(Limits{Rate: 30, Connections: 3, Provider: "microsoft365"}, p.React)
		o.node = "waits " + t.Name()
		w := newWorld(t, d, o)
		others := db.NewLeases(d, "other "+t.Name(), nil)
		must(t, others.Start(t.Context()))
		t.Cleanup(others.Stop)
		var taken []*db.Lease
		for i := range 3 {
			lease, err := others.Acquire(t.Context(), fmt.Sprintf("mail-connection/%s/%d", w.sender.o.Limits.SignIn, i))
			must(t, err)
			taken = append(taken, lease)
		}
		for i := range 3 {
			w.add(fmt.Sprintf("b%d@example.com", i))
		}
		<-time.After(2 * lookEvery)
		var spent int
		must(t, d.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM relay_spent`).Scan(&spent)
		}))
		if spent != 0 {
			t.Error("a share was taken without a connection")
		}
		for _, lease := range taken {
			must(t, others.Release(t.Context(), lease))
		}
		w.until("all to be sent", func() bool { return w.host.Count() == 3 })
	})
}

// The recipients of a day are counted for all nodes and over restarts; what is
// over the quota waits until the day has passed, without an attempt, and small
// rests of it are used.
func TestTheQuotaOfTheCluster(t *testing.T) {
	p := new(playgroundtest.MailProvider)
	atNight(t, limited(Limits{Quota: 100, Provider: "microsoft365"}, p.React), func(t *testing.T, n *night) {
		two := n.beside("node_2")
		defer func() { two.close() }()
		for i := range 30 {
			for _, w := range []*world{n.world, two} {
				w.add(fmt.Sprintf("b%d@example.com", i), "c@example.com")
			}
			if i%10 == 9 {
				n.after(time.Hour)
				n.sender.Stop()
				n.sender = NewSender(n.queue, n.sender.o)
				must(t, n.sender.Start(t.Context()))
			}
		}
		n.after(time.Hour)
		if taken, _ := p.Counts(); taken != 50 || n.waiting() != 10 {
			t.Errorf("%d were taken, %d wait", taken, n.waiting())
		}
		until, why := n.held()
		if until < 24*time.Hour || until > 24*time.Hour+10*time.Minute || why != "mail.quota is reached: 100 recipients in 24 hours." {
			t.Errorf("held until %v: %s", until, why)
		}
		n.after(19 * time.Hour)
		if taken, _ := p.Counts(); taken != 50 {
			t.Errorf("%d were taken within the day", taken)
		}
		n.after(2 * time.Hour)
		if taken, refused := p.Counts(); taken != 60 || n.waiting() != 0 || len(refused) != 0 {
			t.Errorf("%d were taken, %d wait, refused %v", taken, n.waiting(), refused)
		}
	})
}

// While the smarthost is away no allowance is used up.
func TestAnAbsenceTakesNoAllowance(t *testing.T) {
	p := &playgroundtest.MailProvider{Rate: 10}
	atNight(t, limited(Limits{Rate: 10, Quota: 50}, p.React), func(t *testing.T, n *night) {
		n.net.setAway(true)
		for i := range 20 {
			n.add(fmt.Sprintf("b%d@example.com", i))
		}
		n.after(3 * time.Hour)
		if _, why := n.held(); !strings.Contains(why, "cannot be reached") {
			t.Errorf("the reason is %q", why)
		}
		n.net.setAway(false)
		n.after(8 * time.Minute)
		if taken, _ := p.Counts(); taken != 20 {
			t.Errorf("%d were taken", taken)
		}
	})
}
