package relay

import (
	"context"
	"fmt"
	"testing"
	"time"

	"outrigger/internal/playground/playgroundtest"
)

// Three nodes have 250 messages each, for a provider that takes three connections:
// there are never more, and each node has its turn, also one that comes later.
func TestTheConnectionsOfTheCluster(t *testing.T) {
	p := &playgroundtest.MailProvider{Connections: 3, Slow: time.Second}
	o := limited(Limits{Provider: "microsoft365", Connections: 3}, p.React)
	sender := o.sender
	o.sender = func(o *SenderOptions) {
		sender(o)
		o.Members = func(context.Context) (int, int, error) { return 1, 4, nil }
	}
	atNight(t, o, func(t *testing.T, n *night) {
		nodes := []*world{n.world, n.beside("node_2"), n.beside("node_3"), n.beside("node_4")}
		for _, w := range nodes[1:] {
			defer w.close()
		}
		for i := range 250 {
			for _, w := range nodes[:3] {
				w.add(fmt.Sprintf("b%d@example.com", i))
			}
		}
		n.after(15 * time.Second)
		late := nodes[3].add("late@example.com")
		n.after(3 * time.Minute) // six turns: who gets a connection that is left is chance
		if m, err := nodes[3].queue.Message(t.Context(), late); err == nil {
			t.Errorf("a message waits for a connection: %+v", m)
		}
		n.after(5 * time.Minute)
		if taken, refused := p.Counts(); taken != 751 || len(refused) != 0 || p.Most() != 3 {
			t.Errorf("%d were taken over up to %d connections, refused %v", taken, p.Most(), refused)
		}
	})
}

// A fourth connection for a provider that takes three: sending pauses for 5 s,
// and goes on with fewer.
func TestOneConnectionTooMany(t *testing.T) {
	p := &playgroundtest.MailProvider{Connections: 3, Slow: time.Second}
	o := limited(Limits{Provider: "microsoft365", Connections: 4}, p.React)
	atNight(t, o, func(t *testing.T, n *night) {
		n.together(func() {
			for i := range 100 {
				n.add(fmt.Sprintf("b%d@example.com", i))
			}
		})
		n.after(4 * time.Second)
		until, why := n.held()
		if until < 5*time.Second || why != "The smarthost mail.example.com:587 answered MAIL with 432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded." {
			t.Errorf("held until %v: %s", until, why)
		}
		n.after(2 * time.Minute)
		taken, refused := p.Counts()
		if taken != 100 || len(refused) > 4 { // each connection once, before the pause is known
			t.Errorf("%d were taken, refused %v", taken, refused)
		}
		n.sizes(0, 0)
		if until, why := n.held(); until != 0 || why != "" {
			t.Errorf("held until %v: %s", until, why)
		}
	})
}
