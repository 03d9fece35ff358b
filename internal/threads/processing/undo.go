package processing

import (
	"context"
	"fmt"

	"outrigger/internal/threads"
)

// undoFeed gives the issues that were written, the last one first.
type undoFeed struct {
	*migrationFeed
	end    threads.Place               // the issue before it is the next one
	before map[int64]threads.ParentMap // by place in the chunk: what the issues had, of those that were written
}

// undo begins where the last issue may have been written.
func (f *migrationFeed) undo(ctx context.Context) (feed, error) {
	u := &undoFeed{migrationFeed: f, end: threads.Place{Chunk: f.m.ChunksDone, Issue: f.m.IssuesInChunk}}
	var last threads.Place
	var written bool
	err := f.p.retry(ctx, "find the last issue", func(ctx context.Context) (err error) {
		last, written, err = f.p.Store.LastBefore(ctx, f.m.Stage)
		return err
	})
	if err != nil {
		return nil, err
	}
	ahead := written && !f.m.Done(last)
	if ahead {
		u.end = threads.Place{Chunk: last.Chunk, Issue: last.Issue + 1}
	}
	if ahead || f.m.Retrying {
		return u, f.linger(ctx)
	}
	return u, nil
}

// linger has nothing sent until what was under way when processing stopped has
// been carried out by the target, or never is.
func (f *migrationFeed) linger(ctx context.Context) error {
	if f.p.Linger == 0 || !f.m.Pace.WaitUntil.IsZero() {
		return nil
	}
	after := f.m.Next()
	after.Pace.WaitUntil, after.Pace.Declared = f.p.Clock().Add(f.p.Linger), true
	after.Message = "Undoing begins when no request from before can be under way any more."
	return f.p.retry(ctx, "store a wait", func(ctx context.Context) error { return f.commit(ctx, after, nil, nil) })
}

func (f *undoFeed) next(ctx context.Context) (*task, error) {
	for f.end.Issue == 0 || f.chunk == nil {
		if f.end.Issue == 0 && f.end.Chunk == 0 {
			return nil, nil
		}
		number := f.end.Chunk
		if f.end.Issue == 0 {
			number--
		}
		var err error
		if f.chunk, f.before, err = f.p.chunkBefore(ctx, f.m.Stage, number); err != nil {
			return nil, err
		}
		if f.end.Issue == 0 {
			f.end = threads.Place{Chunk: number, Issue: int64(len(f.chunk.Issues))}
		}
	}
	f.end.Issue--
	i := f.chunk.Issues[f.end.Issue]
	t := &task{issue: i.CloudIssueID, chunk: f.chunk, place: int(f.end.Issue)}
	if before, written := f.before[f.end.Issue]; written {
		u := threads.Undo{IssueMap: threads.IssueMap{CloudIssueID: t.issue, Parents: i.Wanted()}, Before: before}
		t.ask = func(ctx context.Context) (threads.ParentMap, error) {
			return f.p.Target.Write(ctx, t.issue, func(now threads.ParentMap) (undone threads.ParentMap, _ error) {
				undone, t.kept = u.Of(now)
				return undone, nil
			})
		}
	}
	return t, nil
}

// keep counts issues as not done and stores their maps. What the target forbids
// stays to be undone another time.
func (f *undoFeed) keep(ctx context.Context, tasks, ahead []*task, retried int64, pace threads.Pace) error {
	after, w := f.m.Next(), threads.Written{}
	after.Retryable += retried
	after.Pace, after.Message = pace, pace.Message()
	for _, t := range tasks {
		if after.Done(t.at()) {
			after.Retreat(t.chunk, t.place)
		}
		if t.ask == nil || t.failed && t.refused == threads.TargetForbids {
			continue
		}
		w.Forget = append(w.Forget, t.at())
		w.Put = append(w.Put, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents}) // none, where the issue is gone
		if !t.failed {
			after.Undone++
		}
		if t.kept {
			after.Kept++
		}
	}
	for _, t := range ahead {
		w.Put = append(w.Put, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents})
	}
	err := f.p.Store.Commit(ctx, f.lease, &after, w)
	if err == nil {
		*f.m = after
	}
	return err
}

// undone is how the migration stands when everything is undone that could be.
func (p *Processor) undone(ctx context.Context, m *threads.Migration) (after threads.Migration, err error) {
	var left int64
	if p.Target != nil {
		err = p.retry(ctx, "count what is left", func(ctx context.Context) (err error) {
			left, err = p.Store.BeforeLeft(ctx, m.Stage)
			return err
		})
		if err != nil {
			return after, err
		}
	}
	if left > 0 {
		after = m.Next()
		after.Phase, after.Pace = threads.PhaseFailed, threads.Pace{}
		after.Message = fmt.Sprintf("The target forbids writing to %s, which still have what was written; %d were undone. Give the account the permission to edit issues, then continue; or reset to leave them as they are.",
			threads.Counted(left, "issue"), m.Undone)
		return after, nil
	}
	after = threads.Migration{Phase: threads.PhaseEmpty, Epoch: m.Epoch, Undone: m.Undone, Kept: m.Kept, Message: "The migration was undone: " + threads.Counted(m.Undone, "issue") + " as before."}
	switch {
	case m.Undone == 0:
		after.Message = "The migration was undone: it had written nothing."
	case m.Kept > 0:
		after.Message += fmt.Sprintf(" In %s, threads that others changed since were left as they are.", threads.Counted(m.Kept, "issue"))
	}
	return after, nil
}
