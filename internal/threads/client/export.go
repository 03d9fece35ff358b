package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

const (
	exportPath = "/rest/threaded-comments/1.0/migration/export-data"
	// pageSize is the most that the endpoint gives at once.
	pageSize = 10_000
)

// Exported says what an export brought.
type Exported struct {
	Records int64 `json:"records"`
	Total   int64 `json:"totalCount"` // as the last page says
	// Changed says that the total changed meanwhile: records may be missing
	// or come twice.
	Changed bool `json:"changed"`
	// Resumed is how many records were there from a download that broke off.
	Resumed int64 `json:"resumed,omitempty"`
}

// Export writes the whole hierarchy to a file, which is there only when it is
// complete: a JSON array, a record a line. Until then it grows in path.part,
// where a later Export goes on. progress is told after every page and may be
// nil.
func (c *Client) Export(ctx context.Context, path string, progress func(done, total int64)) (out Exported, err error) {
	part, err := openPart(path)
	if err != nil {
		return out, err
	}
	defer part.Close()
	e := &export{Client: c, list: &list{part: part}, progress: progress}
	if err := e.resume(ctx); err != nil {
		return out, err
	}
	err = c.retryWithin(ctx, unready, func() (bool, error) { return e.pages(ctx) })
	if err = errors.Join(err, e.list.flush()); err != nil {
		return e.Exported, err
	}
	return e.Exported, errors.Join(e.list.end(), part.complete())
}

// export is one that is under way.
type export struct {
	*Client
	Exported
	list     *list
	progress func(done, total int64)
	offset   int64 // of the next entry; records and comments that answer none
	asked    bool  // a page has come

	began int64 // what the first page said that there is
	grown int   // how often a page has said more than the one before

	first, before *threads.Record // the first records of the first page and of the one before
}

// pages fetches pages until there are no more, and says whether any record
// came.
func (e *export) pages(ctx context.Context) (further bool, err error) {
	for more := true; more; {
		before := e.offset
		more, err = e.page(ctx, e.offset, pageSize, e.list.add)
		further = further || e.offset > before
		if err != nil {
			return further, err
		}
		if e.progress != nil {
			e.progress(e.Records, e.Total)
		}
	}
	return further, nil
}

// page fetches one page and gives its records to take, as they come.
func (e *export) page(ctx context.Context, offset int64, limit int, take func(threads.Record) error) (more bool, err error) {
	r, err := e.request(ctx, http.MethodGet, exportPath+"?offset="+strconv.FormatInt(offset, 10)+"&limit="+strconv.Itoa(limit), nil)
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "application/json")
	err = e.send(r, func(resp *http.Response) error {
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
			return fault.New(fault.Invalid, "The server answered with a web page. Is %s its base URL, and may this user sign in without a browser?",
				e.Base)
		}
		more, err = e.read(resp.Body, take)
		return err
	}, http.StatusOK)
	return more, err
}

// read reads a page.
func (e *export) read(body io.Reader, take func(threads.Record) error) (more bool, err error) {
	d := format.NewHierarchyDecoder(body)
	start := e.offset
	begins := true
	for {
		record, err := d.Next()
		reading := d.Reading()
		if reading.Unreadable > 0 {
			return false, fault.New(fault.Invalid, "The server's page at offset %d has an entry that is no record: %s (%s)", start,
				reading.Lines[0].Text, reading.Lines[0].Reason)
		}
		e.offset = start + reading.Records + reading.Roots
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
		if begins {
			if err := e.repeats(record); err != nil {
				return false, err
			}
			begins = false
		}
		if err := take(record); err != nil {
			return false, err
		}
		e.Records++
	}
	return e.judge(d.Reading(), start)
}

// repeats refuses a page that begins as an earlier one did: a server that does
// not look at the offset, or has no order, gives some records again and others
// never.
func (e *export) repeats(begin threads.Record) error {
	for _, earlier := range []*threads.Record{e.first, e.before} {
		if earlier != nil && *earlier == begin {
			return fault.New(fault.Invalid, "The server gives the same records again at offset %d, so that others would be missing. "+
				"Its pages must have one order.", e.offset-1)
		}
	}
	if e.first == nil {
		e.first = &begin
	}
	e.before = &begin
	return nil
}

// judge looks at what a page says about itself.
func (e *export) judge(page threads.HierarchyReading, start int64) (more bool, err error) {
	switch {
	case page.Truncated:
		return false, &transient{error: errors.New("the answer ended in the middle")}
	case page.Pages != 1:
		return false, fault.New(fault.Invalid, "The server did not answer with an export page. Is %s its base URL?", e.Base)
	case page.HasOffset && page.Offset != start:
		return false, fault.New(fault.Invalid, "The server gives its page at offset %d where that at offset %d was asked for, so that records "+
			"would be missing.", page.Offset, start)
	case page.HasMore && e.offset == start:
		return false, fault.New(fault.Invalid, "The server says that there is more, and gives nothing at offset %d.", e.offset)
	case page.HasMore && e.offset > page.TotalCount:
		return false, fault.New(fault.Invalid, "The server gives more records than the %d that it says there are.", page.TotalCount)
	}
	if err := e.count(page); err != nil {
		return false, err
	}
	if !page.HasMore && e.offset != page.TotalCount {
		e.Changed = true
	}
	return page.HasMore, nil
}

// maxGrown is how often the total may grow while there is more. Each time
// something was imported, and the export has to be repeated anyway.
const maxGrown = 10

// count notes the total that a page says, and refuses one that grows for ever.
func (e *export) count(page threads.HierarchyReading) error {
	switch {
	case !e.asked:
		e.began = page.TotalCount
	case page.TotalCount != e.Total:
		e.Changed = true
		if page.TotalCount > e.Total {
			e.grown++
		}
	}
	e.asked, e.Total = true, page.TotalCount
	if page.HasMore && e.grown >= maxGrown {
		return fault.New(fault.Invalid, "The total that the server says has grown %d times, from %d to %d, and there is always more. "+
			"Export when nothing is imported there.", e.grown, e.began, e.Total)
	}
	return nil
}

// resume goes on with the part of a download that broke off, if the server
// still has its first and its last record where they were; else it begins
// anew.
func (e *export) resume(ctx context.Context) error {
	n, first, last, err := e.list.restore()
	if err != nil || n == 0 {
		return err
	}
	same := true
	for _, check := range []struct {
		offset int64
		record threads.Record
	}{{0, first}, {n - 1, last}} {
		err := e.retryWithin(ctx, unready, func() (bool, error) {
			probe, found := &export{Client: e.Client, offset: check.offset}, false
			_, err := probe.page(ctx, check.offset, 1, func(r threads.Record) error {
				found = r == check.record
				return nil
			})
			same = same && found
			return false, err
		})
		if err != nil {
			return fmt.Errorf("going on with the download that broke off: %w", err)
		}
	}
	if !same {
		return e.list.restart()
	}
	e.offset, e.Records, e.Resumed = n, n, n
	return nil
}
