package watch

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/admin"
	"outrigger/internal/mailqueue/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var schema = []db.Migrations{audit.Migrations, cluster.Migrations, store.Migrations}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sourceFunc is a source that a test says.
type sourceFunc func(context.Context) (mailqueue.Sizes, error)

func (f sourceFunc) Sizes(ctx context.Context) (mailqueue.Sizes, error) { return f(ctx) }

// place is a node: its service, its leases, and what it says.
type place struct {
	d       *db.DB
	service *admin.Service
	store   *store.Store
	leases  *db.Leases
	figures *Figures
	log     *slog.Logger
	said    *strings.Builder
	active  atomic.Bool
}

// nodes is a cluster as a test says it is.
type nodes []cluster.Node

func (n nodes) Nodes(context.Context) ([]cluster.Node, error) { return n, nil }
func (n nodes) Drain(context.Context, string) error           { return nil }
func (n nodes) Resume(context.Context, string) error          { return nil }

func newPlace(t *testing.T, d *db.DB, id string, list nodes, relay mailqueue.Relay) *place {
	t.Helper()
	p := &place{d: d, store: store.New(d), leases: db.NewLeases(d, id, nil), figures: NewFigures(nil, time.Now), said: &strings.Builder{}}
	p.log = slog.New(slog.NewTextHandler(&locked{out: p.said}, nil))
	p.service = &admin.Service{NodeID: id, Source: "jmx", Cluster: list, Store: p.store, Relay: relay, Clustered: true}
	p.active.Store(true)
	must(t, p.leases.Start(t.Context()))
	t.Cleanup(p.leases.Stop)
	return p
}

type locked struct {
	mu  sync.Mutex
	out *strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// nodeStatus is what is known of a node.
func (p *place) nodeStatus(t *testing.T, id string) mailqueue.NodeStatus {
	t.Helper()
	list, err := p.service.NodeStatuses(t.Context())
	must(t, err)
	for _, s := range list {
		if s.ID == id {
			return s
		}
	}
	return mailqueue.NodeStatus{}
}

// await waits until what is so.
func await(t *testing.T, what func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	for !what() {
		select {
		case <-late:
			t.Fatal("it did not come to be")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// relay is one of which only what the reaper asks is there.
type relay struct {
	mailqueue.Relay
	queues []mailqueue.RelayQueue
	moved  []string
	fails  map[string]error
}

func (r *relay) Queues(context.Context) ([]mailqueue.RelayQueue, error) { return r.queues, nil }

func (r *relay) Handover(_ context.Context, from, to string) (int64, error) {
	if err := r.fails[from]; err != nil {
		return 0, err
	}
	r.moved = append(r.moved, from+" to "+to)
	return 7, nil
}

func TestSampler(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		p := newPlace(t, d, "node_1", nodes{{ID: "node_1", State: cluster.Activating}}, &relay{})
		var failure error
		s := &Sampler{NodeID: "node_1", Kind: "jmx", Store: p.store, Figures: p.figures, Log: p.log,
			Source: sourceFunc(func(context.Context) (mailqueue.Sizes, error) {
				return mailqueue.Sizes{Size: 26, ErrorSize: 2}, failure
			})}
		// A first sample is there when Start returns.
		s.Start(t.Context())
		s.Stop()
		first := p.nodeStatus(t, "node_1")
		if first.Sizes != (mailqueue.Sizes{Size: 26, ErrorSize: 2}) || first.At.IsZero() || first.Source != "jmx" {
			t.Errorf("%+v", first)
		}
		failure = fault.New(fault.Unavailable, "The exporter is down.")
		if r, err := s.runOnce(t.Context()); err != nil || r.Failure != failure {
			t.Errorf("%+v, %v", r, err)
		}
		if n := p.nodeStatus(t, "node_1"); n.Sizes != first.Sizes || !n.At.Equal(first.At) || n.Error != "The exporter is down." {
			t.Errorf("%+v", n)
		}
		// What ended because the process ends is no failure of the source.
		ended, end := context.WithCancel(t.Context())
		end()
		failure = nil
		if _, err := s.runOnce(ended); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}, schema...)
}

// A node that starts waits for its source for at most 2 s, and goes on.
func TestSlowSourceDelaysAStartBy2s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Sampler{NodeID: "node_1", Figures: NewFigures(nil, time.Now), Log: slog.New(slog.DiscardHandler),
			Source: sourceFunc(func(ctx context.Context) (mailqueue.Sizes, error) {
				<-ctx.Done()
				return mailqueue.Sizes{}, ctx.Err()
			})}
		begun := time.Now()
		s.Start(t.Context())
		if took := time.Since(begun); took != firstTime {
			t.Errorf("it took %s", took)
		}
		s.Stop()
	})
	(&Sampler{}).Stop() // a start that failed before
}

// A source that failed is asked again after 10 s, one that answers after 45 s.
func TestHowOftenASourceIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dbtest.SQLite(t, schema...)
		must(t, d.Migrate(t.Context(), schema...))
		begun := time.Now()
		var asked []time.Duration
		s := &Sampler{NodeID: "node_1", Kind: "jmx", Store: store.New(d), Figures: NewFigures(nil, time.Now), Log: slog.New(slog.DiscardHandler),
			Source: sourceFunc(func(context.Context) (mailqueue.Sizes, error) {
				asked = append(asked, time.Since(begun))
				if len(asked) == 2 || len(asked) == 3 {
					return mailqueue.Sizes{}, errors.New("down")
				}
				return mailqueue.Sizes{Size: 1}, nil
			})}
		s.Start(t.Context())
		<-time.After(2 * time.Minute)
		s.Stop()
		want := []time.Duration{0, 45 * time.Second, 55 * time.Second, 65 * time.Second, 110 * time.Second}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Error(diff)
		}
	})
}

// A source is said to fail once, and to answer again once.
func TestSaysItOnce(t *testing.T) {
	var said strings.Builder
	s := sayer{log: slog.New(slog.NewTextHandler(&said, nil)), node: "node_1"}
	down := errors.New("down")
	for _, failure := range []error{nil, down, down, down, nil, nil, down} {
		s.heard(t.Context(), failure, nil)
	}
	s.heard(t.Context(), nil, nil)
	s.heard(t.Context(), nil, down) // what it says cannot be kept
	ended, end := context.WithCancel(t.Context())
	end()
	s.heard(ended, nil, nil)
	if warned, again := strings.Count(said.String(), "are not known"), strings.Count(said.String(), "known again"); warned != 3 || again != 2 {
		t.Errorf("%d and %d times:\n%s", warned, again, said.String())
	}
}

// One node watches for all; drained, it leaves that to another.
func TestWatcher(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var asked sync.Map
		watcher := func(p *place, list ...string) *Watcher {
			w := &Watcher{Leases: p.leases, Active: p.active.Load, Store: p.store, Figures: p.figures, Log: p.log}
			for _, id := range list {
				w.Nodes = append(w.Nodes, Watched{mailqueue.WatchedNode{ID: id, Source: "jmx"}, sourceFunc(func(context.Context) (mailqueue.Sizes, error) {
					asked.Store(p.service.NodeID+" "+id, true)
					if id == "down" {
						return mailqueue.Sizes{}, fault.New(fault.Unavailable, "It is down.")
					}
					return mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil
				})})
			}
			return w
		}
		one, two := newPlace(t, d, "node_1", nil, &relay{}), newPlace(t, d, "node_2", nil, &relay{})
		first, second := watcher(one, "jira_1", "down"), watcher(two, "jira_1", "down")
		must(t, first.Start(t.Context()))
		defer first.Stop()
		await(t, func() bool {
			return two.nodeStatus(t, "jira_1").State == cluster.Active && two.nodeStatus(t, "down").Error != ""
		})
		if n := two.nodeStatus(t, "jira_1"); n.Sizes != (mailqueue.Sizes{Size: 26, ErrorSize: 2}) || !n.Watched {
			t.Errorf("%+v", n)
		}
		if n := two.nodeStatus(t, "down"); n.State != cluster.Offline || n.Error != "It is down." || !n.At.IsZero() {
			t.Errorf("%+v", n)
		}
		must(t, second.Start(t.Context()))
		if _, both := asked.Load("node_2 jira_1"); both {
			t.Error("two nodes ask")
		}
		second.Stop()

		one.active.Store(false)
		await(t, func() bool {
			l, err := two.leases.Acquire(t.Context(), watcherLease)
			must(t, err)
			if l == nil {
				return false
			}
			must(t, two.leases.Release(t.Context(), l))
			return true
		})
		must(t, second.Start(t.Context()))
		await(t, func() bool { _, ok := asked.Load("node_2 jira_1"); return ok })
		second.Stop()
		first.Stop()

		// A node whose settings watch nothing takes the others off the list.
		none := watcher(two)
		must(t, none.Start(t.Context()))
		none.Stop()
		if n := two.nodeStatus(t, "jira_1"); n.ID != "" {
			t.Errorf("%+v", n)
		}
	}, schema...)
	(&Watcher{}).Stop()
}

// Messages of a node that has been OFFLINE for long enough go to the node that
// looks after it; until then it is noted that it has some.
func TestCaretaker(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now, err := d.Now(t.Context())
		must(t, err)
		list := nodes{
			{ID: "node_1", State: cluster.Active, ChangedAt: now.Add(-time.Hour)},
			{ID: "node_2", State: cluster.Offline, ChangedAt: now.Add(-11 * time.Minute)},
			{ID: "node_3", State: cluster.Offline, ChangedAt: now.Add(-9 * time.Minute)},
			{ID: "node_4", State: cluster.Passive, ChangedAt: now.Add(-time.Hour)},
			{ID: "node_5", State: cluster.Offline, ChangedAt: now.Add(-time.Hour)},
			{ID: "node_6", State: cluster.Offline, ChangedAt: now.Add(-time.Hour)},
		}
		r := &relay{fails: map[string]error{"node_6": fault.New(fault.Conflict, "It sends its mail itself.")}}
		p := newPlace(t, d, "node_1", list, r)
		c := &NodeReaper{NodeID: "node_1", After: 10 * time.Minute, Cluster: list, Relay: r, Store: p.store,
			Leases: p.leases, Now: d.Now, Active: p.active.Load, Log: p.log}
		round := func(want Cared, failure string) {
			t.Helper()
			did, err := c.runOnce(t.Context())
			if diff := cmp.Diff(want, did); diff != "" {
				t.Error(diff)
			}
			if failure == "" && err != nil || failure != "" && (err == nil || err.Error() != failure) {
				t.Errorf("%v, want %s", err, failure)
			}
		}
		nothing := map[string]int64{}
		round(Cared{Moved: nothing}, "")
		for _, n := range list {
			r.queues = append(r.queues, mailqueue.RelayQueue{NodeID: n.ID, Sizes: mailqueue.Sizes{ErrorSize: 1}})
		}
		r.queues[4].Sizes = mailqueue.Sizes{} // node_5 has none
		p.active.Store(false)
		round(Cared{Elsewhere: true, Moved: nothing}, "")
		p.active.Store(true)
		round(Cared{WithMail: []string{"node_2", "node_3", "node_6"}, Moved: map[string]int64{"node_2": 7}}, "node_6: It sends its mail itself.")
		if diff := cmp.Diff([]string{"node_2 to node_1"}, r.moved); diff != "" {
			t.Error(diff)
		}
		// Another node is at it.
		other := newPlace(t, d, "node_9", list, r)
		l, err := other.leases.Acquire(t.Context(), reaperLease)
		if err != nil || l == nil {
			t.Fatal(l, err)
		}
		round(Cared{Elsewhere: true, Moved: nothing}, "")

		c.Start(t.Context())
		c.Stop()
	}, schema...)
	(&NodeReaper{}).Stop()
}
