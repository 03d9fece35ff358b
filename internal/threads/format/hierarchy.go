package format

import (
	"bytes"
	"io"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// HierarchyDecoder reads a hierarchy file as a stream: a JSON array of
// records, or export pages, one or several in a row or in an array. It takes
// ids as numbers or as texts, exactly, and member names without regard to
// case. What it cannot read it counts, passes over, and goes on with the next
// record. It needs the same small memory for a file of any size.
//
// encoding/json takes 7 to 13 times as long for these records; both agree on
// every valid file, which a fuzz test holds.
type HierarchyDecoder struct {
	src     source
	reading threads.HierarchyReading
	at      place
	record  object // the object that is being read, where it is no page
	page    object // the export page that it is in
	outer   place  // where that page is
	began   bool
	ended   bool // the last value at the top was complete
	err     error
}

// place is what a decoder is inside of.
type place uint8

const (
	atTop  place = iota
	atList       // an array at the top
	atPage       // the members of an export page
	atData       // its data
)

// NewHierarchyDecoder reads from r, which Open has unpacked.
func NewHierarchyDecoder(r io.Reader) *HierarchyDecoder {
	return newHierarchyDecoder(r, sourceSize)
}

func newHierarchyDecoder(r io.Reader, window int) *HierarchyDecoder {
	return &HierarchyDecoder{src: source{r: r, buf: make([]byte, window), line: 1}}
}

// Reading is what was found so far.
func (d *HierarchyDecoder) Reading() threads.HierarchyReading { return d.reading }

// Next returns the next record, and io.EOF after the last one, also where the
// file is cut off. A file that is no hierarchy at all is fault.Invalid, with a
// sentence that says what it seems to be.
func (d *HierarchyDecoder) Next() (threads.Record, error) {
	for d.err == nil {
		if !d.began {
			d.begin()
			continue
		}
		if r, ok := d.step(); ok {
			d.reading.Records++
			return r, nil
		}
	}
	return threads.Record{}, d.err
}

// begin looks at the first byte.
func (d *HierarchyDecoder) begin() {
	d.began = true
	c, ok := d.src.space()
	if ok && c != '[' && c != '{' {
		for d.src.end-d.src.pos < 2*excerptSize && d.src.more() {
		}
		d.err = notHierarchy(d.src.buf[d.src.pos:d.src.end])
	}
}

// notHierarchy says what a file that is no JSON seems to be.
func notHierarchy(b []byte) error {
	switch {
	case b[0] == '<':
		return fault.New(fault.Invalid, "The hierarchy file is a web page, perhaps a sign-in page; export it again, signed in as an "+
			"administrator.")
	case looksLikeMappings(b):
		return fault.New(fault.Invalid, "The hierarchy file is an id mappings CSV; choose comments_hierarchy_export.json, and the CSV in its "+
			"own place.")
	}
	return fault.New(fault.Invalid, "The hierarchy file is not JSON: it begins with %q. Choose comments_hierarchy_export.json.", excerpt(b))
}

func errIssueMapping() error {
	return fault.New(fault.Invalid, "The hierarchy file is the helper script's issue mapping, which is not needed; "+
		"choose comments_hierarchy_export.json.")
}

// step reads the next element, or goes in or out of an array or a page.
func (d *HierarchyDecoder) step() (threads.Record, bool) {
	if d.at == atPage {
		return d.members()
	}
	c, ok := d.src.space()
	d.src.mark = d.src.pos
	switch {
	case !ok:
		d.end()
	case c == ',':
		d.src.next()
	case c == '{':
		if r, n := canonical(d.src.buf[d.src.pos:d.src.end]); n > 0 {
			d.src.line += int64(bytes.Count(d.src.buf[d.src.pos:d.src.pos+n], newline))
			d.src.pos += n
			d.complete()
			d.loose()
			return r, true
		}
		d.src.next()
		d.ended, d.record = false, object{line: d.src.line}
		return d.members()
	case c == '[' && d.at == atTop:
		d.src.next()
		d.at, d.ended = atList, false
	case c == ']' && d.at != atTop:
		d.src.next()
		d.leave()
	default:
		d.stray()
	}
	return threads.Record{}, false
}

// leave goes out of the array that just ended.
func (d *HierarchyDecoder) leave() {
	if d.at == atData {
		d.at = atPage
		return
	}
	d.at = atTop
	d.complete()
}

// complete notes that a value ended; at the top, the file may end here.
func (d *HierarchyDecoder) complete() {
	d.ended = d.at == atTop
	if d.at == atData {
		d.page.entries++
	}
}

// loose counts a record that is in no array.
func (d *HierarchyDecoder) loose() {
	if d.at == atTop {
		d.reading.Loose++
	}
}

// end is the end of the file.
func (d *HierarchyDecoder) end() {
	d.err = io.EOF
	switch {
	case d.src.err != io.EOF && !cut(d.src.err):
		d.err = d.src.err
	case !d.ended || d.at != atTop || cut(d.src.err):
		d.reading.Truncated = true
		if d.at == atData || d.at == atPage {
			d.leavePage() // with what its beginning said
		}
	}
}

// stray passes over what stands where a record should.
func (d *HierarchyDecoder) stray() {
	line := d.src.line
	if !d.value() {
		if d.src.err == nil {
			d.broken(line, "This is not JSON.")
		} else {
			d.end()
		}
		return
	}
	note(&d.reading.Reading, line, d.src.piece(), "This is not a record.")
	d.complete()
}

// broken notes a piece that is no JSON, and goes on behind it: at the next
// object or the end of the array or page that it is in.
func (d *HierarchyDecoder) broken(line int64, reason string) {
	note(&d.reading.Reading, line, d.src.piece(), reason)
	for {
		c, ok := d.src.peek()
		switch {
		case !ok:
			d.end()
			return
		case c == '{', c == '[' && d.at == atTop, c == ']' && d.at != atTop && d.at != atPage:
			if d.at == atPage {
				d.leavePage()
			}
			return
		case c == '}' && d.at == atPage:
			d.src.next()
			d.leavePage()
			return
		}
		d.src.next()
		d.ended = d.at == atTop && (c == ']' || c == '}') || d.ended && isSpace(c)
	}
}

var newline = []byte("\n")

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// leavePage is the end of an export page.
func (d *HierarchyDecoder) leavePage() {
	r := &d.reading
	r.Pages++
	r.PageRecords += d.page.entries
	r.HasMore, r.TotalCount = d.page.hasMore, d.page.total.value
	r.Offset, r.HasOffset = d.page.offset.value, d.page.offset.there
	d.at = d.outer
	d.complete()
}
