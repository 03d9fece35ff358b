package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exchange is one request and its answer, without a network: tests run in
// synctest's time.
type exchange struct {
	*http.Request
	status int
	header http.Header
	body   *io.PipeWriter
	begun  chan struct{}
}

func (x *exchange) answer(status int) *exchange {
	x.status = status
	close(x.begun)
	return x
}

// say writes a part of the body; the reader may be gone.
func (x *exchange) say(text string) { _, _ = io.WriteString(x.body, text) }

// cut ends the body before its time.
func (x *exchange) cut(err error) { x.body.CloseWithError(err) }

// doer answers requests with a function, called for each.
type doer func(x *exchange)

func (d doer) Do(r *http.Request) (*http.Response, error) {
	in, out := io.Pipe()
	x := &exchange{Request: r, header: http.Header{}, body: out, begun: make(chan struct{})}
	go func() {
		d(x)
		out.CloseWithError(r.Context().Err()) // nil is the end
	}()
	select {
	case <-x.begun:
	case <-r.Context().Done():
		in.CloseWithError(r.Context().Err())
		return nil, r.Context().Err()
	}
	stop := make(chan struct{})
	go func() { // as a connection does
		select {
		case <-r.Context().Done():
			in.CloseWithError(r.Context().Err())
		case <-stop:
		}
	}()
	length := int64(-1)
	if n, err := strconv.ParseInt(x.header.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		StatusCode: x.status, Status: fmt.Sprint(x.status, " ", http.StatusText(x.status)), Header: x.header,
		ContentLength: length, Body: &closer{in, stop}, Request: r,
	}, nil
}

type closer struct {
	*io.PipeReader
	stop chan struct{}
}

func (c *closer) Close() error {
	close(c.stop)
	return c.PipeReader.Close()
}

// hierarchy plays a server of the export: what goes wrong is asked of trouble
// before each page, which may answer itself.
type hierarchy struct {
	records []threads.Record
	limit   int
	trouble func(n int, x *exchange, page string) (answered bool)

	mu    sync.Mutex // an answer may still be ending when the next request comes
	asked []string
}

func (h *hierarchy) serve(x *exchange) {
	h.mu.Lock()
	n := len(h.asked)
	h.asked = append(h.asked, x.URL.RawQuery)
	h.mu.Unlock()
	offset, _ := strconv.Atoi(x.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(x.URL.Query().Get("limit"))
	page := h.page(offset, min(limit, h.limit))
	if h.trouble != nil && h.trouble(n, x, page) {
		return
	}
	x.header.Set("Content-Type", "application/json")
	x.answer(200).say(page)
}

func (h *hierarchy) page(offset, limit int) string {
	from := min(offset, len(h.records))
	part := h.records[from:min(from+limit, len(h.records))]
	var b strings.Builder
	fmt.Fprintf(&b, `{"offset":%d,"data":[`, offset)
	for i, r := range part {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(format.AppendRecord(nil, r))
	}
	fmt.Fprintf(&b, `],"hasMore":%v,"totalCount":%d}`, from+len(part) < len(h.records), len(h.records))
	return b.String()
}

func someRecords(n int) []threads.Record {
	records := make([]threads.Record, n)
	for i := range records {
		records[i] = threads.Record{IssueID: int64(100 + i/7), CommentID: int64(1000 + 2*i), ParentCommentID: int64(999 + i)}
	}
	return records
}

// wholeFile is what an export of records is.
func wholeFile(records []threads.Record) string {
	if len(records) == 0 {
		return "[]\n"
	}
	b := []byte("[")
	for i, r := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = format.AppendRecord(append(b, '\n'), r)
	}
	return string(append(b, "\n]\n"...))
}

var errReset = errors.New("connection reset by peer")

// target is a path for an output, whose content and companions read gives.
func target(t *testing.T) (path string, read func() string, companions func() []string) {
	dir := t.TempDir()
	path = filepath.Join(dir, "out")
	return path, func() string {
			b, err := os.ReadFile(path)
			if err != nil {
				return err.Error()
			}
			return string(b)
		}, func() []string {
			names, _ := filepath.Glob(filepath.Join(dir, "*"))
			for i := range names {
				names[i] = filepath.Base(names[i])
			}
			return names
		}
}
