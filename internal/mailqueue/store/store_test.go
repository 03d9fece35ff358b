package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
	"outrigger/internal/mailqueue/relay"
	"outrigger/internal/mailqueue/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSameSchema(t *testing.T) { dbtest.SameSchema(t, mailqueuetest.Schema...) }

func lease(t *testing.T, d *db.DB, name string) (*db.Leases, *db.Lease) {
	t.Helper()
	leases := db.NewLeases(d, "node_1", nil)
	must(t, leases.Start(t.Context()))
	t.Cleanup(leases.Stop)
	l, err := leases.Acquire(t.Context(), name)
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	return leases, l
}

func rows(t *testing.T, d *db.DB, table string) int {
	t.Helper()
	n, err := mailqueuetest.CountRows(t.Context(), d, table)
	must(t, err)
	return n
}

// A source that fails leaves the last sizes as they are, with the reason and
// since when; when it answers again both are gone.
func TestRecord(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		own := func() mailqueue.Reading {
			t.Helper()
			r, err := s.Readings(t.Context())
			must(t, err)
			return r.Own["node_1"]
		}
		failure := fault.New(fault.Unavailable, "The local Postfix did not list its queue: it is down.")
		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, failure))
		if r := own(); r.Sizes != (mailqueue.Sizes{}) || !r.At.IsZero() || r.Error != failure.Message || r.FailingAt.IsZero() || r.Source != "postfix" {
			t.Errorf("never read: %+v", r)
		}
		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil))
		read := own()
		if read.Sizes != (mailqueue.Sizes{Size: 26, ErrorSize: 2}) || read.At.IsZero() || read.Error != "" || !read.FailingAt.IsZero() {
			t.Errorf("read: %+v", read)
		}
		must(t, mailqueuetest.Shift(t.Context(), d, time.Minute))
		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, failure))
		since := own().FailingAt
		must(t, s.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, errors.New("hunter2")))
		if r := own(); r.Sizes != (mailqueue.Sizes{Size: 26, ErrorSize: 2}) || !r.At.Equal(read.At.Add(-time.Minute)) || r.Error != "An internal error occurred." || !r.FailingAt.Equal(since) {
			t.Errorf("failing: %+v", r)
		}
		must(t, s.Record(t.Context(), "node_1", "jmx", mailqueue.Sizes{Size: 1, ErrorSize: 0}, nil))
		if r := own(); r.Sizes != (mailqueue.Sizes{Size: 1, ErrorSize: 0}) || r.Error != "" || !r.FailingAt.IsZero() || r.Source != "jmx" {
			t.Errorf("read again: %+v", r)
		}
	}, mailqueuetest.Schema...)
}

// A queue is long since the sample after the last one in which it was not.
func TestAboveSince(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		for _, sizes := range []mailqueue.Sizes{{Size: 90, ErrorSize: 1}, {Size: 3}, {Size: 60}, {Size: 55, ErrorSize: 2}, {Size: 70, ErrorSize: 1}} {
			must(t, mailqueuetest.Shift(t.Context(), d, time.Hour))
			must(t, s.Record(t.Context(), "node_1", "jmx", sizes, nil))
		}
		now, err := d.Now(t.Context())
		must(t, err)
		for least, hours := range map[mailqueue.Sizes]time.Duration{{Size: 50}: 2, {ErrorSize: 1}: 1, {Size: 70}: 0} {
			since, err := s.AboveSince(t.Context(), "node_1", least)
			must(t, err)
			if ago := now.Sub(since).Round(time.Hour); ago != hours*time.Hour {
				t.Errorf("%+v: %v ago, want %d h", least, ago, hours)
			}
		}
		if since, err := s.AboveSince(t.Context(), "node_1", mailqueue.Sizes{Size: 71}); err != nil || !since.IsZero() {
			t.Errorf("a queue that is short: %v %v", since, err)
		}
	}, mailqueuetest.Schema...)
}

// Samples make the course of the sizes: at most one in 40 s, the highest of a
// step, gone with their time.
func TestHistory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		for _, size := range []int64{3, 100, 101} { // the last two are too close to the first
			must(t, s.Record(t.Context(), "node_1", "relay", mailqueue.Sizes{Size: size, ErrorSize: 0}, nil))
		}
		must(t, s.Record(t.Context(), "node_2", "relay", mailqueue.Sizes{Size: 8, ErrorSize: 1}, nil))
		must(t, mailqueuetest.Shift(t.Context(), d, time.Minute))
		must(t, s.Record(t.Context(), "node_1", "relay", mailqueue.Sizes{Size: 5, ErrorSize: 1}, nil))
		must(t, mailqueuetest.Shift(t.Context(), d, time.Hour))
		must(t, s.Record(t.Context(), "node_1", "relay", mailqueue.Sizes{Size: 4, ErrorSize: 2}, nil))
		now, err := d.Now(t.Context())
		must(t, err)

		from := now.Add(-4 * time.Hour)
		course, err := s.History(t.Context(), from, 2*time.Hour)
		must(t, err)
		want := map[string][]mailqueue.Sample{
			"node_1": {{At: from.Add(2 * time.Hour), Sizes: mailqueue.Sizes{Size: 5, ErrorSize: 1}}, {At: from.Add(4 * time.Hour), Sizes: mailqueue.Sizes{Size: 4, ErrorSize: 2}}},
			"node_2": {{At: from.Add(2 * time.Hour), Sizes: mailqueue.Sizes{Size: 8, ErrorSize: 1}}},
		}
		// The last sample may be in the step before, by the time that passed.
		if course["node_1"][len(course["node_1"])-1].At.Before(want["node_1"][1].At) {
			want["node_1"] = []mailqueue.Sample{{At: from.Add(2 * time.Hour), Sizes: mailqueue.Sizes{Size: 5, ErrorSize: 2}}}
		}
		if diff := cmp.Diff(want, course); diff != "" {
			t.Error(diff)
		}
		if course, err = s.History(t.Context(), now.Add(-time.Minute), time.Minute); err != nil || len(course) != 1 {
			t.Errorf("%v, %v", course, err)
		}
		for _, want := range []int64{2, 1, 0} {
			must(t, d.Write(t.Context(), func(tx *db.Tx) error {
				n, err := store.DeleteSamples(t.Context(), tx, now.Add(-time.Minute), 2)
				if n != want {
					t.Errorf("deleted %d, want %d", n, want)
				}
				return err
			}))
		}
		if n := rows(t, d, "mailqueue_samples"); n != 1 {
			t.Errorf("%d samples are left", n)
		}
	}, mailqueuetest.Schema...)
}

// A node that is watched is ACTIVE while its source answers, and OFFLINE when
// it has not for 20 s.
func TestWatchedNode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		leases, l := lease(t, d, "w")
		must(t, s.Record(t.Context(), "mine", "relay", mailqueue.Sizes{Size: 1, ErrorSize: 1}, nil))
		must(t, s.KeepWatched(t.Context(), l, []mailqueue.WatchedNode{{ID: "jira_1", Source: "jmx"}, {ID: "jira_2", Source: "remote"}, {ID: "mine", Source: "jmx"}}))
		get := func(id string) mailqueue.NodeStatus {
			t.Helper()
			r, err := s.Readings(t.Context())
			must(t, err)
			for _, n := range r.Watched {
				if n.ID == id {
					return n
				}
			}
			return mailqueue.NodeStatus{}
		}
		want := func(state cluster.State, sizes mailqueue.Sizes) {
			t.Helper()
			if n := get("jira_1"); n.State != state || n.Sizes != sizes || n.Source != "jmx" {
				t.Errorf("%+v, want %s with %+v", n, state, sizes)
			}
		}
		record := func(sizes mailqueue.Sizes, err error) {
			t.Helper()
			must(t, s.RecordWatched(t.Context(), l, "jira_1", sizes, err))
		}
		down := fault.New(fault.Unavailable, "The exporter is down.")
		want(cluster.Offline, mailqueue.Sizes{})
		record(mailqueue.Sizes{}, down)
		want(cluster.Offline, mailqueue.Sizes{})
		record(mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil)
		want(cluster.Active, mailqueue.Sizes{Size: 26, ErrorSize: 2})
		active := get("jira_1").ChangedAt
		must(t, mailqueuetest.Shift(t.Context(), d, 10*time.Second))
		record(mailqueue.Sizes{}, down)
		want(cluster.Active, mailqueue.Sizes{Size: 26, ErrorSize: 2})
		must(t, mailqueuetest.Shift(t.Context(), d, 11*time.Second))
		record(mailqueue.Sizes{}, down)
		want(cluster.Offline, mailqueue.Sizes{Size: 26, ErrorSize: 2})
		if n := get("jira_1"); !n.ChangedAt.After(active) || n.Error != down.Message {
			t.Errorf("%+v", n)
		}
		record(mailqueue.Sizes{Size: 27, ErrorSize: 0}, nil)
		want(cluster.Active, mailqueue.Sizes{Size: 27, ErrorSize: 0})
		// Nothing becomes of a name that a node of Outrigger's own has.
		must(t, s.RecordWatched(t.Context(), l, "mine", mailqueue.Sizes{Size: 9, ErrorSize: 9}, nil))
		if r, err := s.Readings(t.Context()); err != nil || r.Own["mine"].Sizes != (mailqueue.Sizes{Size: 1, ErrorSize: 1}) {
			t.Errorf("%+v, %v", r, err)
		}

		must(t, s.KeepWatched(t.Context(), l, []mailqueue.WatchedNode{{ID: "jira_1", Source: "postfix"}}))
		if n := get("jira_1"); n.Source != "postfix" || n.Sizes != (mailqueue.Sizes{Size: 27, ErrorSize: 0}) || get("jira_2").ID != "" {
			t.Errorf("after the settings changed: %+v, %+v", n, get("jira_2"))
		}
		must(t, leases.Release(t.Context(), l))
		other, err := leases.Acquire(t.Context(), "w")
		if err != nil || other == nil {
			t.Fatal(err)
		}
		if err := s.RecordWatched(t.Context(), l, "jira_1", mailqueue.Sizes{}, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("written under a lease that is lost: %v", err)
		}
		if err := s.KeepWatched(t.Context(), l, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("written under a lease that is lost: %v", err)
		}
		// A process that takes the name over is no watched node any more.
		must(t, s.Record(t.Context(), "jira_1", "relay", mailqueue.Sizes{Size: 3, ErrorSize: 0}, nil))
		if r, err := s.Readings(t.Context()); err != nil || r.Own["jira_1"].Sizes != (mailqueue.Sizes{Size: 3, ErrorSize: 0}) || len(r.Watched) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}, mailqueuetest.Schema...)
}

// A node that is OFFLINE is forgotten after its time, unless it had messages
// in it.
func TestDeleteNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		_, l := lease(t, d, "reaper")
		for id, state := range map[string]cluster.State{"gone": cluster.Offline, "mail": cluster.Offline, "alive": cluster.Active} {
			must(t, mailqueuetest.InsertNode(t.Context(), d, id, state))
			must(t, s.Record(t.Context(), id, "relay", mailqueue.Sizes{}, nil))
		}
		must(t, s.NoteMail(t.Context(), l, []string{"mail"}))
		must(t, mailqueuetest.Shift(t.Context(), d, time.Hour))
		sweep := func(age time.Duration, want int64) {
			t.Helper()
			must(t, d.Write(t.Context(), func(tx *db.Tx) error {
				n, err := store.DeleteNodes(t.Context(), tx, tx.Now().Add(-age), 10)
				if n != want {
					t.Errorf("deleted %d, want %d", n, want)
				}
				return err
			}))
		}
		sweep(2*time.Hour, 0)
		must(t, s.NoteMail(t.Context(), l, []string{"mail"}))
		sweep(30*time.Minute, 1)
		sweep(30*time.Minute, 0)
		if n, m := rows(t, d, "cluster_nodes"), rows(t, d, "mailqueue_nodes"); n != 2 || m != 2 {
			t.Errorf("%d nodes and %d readings are left", n, m)
		}
		must(t, mailqueuetest.Shift(t.Context(), d, time.Hour))
		sweep(30*time.Minute, 1)
		if n := rows(t, d, "mailqueue_samples"); n != 3 {
			t.Errorf("%d samples are left: they go with their own time", n)
		}
	}, mailqueuetest.Schema...)
}

// queue has a node begin its empty mail queue.
func queue(t *testing.T, d *db.DB, node string) {
	t.Helper()
	q, err := relay.New(d, relay.Options{NodeID: node, Dir: t.TempDir()})
	must(t, err)
	must(t, q.Start(t.Context()))
}

// A node that is forgotten has no mail queue in lists any more.
func TestForget(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		must(t, mailqueuetest.InsertNode(t.Context(), d, "gone", cluster.Offline))
		must(t, mailqueuetest.InsertNode(t.Context(), d, "alive", cluster.Active))
		must(t, s.Record(t.Context(), "gone", "relay", mailqueue.Sizes{}, nil))
		queue(t, d, "gone")
		queue(t, d, "alive")
		for id, code := range map[string]fault.Code{"gone": "", "alive": fault.Conflict, "nobody": fault.NotFound} {
			if err := s.Forget(t.Context(), id); fault.CodeOf(err) != code {
				t.Errorf("%s: %v", id, err)
			}
		}
		if n, m, a := rows(t, d, "cluster_nodes"), rows(t, d, "mailqueue_nodes"), rows(t, d, "audit_entries"); n != 1 || m != 0 || a != 1 {
			t.Errorf("%d nodes, %d readings and %d audit entries", n, m, a)
		}
		if n := rows(t, d, "relay_queues"); n != 1 {
			t.Errorf("%d mail queues of one node", n)
		}
	}, mailqueuetest.Schema...)
}
