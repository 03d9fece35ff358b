package processing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// migrate processes the migration until it is over or stops.
func (p *Processor) migrate(ctx context.Context, lease *db.Lease) error {
	m, err := p.Store.Taken(ctx, lease)
	if err != nil {
		return err
	}
	switch {
	case p.Target != nil:
		err = p.issuewise(ctx, lease, &m)
	case m.Undoing:
		err = p.undoChunks(ctx, lease, &m)
	default:
		err = p.chunkwise(ctx, lease, &m)
	}
	if err == nil {
		p.logEnd(&m, nil)
	}
	if !isFinal(ctx, err) {
		return err
	}
	why := err
	m.Phase, m.Message = threads.PhaseFailed, "The database refused what was to be written; the reason is in the server's log. Fix "+
		"the cause, then continue."
	if err = p.Store.Commit(ctx, lease, &m, threads.Written{}); err == nil {
		p.logEnd(&m, why)
	}
	return err
}

// logEnd says how processing ended, and counts it. why is nil where the
// migration's message says everything.
func (p *Processor) logEnd(m *threads.Migration, why error) {
	attrs := append(migrationAttrs(m), "reason", m.Message)
	if why != nil {
		attrs = append(attrs, "error", why)
	}
	outcome := strings.ToLower(string(m.Phase))
	switch m.Phase {
	case threads.PhaseCompleted:
		p.Log.Info("the migration is completed", attrs[:len(attrs)-2]...)
	case threads.PhaseEmpty:
		outcome = "undone"
		p.Log.Info("the migration is undone", "work", "migration", "issues", m.Undone, "kept", m.Kept)
	case threads.PhasePaused:
		p.Log.Warn("the migration has paused", attrs...)
	case threads.PhaseFailed:
		p.Log.Error("the migration failed", attrs...)
	}
	p.metrics.ended.WithLabelValues(outcome).Inc()
}

// migrationAttrs say for the log which migration it is and how far it is. Its
// data names it, since there is one at a time.
func migrationAttrs(m *threads.Migration) []any {
	return []any{
		"work", "migration", "data", m.Stage, "records", m.RecordsDone, "of", m.Records,
		"issues", m.Issues, "maps", m.ParentMaps, "errors", m.Permanent,
	}
}

// isFinal reports whether an error would come again: it is not for those who stop,
// who were overtaken, or whose database is away for a while.
func isFinal(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, threads.ErrOvertaken) && !fault.Is(err, fault.Unavailable)
}

// chunk reads a chunk of the data; nil behind the last one.
func (p *Processor) chunk(ctx context.Context, stage, number int64) (c *threads.Chunk, err error) {
	err = p.retry(ctx, "read a chunk", func(ctx context.Context) error {
		chunks, err := p.Store.Chunks(ctx, stage, number, 1)
		if err == nil && len(chunks) == 1 {
			c = chunks[0]
		}
		return err
	})
	return c, err
}

// errNoChunk is for data that is missing and was not deleted.
func errNoChunk(number int64) error { return fmt.Errorf("chunk %d of the data is not there", number) }

const (
	// sliceTime is what one commit of bulk work may take.
	sliceTime = 20 * time.Millisecond
	// maxSlice is how many chunks go into one.
	maxSlice = 16
)

// chunkwise processes with the database itself as the target: some chunks and
// how far they bring the migration, in one transaction.
func (p *Processor) chunkwise(ctx context.Context, lease *db.Lease, m *threads.Migration) error {
	slice := 1
	for m.Phase == threads.PhaseProcessing {
		var chunks []*threads.Chunk
		if err := p.retry(ctx, "read chunks", func(ctx context.Context) (err error) {
			chunks, err = p.Store.Chunks(ctx, m.Stage, m.ChunksDone, slice)
			return err
		}); err != nil {
			return err
		}
		if len(chunks) == 0 && m.ChunksDone < m.Chunks {
			return errNoChunk(m.ChunksDone)
		}
		after, news := m.Next(), []*threads.News(nil)
		for _, c := range chunks {
			for place := int(after.IssuesInChunk); place < len(c.Issues); place++ {
				i := c.Issues[place]
				parents := i.Relations()
				if len(parents) > 0 {
					news = append(news, &threads.News{IssueMap: threads.IssueMap{CloudIssueID: i.CloudIssueID, Parents: parents}, Chunk: c, Place: place})
				}
				after.Advance(c, i, len(parents))
			}
		}
		if after.ChunksDone == after.Chunks {
			after.Phase, after.Message = threads.PhaseCompleted, ""
		}
		began := time.Now()
		if err := p.retry(ctx, "write maps", func(ctx context.Context) error {
			return p.Store.Commit(ctx, lease, &after, threads.Written{Add: news})
		}); err != nil {
			return err
		}
		p.beat()
		p.metrics.records.Add(float64(after.RecordsDone - m.RecordsDone))
		*m = after
		slice = sliceAfter(slice, time.Since(began))
	}
	return nil
}

// sliceAfter is how many chunks the next commit takes, after one of so many took so
// long.
func sliceAfter(slice int, took time.Duration) int {
	switch {
	case took > sliceTime:
		return max(slice/2, 1)
	case took < sliceTime/2:
		return min(slice*2, maxSlice)
	}
	return slice
}
