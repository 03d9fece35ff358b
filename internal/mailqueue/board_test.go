package mailqueue

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

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
		s := NewStore(d)
		_, l := lease(t, d, "w")
		b := &Board{NodeID: "node_1", Clustered: true, Source: "postfix", Store: s, Relay: &fakeRelay{queues: []Queue{{NodeID: "node_3", Sizes: Sizes{4, 1}}}},
			Cluster: nodeList{{ID: "node_1", State: cluster.Active}, {ID: "node_2", State: cluster.Active}, {ID: "node_3", State: cluster.Offline}, {ID: "node_4", State: cluster.Active}}}
		down := fault.New(fault.Unavailable, "It is down.")
		node := func(id string, state cluster.State, size, errors int64) Node {
			return Node{NodeID: id, NodeState: state, IsClustered: true, MailQueue: MailQueue{Size: size, ErrorSize: errors}}
		}
		want := func(when string, nodes ...Node) {
			t.Helper()
			got, err := b.ClusterMailQueue(t.Context())
			must(t, err)
			if diff := cmp.Diff(nodes, got.Nodes); diff != "" {
				t.Errorf("%s: want (-), got (+):\n%s", when, diff)
			}
		}
		must(t, s.KeepWatched(t.Context(), l, []WatchedNode{{"jira_1", "jmx"}}))
		must(t, s.RecordWatched(t.Context(), l, "jira_1", Sizes{9, 0}, nil))
		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{26, 2}, nil))
		must(t, s.Record(t.Context(), "node_2", "jmx", Sizes{}, down)) // it never answered
		must(t, s.Record(t.Context(), "node_3", SourceRelay, Sizes{9, 9}, nil))
		want("all answer", node("jira_1", cluster.Active, 9, 0), node("node_1", cluster.Active, 26, 2), node("node_2", cluster.Active, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))

		shift(t, d, 50*time.Second)
		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{}, down))
		must(t, s.RecordWatched(t.Context(), l, "jira_1", Sizes{}, down))
		want("failing for a short time", node("jira_1", cluster.Offline, 9, 0), node("node_1", cluster.Active, 26, 2), node("node_2", cluster.Active, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))

		shift(t, d, 11*time.Second)
		want("failing for long", node("jira_1", cluster.Offline, 0, 0), node("node_1", cluster.Offline, 0, 0), node("node_2", cluster.Offline, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))
		// What is known of it stays to be seen where its age is told.
		list, err := b.Standings(t.Context())
		must(t, err)
		if one := list[1]; one.ID != "node_1" || one.Sizes != (Sizes{26, 2}) || one.State != cluster.Active || one.Error != "It is down." {
			t.Errorf("%+v", one)
		}

		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{1, 0}, nil))
		must(t, s.RecordWatched(t.Context(), l, "jira_1", Sizes{2, 0}, nil))
		shift(t, d, 55*time.Second) // nobody has asked since: the watcher is gone
		want("answering again", node("jira_1", cluster.Active, 2, 0), node("node_1", cluster.Active, 1, 0), node("node_2", cluster.Offline, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))
		shift(t, d, 6*time.Second)
		want("nobody asks", node("jira_1", cluster.Offline, 0, 0), node("node_1", cluster.Offline, 0, 0), node("node_2", cluster.Offline, 0, 0),
			node("node_3", cluster.Offline, 4, 1), node("node_4", cluster.Active, 0, 0))
	}, schema...)
}
