package processing

import (
	"context"

	"outrigger/internal/threads"
)

// retryFeed returns the issues that the target refused, once more.
type retryFeed struct {
	*migrationFeed
	at threads.Place // the next issue
}

func (f *retryFeed) next(ctx context.Context) (*task, error) {
	for {
		if f.chunk == nil || f.at.Chunk != f.chunk.Number {
			if err := f.find(ctx); err != nil || f.chunk == nil {
				return nil, err
			}
		}
		for int(f.at.Issue) < len(f.chunk.Issues) {
			place := int(f.at.Issue)
			f.at.Issue++
			i := f.chunk.Issues[place]
			t := &task{issue: i.CloudIssueID, chunk: f.chunk, place: place}
			for _, e := range i.Entries {
				if e.Reason.OfTarget() {
					t.again++
				}
			}
			if t.again > 0 {
				f.write(t, i.Wanted())
				return t, nil
			}
		}
		f.at = threads.Place{Chunk: f.chunk.Number + 1}
	}
}

// find goes to the next chunk with errors; nil when there is none.
func (f *retryFeed) find(ctx context.Context) error {
	return f.p.retry(ctx, "find what was refused", func(ctx context.Context) (err error) {
		if f.chunk, err = f.p.Store.ChunkWithErrors(ctx, f.m.Stage, f.at.Chunk, f.m.Chunks); f.chunk != nil && f.chunk.Number > f.at.Chunk {
			f.at = threads.Place{Chunk: f.chunk.Number}
		}
		return err
	})
}

// keep counts records as done again, and stores what became of them.
func (f *retryFeed) keep(ctx context.Context, tasks []*task, ahead []threads.IssueMap, retried int64, pace threads.Pace) error {
	after := f.after(retried, pace)
	var put []threads.IssueMap
	changed := map[int64]*threads.Chunk{}
	for _, t := range tasks {
		t.chunk.Readmit(t.place)
		changed[t.chunk.Number] = t.chunk
		after.RecordsDone += t.again
		after.RetryAt = threads.Place{Chunk: t.chunk.Number, Issue: int64(t.place) + 1}
		if t.failed {
			reason := reasonOf(t.refused)
			t.chunk.Refuse(t.place, reason, after.Groups.Answered(reason, t.answer))
			after.Err(reason, t.answer, t.again)
			continue
		}
		put = append(put, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents})
		t.chunk.RefuseComments(t.place, t.closing, threads.Cycle)
		if closing := int64(len(t.closing)); closing > 0 {
			after.Err(threads.Cycle, threads.Answer{}, closing)
		}
		after.ParentMaps += t.again - int64(len(t.closing))
	}
	return f.commit(ctx, after, threads.Written{Put: append(put, ahead...), Chunks: inOrder(changed)})
}
