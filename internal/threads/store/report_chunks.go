package store

import (
	"context"
	"fmt"
	"io"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// ReportChunk is how much of a report one row has: a write of some milliseconds,
// and what one answer holds in memory.
const ReportChunk = 256 << 10

// dropChunkCount is how many chunks one transaction removes: some 5 MiB.
const dropChunkCount = 20

// PutReportChunk writes one chunk of a report that is being made, under the lease.
func (s *Source) PutReportChunk(ctx context.Context, lease *db.Lease, report, number int64, content []byte) error {
	return s.db.WriteBulk(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		return tx.Do(ctx, "storing a part of a report", `INSERT INTO threads_source_chunks (report_id, number, content) VALUES ($1, $2, $3)`,
			report, number, content)
	}))
}

// ClearReportChunks removes what a node that died has left of a report.
func (s *Source) ClearReportChunks(ctx context.Context, lease *db.Lease, report int64) error {
	for n := int64(dropChunkCount); n == dropChunkCount; {
		err := s.db.WriteBulk(ctx, lease.Held(ctx, func(tx *db.Tx) (err error) {
			n, err = dropChunks(ctx, tx, report)
			return err
		}))
		if err != nil {
			return fmt.Errorf("beginning a report anew: %w", err)
		}
	}
	return nil
}

// dropChunks removes up to dropChunkCount chunks of a report.
func dropChunks(ctx context.Context, tx *db.Tx, report int64) (int64, error) {
	return tx.Changed(ctx, "dropping a report's chunks", `DELETE FROM threads_source_chunks WHERE report_id = $1 AND number IN
		(SELECT number FROM threads_source_chunks WHERE report_id = $1 ORDER BY number LIMIT $2)`, report, dropChunkCount)
}

// DropOldReports removes the reports of a site before the last but one: that one may
// still be on its way to a client.
func (s *Source) DropOldReports(ctx context.Context, site int64) error {
	for done := false; !done; {
		err := s.db.WriteBulk(ctx, func(tx *db.Tx) error {
			var last int64
			found, err := tx.Find(ctx, "old reports", []any{&last},
				`SELECT id FROM threads_source_reports WHERE site_id = $1 ORDER BY id DESC LIMIT 1 OFFSET 1`, site)
			if done = err == nil && !found; done || err != nil {
				return err
			}
			done, err = dropReports(ctx, tx, site, last)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reportText is a report's CSV, read chunk by chunk. Each is a short read of its own: a
// report that is ready does not change.
type reportText struct {
	ctx    context.Context
	store  *Source
	report threads.Report
	number int64 // of the chunk that is in memory; -1: none is
	chunk  []byte
}

// Text opens a report that is threads.ReportReady. Its reads end with ctx.
func (s *Source) Text(ctx context.Context, r threads.Report) io.ReadSeeker {
	return io.NewSectionReader(&reportText{ctx: ctx, store: s, report: r, number: -1}, 0, r.Size)
}

// ReadAt reads within the report's size.
func (t *reportText) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		from := at + int64(n)
		if err := t.load(from / ReportChunk); err != nil {
			return n, err
		}
		n += copy(p[n:], t.chunk[from%ReportChunk:])
	}
	return n, nil
}

func (t *reportText) load(number int64) error {
	if number == t.number {
		return nil
	}
	t.number = -1
	t.chunk = nil
	err := t.store.db.Read(t.ctx, func(tx *db.Tx) error {
		_, err := tx.Find(t.ctx, "part of a report", []any{&t.chunk},
			`SELECT content FROM threads_source_chunks WHERE report_id = $1 AND number = $2`, t.report.ID, number)
		return err
	})
	if err != nil {
		return err
	}
	if int64(len(t.chunk)) != min(ReportChunk, t.report.Size-number*ReportChunk) {
		return fault.New(fault.Unavailable, "The report was replaced while it was read; ask for it again.")
	}
	t.number = number
	return nil
}
