package store

import (
	"errors"
	"slices"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
)

// What an issue had is what it would have without us: before a write that comes
// again it is not what the first one wrote, and it is what others changed since.
func TestIntend(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, ctx := opened(t, d), t.Context()
		old, now, m := worked(t, d, s)
		at, news := threads.Place{}, threads.ParentMap{{CommentID: 20, ParentID: 30}, {CommentID: 22, ParentID: 30}}
		for _, c := range []struct{ found, before threads.ParentMap }{
			{threads.ParentMap{{CommentID: 20, ParentID: 5}, {CommentID: 21, ParentID: 6}}, threads.ParentMap{{CommentID: 20, ParentID: 5}}},
			{news, threads.ParentMap{{CommentID: 20, ParentID: 5}}},
			{threads.ParentMap{{CommentID: 20, ParentID: 30}, {CommentID: 22, ParentID: 9}}, threads.ParentMap{{CommentID: 20, ParentID: 5}, {CommentID: 22, ParentID: 9}}},
			{threads.ParentMap{{CommentID: 22, ParentID: 9}}, threads.ParentMap{{CommentID: 22, ParentID: 9}}},
		} {
			if err := s.Intend(ctx, now, m.Stage, m.Epoch, at, c.found, news); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Before(ctx, m.Stage, at.Chunk); err != nil || len(got) != 1 || !slices.Equal(got[at.Issue], c.before) {
				t.Errorf("where there is %v, what was before is %v, %v; it should be %v", c.found, got, err, c.before)
			}
		}
		if err := s.Intend(ctx, old, m.Stage, m.Epoch, at, nil, news); !errors.Is(err, threads.ErrOvertaken) {
			t.Errorf("without the lease it gives %v", err)
		}
		operate(t, s, threads.OpStop)
		if err := s.Intend(ctx, now, m.Stage, m.Epoch, at, nil, news); !errors.Is(err, threads.ErrOvertaken) {
			t.Errorf("after a stop it gives %v", err)
		}
	}, schema...)
}

// A commit whose answer was lost comes again, and finds its own relations there:
// they are not what the issue had before.
func TestBeforeOfACommitThatComesAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, ctx := opened(t, d), t.Context()
		for _, had := range []threads.ParentMap{nil, {{CommentID: 20, ParentID: 5}}} {
			stand(t, d, s, threads.PhaseReady)
			_, now := twoHolders(t, d)
			if err := d.Write(ctx, func(tx *db.Tx) error {
				w, err := s.writeMaps(ctx, tx)
				if err == nil {
					err = w.put(ctx, []threads.IssueMap{{CloudIssueID: 10, Parents: had}})
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			operate(t, s, threads.OpStart)
			m, err := s.Taken(ctx, now)
			if err != nil {
				t.Fatal(err)
			}
			chunks, err := s.Chunks(ctx, m.Stage, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			after := m.Next()
			after.Advance(chunks[0], chunks[0].Issues[0], 1)
			for range 2 {
				again := after.Next()
				news := []*threads.News{{IssueMap: threads.IssueMap{CloudIssueID: 10, Parents: threads.ParentMap{{CommentID: 20, ParentID: 30}}}, Chunk: chunks[0]}}
				if err := s.Commit(ctx, now, &again, threads.Written{Add: news}); err != nil {
					t.Fatal(err)
				}
				if got, err := s.Before(ctx, m.Stage, 0); err != nil || !slices.Equal(got[0], had) || len(got) != len(had) {
					t.Errorf("what was before is %v, %v; it should be %v", got, err, had)
				}
			}
		}
	}, schema...)
}
