package mailqueue

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

func TestSameSchema(t *testing.T) { dbtest.SameSchema(t, schema...) }

// shift moves all that is stored about samples back, as if time had gone on.
func shift(t *testing.T, d *db.DB, by time.Duration) {
	t.Helper()
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		for _, q := range []string{
			`UPDATE mailqueue_nodes SET sampled_at = sampled_at - $1 WHERE sampled_at > 0`,
			`UPDATE mailqueue_nodes SET failing_since = failing_since - $1 WHERE failing_since > 0`,
			`UPDATE mailqueue_nodes SET changed_at = changed_at - $1, mail_at = mail_at - $1`,
			`UPDATE mailqueue_samples SET at = at - $1`,
			`UPDATE cluster_nodes SET changed_at = changed_at - $1`,
		} {
			if _, err := tx.Exec(t.Context(), q, by.Microseconds()); err != nil {
				return err
			}
		}
		return nil
	}))
}

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

func rows(t *testing.T, d *db.DB, table string) (n int) {
	t.Helper()
	must(t, d.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n)
	}))
	return n
}

// A source that fails leaves the last sizes as they are, with the reason and
// since when; when it answers again both are gone.
func TestRecord(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewStore(d)
		own := func() Reading {
			t.Helper()
			r, err := s.readings(t.Context())
			must(t, err)
			return r.own["node_1"]
		}
		failure := fault.New(fault.Unavailable, "The local Postfix did not list its queue: it is down.")
		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{}, failure))
		if r := own(); r.Sizes != (Sizes{}) || !r.At.IsZero() || r.Error != failure.Message || r.FailingAt.IsZero() || r.Source != "postfix" {
			t.Errorf("never read: %+v", r)
		}
		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{26, 2}, nil))
		read := own()
		if read.Sizes != (Sizes{26, 2}) || read.At.IsZero() || read.Error != "" || !read.FailingAt.IsZero() {
			t.Errorf("read: %+v", read)
		}
		shift(t, d, time.Minute)
		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{}, failure))
		since := own().FailingAt
		must(t, s.Record(t.Context(), "node_1", "postfix", Sizes{}, errors.New("hunter2")))
		if r := own(); r.Sizes != (Sizes{26, 2}) || !r.At.Equal(read.At.Add(-time.Minute)) || r.Error != "An internal error occurred." || !r.FailingAt.Equal(since) {
			t.Errorf("failing: %+v", r)
		}
		must(t, s.Record(t.Context(), "node_1", "jmx", Sizes{1, 0}, nil))
		if r := own(); r.Sizes != (Sizes{1, 0}) || r.Error != "" || !r.FailingAt.IsZero() || r.Source != "jmx" {
			t.Errorf("read again: %+v", r)
		}
	}, schema...)
}

// Samples make the course of the sizes: at most one in 40 s, the highest of a
// step, gone with their time.
func TestHistory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewStore(d)
		for _, size := range []int64{3, 100, 101} { // the last two are too close to the first
			must(t, s.Record(t.Context(), "node_1", "relay", Sizes{size, 0}, nil))
		}
		must(t, s.Record(t.Context(), "node_2", "relay", Sizes{8, 1}, nil))
		shift(t, d, time.Minute)
		must(t, s.Record(t.Context(), "node_1", "relay", Sizes{5, 1}, nil))
		shift(t, d, time.Hour)
		must(t, s.Record(t.Context(), "node_1", "relay", Sizes{4, 2}, nil))
		now, err := d.Now(t.Context())
		must(t, err)

		from := now.Add(-4 * time.Hour)
		course, err := s.History(t.Context(), from, 2*time.Hour)
		must(t, err)
		want := map[string][]Sample{
			"node_1": {{from.Add(2 * time.Hour), Sizes{5, 1}}, {from.Add(4 * time.Hour), Sizes{4, 2}}},
			"node_2": {{from.Add(2 * time.Hour), Sizes{8, 1}}},
		}
		// The last sample may be in the step before, by the time that passed.
		if course["node_1"][len(course["node_1"])-1].At.Before(want["node_1"][1].At) {
			want["node_1"] = []Sample{{from.Add(2 * time.Hour), Sizes{5, 2}}}
		}
		if diff := cmp.Diff(want, course); diff != "" {
			t.Error(diff)
		}
		if course, err = s.History(t.Context(), now.Add(-time.Minute), time.Minute); err != nil || len(course) != 1 {
			t.Errorf("%v, %v", course, err)
		}
		for _, want := range []int64{2, 1, 0} {
			must(t, d.Write(t.Context(), func(tx *db.Tx) error {
				n, err := DeleteSamples(t.Context(), tx, now.Add(-time.Minute), 2)
				if n != want {
					t.Errorf("deleted %d, want %d", n, want)
				}
				return err
			}))
		}
		if n := rows(t, d, "mailqueue_samples"); n != 1 {
			t.Errorf("%d samples are left", n)
		}
	}, schema...)
}

// A node that is watched is ACTIVE while its source answers, and OFFLINE when
// it has not for 20 s.
func TestWatchedNode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewStore(d)
		leases, l := lease(t, d, "w")
		must(t, s.Record(t.Context(), "mine", "relay", Sizes{1, 1}, nil))
		must(t, s.KeepWatched(t.Context(), l, []WatchedNode{{"jira_1", "jmx"}, {"jira_2", "remote"}, {"mine", "jmx"}}))
		get := func(id string) Standing {
			t.Helper()
			r, err := s.readings(t.Context())
			must(t, err)
			for _, n := range r.watched {
				if n.ID == id {
					return n
				}
			}
			return Standing{}
		}
		want := func(state cluster.State, sizes Sizes) {
			t.Helper()
			if n := get("jira_1"); n.State != state || n.Sizes != sizes || n.Source != "jmx" {
				t.Errorf("%+v, want %s with %+v", n, state, sizes)
			}
		}
		record := func(sizes Sizes, err error) {
			t.Helper()
			must(t, s.RecordWatched(t.Context(), l, "jira_1", sizes, err))
		}
		down := fault.New(fault.Unavailable, "The exporter is down.")
		want(cluster.Offline, Sizes{})
		record(Sizes{}, down)
		want(cluster.Offline, Sizes{})
		record(Sizes{26, 2}, nil)
		want(cluster.Active, Sizes{26, 2})
		active := get("jira_1").ChangedAt
		shift(t, d, 10*time.Second)
		record(Sizes{}, down)
		want(cluster.Active, Sizes{26, 2})
		shift(t, d, 11*time.Second)
		record(Sizes{}, down)
		want(cluster.Offline, Sizes{26, 2})
		if n := get("jira_1"); !n.ChangedAt.After(active) || n.Error != down.Message {
			t.Errorf("%+v", n)
		}
		record(Sizes{27, 0}, nil)
		want(cluster.Active, Sizes{27, 0})
		// Nothing becomes of a name that a node of Outrigger's own has.
		must(t, s.RecordWatched(t.Context(), l, "mine", Sizes{9, 9}, nil))
		if r, err := s.readings(t.Context()); err != nil || r.own["mine"].Sizes != (Sizes{1, 1}) {
			t.Errorf("%+v, %v", r, err)
		}

		must(t, s.KeepWatched(t.Context(), l, []WatchedNode{{"jira_1", "postfix"}}))
		if n := get("jira_1"); n.Source != "postfix" || n.Sizes != (Sizes{27, 0}) || get("jira_2").ID != "" {
			t.Errorf("after the settings changed: %+v, %+v", n, get("jira_2"))
		}
		must(t, leases.Release(t.Context(), l))
		other, err := leases.Acquire(t.Context(), "w")
		if err != nil || other == nil {
			t.Fatal(err)
		}
		if err := s.RecordWatched(t.Context(), l, "jira_1", Sizes{}, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("written under a lease that is lost: %v", err)
		}
		if err := s.KeepWatched(t.Context(), l, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("written under a lease that is lost: %v", err)
		}
		// A process that takes the name over is no watched node any more.
		must(t, s.Record(t.Context(), "jira_1", "relay", Sizes{3, 0}, nil))
		if r, err := s.readings(t.Context()); err != nil || r.own["jira_1"].Sizes != (Sizes{3, 0}) || len(r.watched) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}, schema...)
}

// A node that is OFFLINE is forgotten after its time, unless it had messages
// in it.
func TestDeleteNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewStore(d)
		_, l := lease(t, d, "caretaker")
		for id, state := range map[string]cluster.State{"gone": cluster.Offline, "mail": cluster.Offline, "alive": cluster.Active} {
			insertNode(t, d, id, state)
			must(t, s.Record(t.Context(), id, "relay", Sizes{}, nil))
		}
		must(t, s.NoteMail(t.Context(), l, []string{"mail"}))
		shift(t, d, time.Hour)
		sweep := func(age time.Duration, want int64) {
			t.Helper()
			must(t, d.Write(t.Context(), func(tx *db.Tx) error {
				n, err := DeleteNodes(t.Context(), tx, tx.Now().Add(-age), 10)
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
		shift(t, d, time.Hour)
		sweep(30*time.Minute, 1)
		if n := rows(t, d, "mailqueue_samples"); n != 3 {
			t.Errorf("%d samples are left: they go with their own time", n)
		}
	}, schema...)
}

func insertNode(t *testing.T, d *db.DB, id string, state cluster.State) {
	t.Helper()
	must(t, d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO cluster_nodes (id, state, address, version, started_at, beat_at, changed_at)
			VALUES ($1, $2, '', '', $3, $3, $3)`, id, state, db.Micros(tx.Now()))
		return err
	}))
}

func TestForget(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewStore(d)
		insertNode(t, d, "gone", cluster.Offline)
		insertNode(t, d, "alive", cluster.Active)
		must(t, s.Record(t.Context(), "gone", "relay", Sizes{}, nil))
		for id, code := range map[string]fault.Code{"gone": "", "alive": fault.Conflict, "nobody": fault.NotFound} {
			if err := s.Forget(t.Context(), id); fault.CodeOf(err) != code {
				t.Errorf("%s: %v", id, err)
			}
		}
		if n, m, a := rows(t, d, "cluster_nodes"), rows(t, d, "mailqueue_nodes"), rows(t, d, "audit_entries"); n != 1 || m != 0 || a != 1 {
			t.Errorf("%d nodes, %d readings and %d audit entries", n, m, a)
		}
	}, schema...)
}
