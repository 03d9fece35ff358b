package store

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
)

// worked begins to process the data of stand: old had the lease of the worker, and
// now has it.
func worked(t *testing.T, d *db.DB, s *Store) (old, now *db.Lease, m threads.Migration) {
	t.Helper()
	stand(t, d, s, threads.PhaseReady)
	old, now = twoHolders(t, d)
	operate(t, s, threads.OpStart)
	m, err := s.Taken(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	return old, now, m
}

// A worker whose lease another one has taken writes nothing any more, in no
// way, whatever it still thinks; neither does one that was stopped, but for
// what its target has.
func TestOvertakenWritesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, ctx := opened(t, d), t.Context()
		old, now, m := worked(t, d, s)
		put := []threads.IssueMap{{CloudIssueID: 10, Parents: threads.ParentMap{{CommentID: 20, ParentID: 30}}}}
		chunks, err := s.Chunks(ctx, m.Stage, 0, 1)
		if err != nil || len(chunks) != 1 {
			t.Fatal(chunks, err)
		}
		chunks[0].Refuse(0, threads.TargetNotFound, 0)
		after := m
		after.Advance(chunks[0], chunks[0].Issues[0], 0)
		stage := func(h *db.Lease) *StageWriter { return s.StageWriter(&threads.StageState{ID: m.Stage}, h) }
		draft(t, s, threads.HierarchyFile, `[]`)
		draft(t, s, threads.MappingsFile, threads.MappingHeader)
		if _, err := s.Preview(ctx); err != nil {
			t.Fatal(err)
		}
		for name, write := range map[string]func() error{
			"Taken": func() error { _, err := s.Taken(ctx, old); return err },
			"Commit": func() error {
				c := after
				return s.Commit(ctx, old, &c, threads.Written{Put: put, Add: []*threads.News{{IssueMap: put[0], Chunk: chunks[0]}}, Chunks: chunks})
			},
			"CommitJob": func() error {
				return s.CommitJob(ctx, old, threads.Job{Name: threads.JobVerify}, threads.VerifyJob{}, threads.JobWritten{Put: put})
			},
			"ClaimStage": func() error { _, err := s.ClaimStage(ctx, old); return err },
			"WritePages": func() error { return stage(old).WritePages(ctx, 1, 1, [][]byte{{1}}) },
			"WriteChunks": func() error {
				return stage(old).WriteChunks(ctx, []*threads.Chunk{{Number: 7, Records: 1}})
			},
			"Progress": func() error { return stage(old).Progress(ctx, "x", 0) },
			"Clear":    func() error { return stage(old).Clear(ctx) },
			"Finish":   func() error { return stage(old).Finish(ctx, &threads.Preview{}, nil) },
			"Fail":     func() error { return stage(old).Fail(ctx, "no") },
		} {
			if err := write(); !errors.Is(err, threads.ErrOvertaken) {
				t.Errorf("%s gives %v", name, err)
			}
		}
		same(t, s, m, 0)

		// Stopped, with the lease.
		operate(t, s, threads.OpStop)
		m, _ = s.Migration(ctx)
		c := after
		if err := s.Commit(ctx, now, &c, threads.Written{Put: put, Add: []*threads.News{{IssueMap: threads.IssueMap{CloudIssueID: 11, Parents: put[0].Parents}, Chunk: chunks[0]}}, Chunks: chunks}); !errors.Is(err, threads.ErrOvertaken) {
			t.Error(err)
		}
		same(t, s, m, 1)

		// Continued: it is another worker's turn, be it of the same holder.
		operate(t, s, threads.OpContinue)
		m, _ = s.Migration(ctx)
		if err := s.Commit(ctx, now, &c, threads.Written{Chunks: chunks}); !errors.Is(err, threads.ErrOvertaken) {
			t.Error(err)
		}
		same(t, s, m, 1)
		if m, err = s.Taken(ctx, now); err != nil {
			t.Fatal(err)
		}
		m.Phase = threads.PhaseCompleted
		if err := s.Commit(ctx, now, &m, threads.Written{}); err != nil {
			t.Error(err)
		}
	}, schema...)
}

// twoHolders returns a lease that was lost, and the one that it was lost to.
func twoHolders(t *testing.T, d *db.DB) (old, now *db.Lease) {
	t.Helper()
	for _, h := range []**db.Lease{&old, &now} {
		leases := db.NewLeases(d, "node_1", nil)
		leases.Time, leases.Every = time.Hour, time.Hour
		if err := leases.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(leases.Stop)
		lease, err := leases.Acquire(context.Background(), "threads/processing/00")
		if err != nil || lease == nil {
			t.Fatal(lease, err)
		}
		*h = lease
	}
	return old, now
}

// same tells that the migration, its chunk and the number of maps are those.
func same(t *testing.T, s *Store, want threads.Migration, issues int) {
	t.Helper()
	m, err := s.Migration(t.Context())
	if err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("the migration is %+v, was %+v, %v", m, want, err)
	}
	chunks, err := s.Chunks(t.Context(), m.Stage, 0, 10)
	if err != nil || len(chunks) != 1 || chunks[0].Errors != 0 {
		t.Errorf("the chunks are %+v, %v", chunks, err)
	}
	maps, err := s.Maps(t.Context(), []int64{10, 11})
	if err != nil || len(maps) != issues {
		t.Errorf("the maps are %v, %v", maps, err)
	}
}
