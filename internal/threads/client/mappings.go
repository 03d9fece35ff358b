package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/work"
)

const (
	reportPath = "/rest/migration/latest/report/id-mappings"
	// pollEvery is how often a report that is being made is asked for, where
	// the server does not say: as often as the host vendor's own client.
	pollEvery = 10 * time.Second
)

// Reported says what the report brought.
type Reported struct {
	Bytes int64 `json:"bytes"`
	Lines int64 `json:"mappings"` // without the header
	// Resumed is how many bytes were there from a download that broke off.
	Resumed int64 `json:"resumed,omitempty"`
}

// IDMappings writes the id mappings report of a cloud site to a file, byte by
// byte as the server has it; the file is there only when it is complete: the
// answer has come to its end, and its last line too. While the server makes the
// report it is asked again. invalidate asks for a report
// from no cache. progress is told what has come, and the size where the server
// says it (else 0), and may be nil.
func (c *Client) IDMappings(
	ctx context.Context, cloudSite string, invalidate bool, path string, progress func(done, size int64),
) (Reported, error) {
	part, err := openPart(path)
	if err != nil {
		return Reported{}, err
	}
	defer part.Close()
	d := &download{Client: c, site: cloudSite, invalidate: invalidate, part: part, progress: progress}
	if d.had, err = part.Seek(0, io.SeekEnd); err != nil {
		return d.Reported, fmt.Errorf("opening the output: %w", err)
	}
	d.done = d.had
	if err := c.retry(ctx, func() (bool, error) { return d.attempt(ctx) }); err != nil {
		return d.Reported, err
	}
	lines, err := countLines(part, d.done)
	if err != nil {
		return d.Reported, err
	}
	d.Lines, d.Bytes = lines-1, d.done
	return d.Reported, part.complete()
}

// download is a report that is on its way.
type download struct {
	*Client
	Reported
	site       string
	invalidate bool
	part       *part
	progress   func(done, size int64)
	had        int64  // bytes that were in the part at first
	done       int64  // bytes that are in it
	etag       string // of the report that they are of; "" is unknown
	endless    int64  // bytes of an answer that did not say where it ends
}

// errMaking is an answer 202.
var errMaking = errors.New("the server is making the report")

// attempt asks once, and waits while the report is being made.
func (d *download) attempt(ctx context.Context) (further bool, err error) {
	before := d.done
	for {
		err := d.ask(ctx)
		var making *transient
		if !errors.As(err, &making) || !errors.Is(err, errMaking) {
			return d.done > before, err
		}
		if err := d.wait(ctx, errMaking.Error(), making.after); err != nil {
			return false, err
		}
	}
}

func (d *download) ask(ctx context.Context) error {
	query := url.Values{"cloudSiteUrl": {d.site}}
	if d.invalidate {
		query.Set("invalidateCache", "true")
	}
	r, err := d.request(ctx, http.MethodGet, reportPath+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/csv, application/json;q=0.5")
	if d.etag != "" && d.done > 0 {
		r.Header.Set("Range", "bytes="+strconv.FormatInt(d.done, 10)+"-")
		r.Header.Set("If-Range", d.etag)
	}
	return d.send(r, d.take, http.StatusOK, http.StatusPartialContent, http.StatusAccepted, http.StatusRequestedRangeNotSatisfiable)
}

func (d *download) take(resp *http.Response) error {
	d.invalidate = false // the server has heard it
	if resp.StatusCode == http.StatusAccepted {
		after, ok := work.RetryAfter(resp.Header, time.Now())
		if !ok {
			after = pollEvery
		}
		return &transient{error: errMaking, after: after}
	}
	if resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		if resp.Header.Get("Content-Range") == "bytes */"+strconv.FormatInt(d.done, 10) {
			return d.ended() // only the end was missing
		}
		return d.anew()
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/csv") {
		return fault.New(fault.Invalid, "The server answered with %q instead of CSV. Is %s its base URL, and may this user sign in without a "+
			"browser?",
			resp.Header.Get("Content-Type"), d.Base)
	}
	size := resp.ContentLength
	body := bufio.NewReaderSize(resp.Body, writeSize)
	if resp.StatusCode == http.StatusPartialContent {
		if !strings.HasPrefix(resp.Header.Get("Content-Range"), "bytes "+strconv.FormatInt(d.done, 10)+"-") {
			return d.anew()
		}
		if size >= 0 {
			size += d.done
		}
	} else {
		if err := checkHeader(body); err != nil {
			return err
		}
		if err := d.pass(body); err != nil {
			return err
		}
	}
	if tag := resp.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
		d.etag = tag
	}
	if err := d.copy(body, max(size, 0)); err != nil {
		return err
	}
	if size >= 0 && d.done != size {
		return &transient{error: fmt.Errorf("the answer ended after %d of %d bytes", d.done, size)}
	}
	if !framed(resp) && d.endless != d.done {
		d.endless = d.done
		return &transient{error: errors.New("the server does not say where its answer ends, which is asked for again")}
	}
	return d.ended()
}

// framed reports whether the end of an answer can be told from a connection that
// broke: by its length, by chunks, by HTTP/2, or by what packed it.
func framed(resp *http.Response) bool {
	return resp.ContentLength >= 0 || slices.Contains(resp.TransferEncoding, "chunked") || resp.ProtoMajor >= 2 || resp.Uncompressed
}

// ended looks at the last line, which has no end where the server's own copy of
// the report was cut.
func (d *download) ended() error {
	last := make([]byte, 1)
	if _, err := d.part.ReadAt(last, d.done-1); err != nil {
		return fmt.Errorf("reading the output: %w", err)
	}
	if last[0] != '\n' {
		return fault.New(fault.Invalid, "The server's report is cut off: its last line has no end. Request a new one "+
			"(--invalidate-cache); the received data is in %s.", d.part.Name())
	}
	return nil
}

// anew asks for the whole report the next time.
func (d *download) anew() error {
	d.etag = ""
	return &transient{error: errors.New("the server does not give the rest of the report")}
}

// checkHeader looks at the first line, which stays to be read.
func checkHeader(body *bufio.Reader) error {
	const want = threads.MappingHeader
	head, err := body.Peek(len(want) + 1)
	line := bytes.TrimRight(head, "\r\n")
	if string(line) == want {
		return nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return fault.New(fault.Invalid, "The server's report begins with %q, not with %q.", line, want)
}

// pass passes over what the part has already, as long as it is the same; what
// differs, and all that follows, is dropped.
func (d *download) pass(body *bufio.Reader) error {
	have := bufio.NewReaderSize(io.NewSectionReader(d.part, 0, d.done), writeSize)
	var same int64
	for same < d.done {
		mine, err := have.Peek(int(min(d.done-same, writeSize/4)))
		if err != nil {
			return fmt.Errorf("reading the part of a download: %w", err)
		}
		theirs, err := body.Peek(len(mine))
		n := common(mine, theirs)
		if n == 0 {
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			break
		}
		_, _ = have.Discard(n) // both were peeked at
		_, _ = body.Discard(n)
		same += int64(n)
	}
	if err := d.part.Truncate(same); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	d.done = same
	d.Resumed = min(d.had, same)
	return nil
}

// common is how many bytes at the beginning are the same.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// copy appends what comes.
func (d *download) copy(body io.Reader, size int64) error {
	if _, err := d.part.Seek(d.done, io.SeekStart); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	buf := make([]byte, writeSize)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := d.part.Write(buf[:n]); err != nil {
				return fmt.Errorf("writing the output: %w", err)
			}
			d.done += int64(n)
			if d.progress != nil {
				d.progress(d.done, size)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// countLines counts the lines of a file; the last need not have an end.
func countLines(file io.ReaderAt, size int64) (int64, error) {
	in := io.NewSectionReader(file, 0, size)
	buf := make([]byte, writeSize)
	var lines int64
	last := byte('\n')
	for {
		n, err := in.Read(buf)
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if n > 0 {
			last = buf[n-1]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("reading the output: %w", err)
		}
	}
	if last != '\n' {
		lines++
	}
	return lines, nil
}
