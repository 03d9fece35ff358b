package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
	"outrigger/internal/mailqueue/store"
)

// Each of ten nodes, and of ten that are watched, has its own figures, its own failure
// and its own course, in three rounds in which all of them report at once.
func TestTenNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		_, l := lease(t, d, "w")
		var watched []mailqueue.WatchedNode
		for i := range 10 {
			watched = append(watched, mailqueue.WatchedNode{ID: fmt.Sprint("jira_", i), Source: "jmx"})
		}
		must(t, s.KeepWatched(t.Context(), l, watched))
		figure := func(round, i int) mailqueue.Sizes {
			return mailqueue.Sizes{Size: int64(100*round + i), ErrorSize: int64(i % 4)}
		}
		const rounds = 3
		for round := range rounds {
			must(t, mailqueuetest.Shift(t.Context(), d, time.Minute))
			var all sync.WaitGroup
			for i := range 10 {
				all.Go(func() {
					if err := s.Record(t.Context(), fmt.Sprint("node_", i), "relay", figure(round, i), nil); err != nil {
						t.Error(err)
					}
				})
				all.Go(func() {
					var down error
					if i == round {
						down = fault.New(fault.Unavailable, "Exporter %d is down.", i)
					}
					if err := s.RecordWatched(t.Context(), l, watched[i].ID, figure(round, 10+i), down); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			r, err := s.Readings(t.Context())
			must(t, err)
			if len(r.Own) != 10 || len(r.Watched) != 10 {
				t.Fatalf("round %d: %d nodes, %d watched", round, len(r.Own), len(r.Watched))
			}
			for i := range 10 {
				if own := r.Own[fmt.Sprint("node_", i)]; own.Sizes != figure(round, i) {
					t.Errorf("round %d: node %d has %+v", round, i, own)
				}
			}
			for _, n := range r.Watched {
				var i int
				if _, err := fmt.Sscanf(n.ID, "jira_%d", &i); err != nil {
					t.Fatal(err)
				}
				want, failing := figure(round, 10+i), ""
				if i == round { // the figures stay those of the round before
					want, failing = mailqueue.Sizes{}, fmt.Sprintf("Exporter %d is down.", i)
					if round > 0 {
						want = figure(round-1, 10+i)
					}
				}
				if n.Sizes != want || n.Error != failing {
					t.Errorf("round %d: %+v, want %+v with %q", round, n, want, failing)
				}
			}
		}
		now, err := d.Now(t.Context())
		must(t, err)
		course, err := s.History(t.Context(), now.Add(-time.Hour), time.Second)
		must(t, err)
		for i := range 10 {
			samples := course[fmt.Sprint("node_", i)]
			if len(samples) != rounds {
				t.Errorf("node %d has %d samples", i, len(samples))
				continue
			}
			for round, sample := range samples {
				if sample.Sizes != figure(round, i) {
					t.Errorf("node %d had %+v in round %d", i, sample.Sizes, round)
				}
			}
		}
	}, mailqueuetest.Schema...)
}

// Each of ten nodes that are gone is removed by two at once: one did it, the other is
// told that there is none, and those that are there stay.
func TestTwoForgetTenNodesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store.New(d)
		for i := range 10 {
			for state, name := range map[cluster.State]string{cluster.Offline: "gone", cluster.Active: "there"} {
				id := fmt.Sprint(name, "_", i)
				must(t, mailqueuetest.InsertNode(t.Context(), d, id, state))
				must(t, s.Record(t.Context(), id, "relay", mailqueue.Sizes{Size: int64(i)}, nil))
			}
		}
		for i := range 10 {
			var both sync.WaitGroup
			var errs [2]error
			for n := range errs {
				both.Go(func() { errs[n] = s.Forget(t.Context(), fmt.Sprint("gone_", i)) })
			}
			both.Wait()
			if errs[0] == nil == (errs[1] == nil) || !fault.Is(errs[0], fault.NotFound) && !fault.Is(errs[1], fault.NotFound) {
				t.Errorf("node %d: %v", i, errs)
			}
		}
		if n, m, a := rows(t, d, "cluster_nodes"), rows(t, d, "mailqueue_nodes"), rows(t, d, "audit_entries"); n != 10 || m != 10 || a != 10 {
			t.Errorf("%d nodes, %d readings and %d audit entries, want 10 of each", n, m, a)
		}
	}, mailqueuetest.Schema...)
}
