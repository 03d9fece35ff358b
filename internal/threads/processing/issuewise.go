package processing

import (
	"context"
	"maps"
	"slices"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// issuewise processes with a target that is asked about one issue at a time.
func (p *Processor) issuewise(ctx context.Context, lease *db.Lease, m *threads.Migration) error {
	f := &migrationFeed{p: p, lease: lease, m: m, chunkAt: m.ChunksDone, issueAt: int(m.IssuesInChunk)}
	v, message, err := p.preflight(ctx, f)
	if v == finished && err == nil {
		var work feed
		if work, err = f.work(ctx); err == nil {
			v, message, err = p.drive(ctx, work, &data{m.Stage, m.Chunks}, m.Pace)
		}
	}
	if err != nil {
		return err
	}
	after := *m
	switch {
	case v == exhausted:
		after.Phase, after.Message = threads.PhasePaused, message
	case v == refused:
		after.Phase, after.Message = threads.PhaseFailed, message
	case m.Undoing:
		if after, err = p.undone(ctx, m); err != nil {
			return err
		}
	default:
		after.Phase, after.Message, after.Pace = threads.PhaseCompleted, "", threads.Pace{}
		after.Retrying, after.RetryAt = false, threads.Place{}
	}
	return p.end(ctx, lease, m, after)
}

// end stores how the migration stands after processing.
func (p *Processor) end(ctx context.Context, lease *db.Lease, m *threads.Migration, after threads.Migration) error {
	err := p.retry(ctx, "end the migration", func(ctx context.Context) error {
		return p.Store.Commit(ctx, lease, &after, threads.Written{})
	})
	if err == nil {
		*m = after
	}
	return err
}

// work is what is to be done with the issues.
func (f *migrationFeed) work(ctx context.Context) (feed, error) {
	switch {
	case f.m.Undoing:
		return f.undo(ctx)
	case f.m.Retrying:
		return &retryFeed{migrationFeed: f, at: f.m.RetryAt}, nil
	}
	return f, nil
}

// migrationFeed returns the issues of the chunks.
type migrationFeed struct {
	p     *Processor
	lease *db.Lease
	m     *threads.Migration // as it is stored

	chunk   *threads.Chunk
	chunkAt int64 // the next chunk, or the one that is being given
	issueAt int   // the next issue of it
}

func (f *migrationFeed) next(ctx context.Context) (*task, error) {
	for f.chunk == nil || f.issueAt >= len(f.chunk.Issues) {
		if f.chunk != nil {
			f.chunk, f.chunkAt, f.issueAt = nil, f.chunkAt+1, 0
		}
		if f.chunkAt >= f.m.Chunks {
			return nil, nil
		}
		var err error
		if f.chunk, err = f.p.chunk(ctx, f.m.Stage, f.chunkAt); err != nil {
			return nil, err
		}
		if f.chunk == nil {
			return nil, errNoChunk(f.chunkAt)
		}
	}
	i := f.chunk.Issues[f.issueAt]
	t := &task{issue: i.CloudIssueID, chunk: f.chunk, place: f.issueAt}
	f.issueAt++
	if news := i.Relations(); len(news) > 0 {
		f.write(t, news)
	}
	return t, nil
}

// write makes a task one that adds relations to its issue, after what the issue
// had of them is stored.
func (f *migrationFeed) write(t *task, news threads.ParentMap) {
	stage, epoch, at := f.m.Stage, f.m.Epoch, t.at()
	t.ask = func(ctx context.Context) (threads.ParentMap, error) {
		return f.p.Target.Write(ctx, t.issue, func(old threads.ParentMap) (all threads.ParentMap, err error) {
			if all, t.closing = old.Add(news); slices.Equal(all, old) {
				return all, nil
			}
			t.broken = f.p.retry(ctx, "store what an issue had", func(ctx context.Context) error {
				return f.p.Store.Intend(ctx, f.lease, stage, epoch, at, old, news)
			})
			return all, t.broken
		})
	}
}

// keep counts issues as done and stores their maps, and the reasons of those
// that the target refused.
func (f *migrationFeed) keep(ctx context.Context, tasks []*task, ahead []threads.IssueMap, retried int64, pace threads.Pace) error {
	after := f.after(retried, pace)
	var put []threads.IssueMap
	changed := map[int64]*threads.Chunk{}
	for _, t := range tasks {
		i := &t.chunk.Issues[t.place]
		switch {
		case t.failed:
			reason := reasonOf(t.refused)
			t.chunk.Refuse(t.place, reason, after.Groups.Answered(reason, t.answer))
			changed[t.chunk.Number] = t.chunk
			after.Advance(t.chunk, *i, 0)
		case t.ask == nil:
			after.Advance(t.chunk, *i, 0)
		default:
			put = append(put, threads.IssueMap{CloudIssueID: t.issue, Parents: t.parents})
			if len(t.closing) > 0 {
				t.chunk.RefuseComments(t.place, t.closing, threads.Cycle)
				changed[t.chunk.Number] = t.chunk
			}
			after.Advance(t.chunk, *i, len(i.Relations()))
		}
	}
	return f.commit(ctx, after, threads.Written{Put: append(put, ahead...), Chunks: inOrder(changed)})
}

// after is the migration with how often the target was asked in vain, and the pace.
func (f *migrationFeed) after(retried int64, pace threads.Pace) threads.Migration {
	after := f.m.Next()
	after.Retryable += retried
	after.Pace, after.Message = pace, pace.Message()
	return after
}

func inOrder(chunks map[int64]*threads.Chunk) []*threads.Chunk {
	return slices.SortedFunc(maps.Values(chunks), func(a, b *threads.Chunk) int { return int(a.Number - b.Number) })
}

// commit stores how the migration stands and what was written.
func (f *migrationFeed) commit(ctx context.Context, after threads.Migration, w threads.Written) error {
	done := after.RecordsDone - f.m.RecordsDone
	err := f.p.Store.Commit(ctx, f.lease, &after, w)
	if err == nil {
		*f.m = after
		f.p.metrics.records.Add(float64(max(done, 0))) // undoing counts down
	}
	return err
}

func (f *migrationFeed) about() []any { return migrationAttrs(f.m) }

func (f *migrationFeed) wanted(ctx context.Context) error {
	m, err := f.p.Store.Migration(ctx)
	if err == nil && m.Epoch != f.m.Epoch {
		err = threads.ErrOvertaken
	}
	return err
}

func reasonOf(kind threads.TargetFailure) threads.Reason {
	switch kind {
	case threads.TargetForbids:
		return threads.TargetForbidden
	case threads.TargetChanged:
		return threads.ChangedByOthers
	}
	return threads.TargetNotFound
}
