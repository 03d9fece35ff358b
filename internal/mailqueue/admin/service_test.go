package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/admin"
	"outrigger/internal/mailqueue/mailqueuetest"
	"outrigger/internal/mailqueue/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nodeList is the nodes of Outrigger's own as a test says.
type nodeList []cluster.Node

func (l nodeList) Nodes(context.Context) ([]cluster.Node, error) { return l, nil }
func (nodeList) Drain(context.Context, string) error             { return nil }
func (nodeList) Resume(context.Context, string) error            { return nil }

// A source that fails has its last sizes in clusterStatus for 60 s; then its
// sizes are 0 and 0, and its node OFFLINE there. Queues in the database are
// never old.
func TestOldSizesAreNotShown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		leases := db.NewLeases(d, "node_1", nil)
		must(t, leases.Start(t.Context()))
		t.Cleanup(leases.Stop)
		l, err := leases.Acquire(t.Context(), "w")
		if err != nil || l == nil {
			t.Fatal(l, err)
		}
		b := &admin.Service{NodeID: "node_1", Clustered: true, Source: "postfix", Store: s, Relay: &mailqueuetest.Relay{Stored: []mailqueue.RelayQueue{{NodeID: "node_3", Sizes: mailqueue.Sizes{Size: 4, ErrorSize: 1}}}},
			Cluster: nodeList{{ID: "node_1", State: cluster.Active}, {ID: "node_2", State: cluster.Active}, {ID: "node_3", State: cluster.Offline}, {ID: "node_4", State: cluster.Active}}}
		down := fault.New(fault.Unavailable, "It is down.")
		node := func(id string, state cluster.State, size, errors int64) mailqueue.Node {
			return mailqueue.Node{NodeID: id, NodeState: state, IsClustered: true, MailQueue: mailqueue.MailQueue{Size: size, ErrorSize: errors}}
		}
		want := func(when string, nodes ...mailqueue.Node) {
			t.Helper()
			got, err := b.ClusterMailQueue(t.Context())
			must(t, err)
			if diff := cmp.Diff(nodes, got.Nodes); diff != "" {
				t.Errorf("%s: want (-), got (+):\n%s", when, diff)
			}
		}
		must(t, s.KeepWatched(t.Context(), l, []mailqueue.WatchedNode{{ID: "jira_1", Source: "jmx"}}))
		must(t, s.RecordWatched(t.Context(), l, "jira_1", mailqueue.Sizes{Size: 9, ErrorSize: 0}, nil))
		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil))
		must(t, s.Record(t.Context(), "node_2", "jmx", mailqueue.Sizes{}, down)) // it never answered
		must(t, s.Record(t.Context(), "node_3", mailqueue.SourceRelay, mailqueue.Sizes{Size: 9, ErrorSize: 9}, nil))
		want("all answer", node("jira_1", cluster.Active, 9, 0), node("node_1", cluster.Active, 26, 2), node("node_2", cluster.Active, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))

		must(t, mailqueuetest.Shift(t.Context(), d, 50*time.Second))
		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, down))
		must(t, s.RecordWatched(t.Context(), l, "jira_1", mailqueue.Sizes{}, down))
		want("failing for a short time", node("jira_1", cluster.Offline, 9, 0), node("node_1", cluster.Active, 26, 2), node("node_2", cluster.Active, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))

		must(t, mailqueuetest.Shift(t.Context(), d, 11*time.Second))
		want("failing for long", node("jira_1", cluster.Offline, 0, 0), node("node_1", cluster.Offline, 0, 0), node("node_2", cluster.Offline, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))
		// What is known of it stays to be seen where its age is told.
		list, err := b.NodeStatuses(t.Context())
		must(t, err)
		if one := list[1]; one.ID != "node_1" || one.Sizes != (mailqueue.Sizes{Size: 26, ErrorSize: 2}) || one.State != cluster.Active || one.Error != "It is down." {
			t.Errorf("%+v", one)
		}

		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 1, ErrorSize: 0}, nil))
		must(t, s.RecordWatched(t.Context(), l, "jira_1", mailqueue.Sizes{Size: 2, ErrorSize: 0}, nil))
		must(t, mailqueuetest.Shift(t.Context(), d, 55*time.Second)) // not asked since: the watcher is gone
		want("answering again", node("jira_1", cluster.Active, 2, 0), node("node_1", cluster.Active, 1, 0), node("node_2", cluster.Offline, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))
		must(t, mailqueuetest.Shift(t.Context(), d, 6*time.Second))
		want("nobody asks", node("jira_1", cluster.Offline, 0, 0), node("node_1", cluster.Offline, 0, 0), node("node_2", cluster.Offline, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))
	}, mailqueuetest.Schema...)
}
