package relay

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// One node of three hears that a limit is reached: all three pause and say why,
// those that never sent included; a new process too. When a message is taken, all
// go on.
func TestALimitPausesTheCluster(t *testing.T) {
	d := dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t), NodeID: node})
	must(t, d.Migrate(t.Context(), audit.Migrations, Migrations))
	f := new(limitPlay)
	o := limited(Limits{Provider: "microsoft365", Connections: 3, Rate: 6000, Quota: 5000}, f.react)
	var nodes []*world
	for i := range 3 {
		o.node = fmt.Sprintf("node_%d", i+1)
		if i > 0 {
			o.sender = func(to *SenderOptions) { *to = nodes[0].sender.o }
		}
		nodes = append(nodes, newWorld(t, d, o))
	}
	paused := func() (n int) {
		list, err := nodes[0].queue.Queues(t.Context())
		must(t, err)
		for _, q := range list {
			if strings.Contains(q.HeldFor, "554 5.2.0 SubmissionQuotaExceeded") {
				n++
			}
		}
		return n
	}
	for round := range 2 {
		f.set(".", "554 5.2.0 SubmissionQuotaExceededException", "")
		for i := range 10 {
			nodes[0].addFrom(fmt.Sprintf("s%d@example.com", i%3), "b@example.com")
		}
		nodes[0].until("all nodes to pause", func() bool { return paused() == 3 })
		nodes[2].sender.Stop()
		nodes[2].sender = NewSender(nodes[2].queue, nodes[2].sender.o)
		must(t, nodes[2].sender.Start(t.Context()))
		for i := range 20 {
			nodes[1+i%2].addFrom(fmt.Sprintf("s%d@example.com", i%3), "b@example.com")
		}
		f.set("", "", "")
		nodes[0].until("all to be sent", func() bool { return nodes[0].waiting() == 0 })
		nodes[0].until("no node to pause", func() bool { return paused() == 0 })
		if got := nodes[0].host.Count(); got != 30*int64(round+1) {
			t.Errorf("%d messages arrived in round %d", got, round)
		}
	}
	t.Cleanup(func() { nodes[2].sender.Stop() })
}
