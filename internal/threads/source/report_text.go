package source

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/store"
)

// chunkTime is longer than writing one chunk takes.
const chunkTime = 5 * time.Second

// compose writes the report's text from the mappings here, or else from the
// remote server. Mappings that change meanwhile make it start over.
func (r *Reports) compose(ctx context.Context, lease *db.Lease, report threads.Report) (threads.Report, error) {
	for {
		site, err := r.store.Site(ctx, report.Site.URL)
		if err != nil {
			return report, err
		}
		report.Site, report.Version = site, site.Version
		if err := r.store.ClearReportChunks(ctx, lease, report.ID); err != nil {
			return report, err
		}
		w := &csvWriter{put: func(number int64, content []byte) error {
			if !lease.Good(chunkTime) {
				return fault.New(fault.Conflict, "The lease of the report was lost.")
			}
			return r.store.PutReportChunk(ctx, lease, report.ID, number, content)
		}}
		if err := r.fill(ctx, w, report); err != nil {
			return report, err
		}
		report.Size, report.Mappings, report.State = w.size(), w.rows, threads.ReportReady
		now, err := r.store.Site(ctx, report.Site.URL)
		if err != nil || now.Version == site.Version {
			return report, err
		}
	}
}

func (r *Reports) fill(ctx context.Context, w *csvWriter, report threads.Report) error {
	w.header()
	var err error
	if r.remote != nil && report.Site.Mappings() == 0 {
		err = r.remote.IDMappings(ctx, report.Site.URL, report.Invalidate, w.row)
		if err != nil && w.err == nil && ctx.Err() == nil {
			return &remoteError{err}
		}
	} else {
		err = r.store.EachMapping(ctx, report.Site, w.row)
	}
	if err != nil {
		return err
	}
	return w.end()
}

// csvWriter makes the report's text and hands it on in chunks.
type csvWriter struct {
	put    func(number int64, content []byte) error
	buf    []byte
	number int64
	rows   int64
	err    error
}

// size is how many bytes were written.
func (w *csvWriter) size() int64 { return w.number*store.ReportChunk + int64(len(w.buf)) }

func (w *csvWriter) header() { w.buf = append(append(w.buf, threads.MappingHeader...), '\n') }

func (w *csvWriter) row(m threads.IDMapping) error {
	w.rows++
	w.buf = format.AppendMapping(w.buf, m)
	for len(w.buf) >= store.ReportChunk && w.err == nil {
		w.err = w.put(w.number, w.buf[:store.ReportChunk])
		w.number++
		w.buf = append(w.buf[:0], w.buf[store.ReportChunk:]...)
	}
	return w.err
}

// end hands on what is left; the header at least is.
func (w *csvWriter) end() error {
	if w.err == nil && len(w.buf) > 0 {
		w.err = w.put(w.number, w.buf)
	}
	return w.err
}
