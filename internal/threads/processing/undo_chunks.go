package processing

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// undoChunks undoes what is in the database itself: some chunks, the last one
// first, and how far they bring the migration, in one transaction.
func (p *Processor) undoChunks(ctx context.Context, lease *db.Lease, m *threads.Migration) error {
	for slice := 1; m.ChunksDone > 0 || m.IssuesInChunk > 0; {
		after := m.Next()
		var w threads.Written
		for range slice {
			if err := p.undoChunk(ctx, &after, &w); err != nil {
				return err
			}
		}
		began := time.Now()
		err := p.retry(ctx, "undo maps", func(ctx context.Context) error { return p.Store.Commit(ctx, lease, &after, w) })
		if err != nil {
			return err
		}
		p.beat()
		*m = after
		slice = sliceAfter(slice, time.Since(began))
	}
	after, err := p.undone(ctx, m)
	if err != nil {
		return err
	}
	return p.end(ctx, lease, m, after)
}

// undoChunk adds to w what is done of the last chunk, and counts it as not done.
func (p *Processor) undoChunk(ctx context.Context, after *threads.Migration, w *threads.Written) error {
	number := after.ChunksDone
	if after.IssuesInChunk == 0 {
		number--
	}
	if number < 0 {
		return nil
	}
	c, before, err := p.chunkBefore(ctx, after.Stage, number)
	if err != nil {
		return err
	}
	done := int64(len(c.Issues))
	if after.IssuesInChunk > 0 {
		done = after.IssuesInChunk
	}
	for place := done - 1; place >= 0; place-- {
		i := c.Issues[place]
		after.Retreat(c, int(place))
		if parents := i.Relations(); len(parents) > 0 {
			after.Undone++
			w.Undo = append(w.Undo, threads.Undo{IssueMap: threads.IssueMap{CloudIssueID: i.CloudIssueID, Parents: parents}, IssueID: i.IssueID,
				At: threads.Place{Chunk: number, Issue: place}, Before: before[place]})
			if before[place] != nil {
				w.Forget = append(w.Forget, threads.Place{Chunk: number, Issue: place})
			}
		}
	}
	return nil
}

// chunkBefore returns a chunk, and by place what its issues had before, of those
// that the store knows something of.
func (p *Processor) chunkBefore(
	ctx context.Context, stage, number int64,
) (c *threads.Chunk, before map[int64]threads.ParentMap, err error) {
	if c, err = p.chunk(ctx, stage, number); err == nil && c == nil {
		err = errNoChunk(number)
	}
	if err != nil {
		return nil, nil, err
	}
	err = p.retry(ctx, "read a chunk", func(ctx context.Context) (err error) {
		before, err = p.Store.Before(ctx, stage, number)
		return err
	})
	return c, before, err
}
