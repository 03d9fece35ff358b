package format

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// MappingDecoder reads an id mappings file as a stream: lines of entity type,
// server id and cloud id, under a header that says in which order. It takes
// what spreadsheets make of such a file: quotes, semicolons or tabs, line ends
// of any system. What it cannot read it counts and passes over.
type MappingDecoder struct {
	in      *bufio.Reader
	line    int64
	lineEnd byte
	sep     byte
	columns [3]int // where entity type, server id and cloud id are
	fields  [][]byte
	types   map[string]string
	header  bool   // it has been read
	first   []byte // the first line where it is no header
	reading threads.MappingReading
	err     error
}

const (
	// maxLine is how long a line may be; the report's have about 40 bytes.
	maxLine = 64 << 10
	// maxColumns is how many columns of a line are looked at.
	maxColumns = 64
	// maxTypes is how many different entity types are kept once each instead
	// of once a row; the report knows about 30.
	maxTypes = 1000
)

// NewMappingDecoder reads from r, which Open has unpacked.
func NewMappingDecoder(r io.Reader) *MappingDecoder {
	return &MappingDecoder{in: bufio.NewReaderSize(r, maxLine), types: map[string]string{}}
}

// Reading is what was found so far.
func (d *MappingDecoder) Reading() threads.MappingReading { return d.reading }

// Next returns the next mapping, and io.EOF after the last one, also where the
// file is cut off. A file that is no CSV at all is fault.Invalid, with a
// sentence that says what it seems to be.
func (d *MappingDecoder) Next() (threads.IDMapping, error) {
	for d.err == nil {
		if !d.header {
			d.begin()
			continue
		}
		line := d.next()
		if len(line) == 0 {
			continue
		}
		m, reason := d.row(line)
		if reason != "" && m.EntityType != "" && m.EntityType != threads.EntityIssue && m.EntityType != threads.EntityComment {
			d.reading.Rows++ // others may have ids of any kind, and nothing here needs them
			continue
		}
		if reason != "" {
			note(&d.reading.Reading, d.line, line, reason)
			continue
		}
		d.count(m.EntityType)
		return m, nil
	}
	return threads.IDMapping{}, d.err
}

func (d *MappingDecoder) count(entityType string) {
	d.reading.Rows++
	switch entityType {
	case threads.EntityComment:
		d.reading.Comments++
	case threads.EntityIssue:
		d.reading.Issues++
	}
}

// next reads a line without its end; "" for one that is empty or no line.
func (d *MappingDecoder) next() []byte {
	if first := d.first; first != nil {
		d.first = nil
		return first
	}
	line, err := d.in.ReadSlice(d.lineEnd)
	d.line++
	switch {
	case err == nil:
		return bytes.Trim(line, " \r\n")
	case errors.Is(err, bufio.ErrBufferFull):
		note(&d.reading.Reading, d.line, line, "The line is too long.")
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = d.in.ReadSlice(d.lineEnd)
		}
		if err == nil {
			return nil
		}
	case len(bytes.TrimSpace(line)) > 0:
		d.reading.Truncated = true
	}
	d.err = err
	if cut(err) {
		d.reading.Truncated, d.err = true, io.EOF
	}
	return nil
}

// begin finds out how lines end and columns are separated, and reads the
// header.
func (d *MappingDecoder) begin() {
	start, _ := d.in.Peek(maxLine)
	d.lineEnd = '\n'
	if bytes.IndexByte(start, '\n') < 0 && bytes.IndexByte(start, '\r') >= 0 {
		d.lineEnd = '\r'
	}
	if d.err = notMappings(bytes.TrimLeft(start, " \t\r\n")); d.err != nil {
		return
	}
	var line []byte
	for len(line) == 0 && d.err == nil {
		line = d.next()
		if sep, ok := strings.CutPrefix(strings.ToLower(string(line)), "sep="); ok && len(sep) == 1 { // a spreadsheet's own line
			d.sep, line = sep[0], nil
		}
	}
	if d.err != nil {
		return
	}
	d.header = true
	d.separate(line)
	if d.name(line) {
		return
	}
	d.columns = [3]int{0, 1, 2}
	if _, reason := d.row(line); reason != "" {
		d.err = fault.New(fault.Invalid, "The first line of the id mappings file is %q; expected the columns entityType, serverId and cloudId.",
			excerpt(line))
		return
	}
	d.reading.NoHeader = true
	d.first = bytes.Clone(line)
}

// notMappings says what a file that is no CSV seems to be.
func notMappings(b []byte) error {
	switch {
	case len(b) == 0:
	case b[0] == '[' || b[0] == '{':
		return fault.New(fault.Invalid, "The id mappings file is JSON; choose id-mappings.csv, and the hierarchy in its own place.")
	case b[0] == '<':
		return fault.New(fault.Invalid, "The id mappings file is a web page, perhaps a sign-in page; download the report again, signed "+
			"in as an administrator.")
	}
	return nil
}

// looksLikeMappings recognises an id mappings file by its beginning.
func looksLikeMappings(b []byte) bool {
	line, _, _ := bytes.Cut(b, newline)
	plain := plainName(line)
	return strings.Contains(plain, "entitytype") && strings.Contains(plain, "serverid")
}

// separate finds out what is between the columns, if nothing has said it.
func (d *MappingDecoder) separate(header []byte) {
	for _, sep := range []byte{';', '\t', ','} {
		if d.sep == 0 && bytes.IndexByte(header, sep) >= 0 {
			d.sep = sep
		}
	}
	d.sep = cmp.Or(d.sep, ',')
}

// name finds the three columns by their names; false when one is missing or
// there twice.
func (d *MappingDecoder) name(header []byte) bool {
	if !d.split(header) {
		return false
	}
	d.columns = [3]int{-1, -1, -1}
	for i, field := range d.fields {
		column := slices.Index([]string{"entitytype", "serverid", "cloudid"}, plainName(field))
		switch {
		case column < 0:
		case d.columns[column] >= 0:
			return false
		default:
			d.columns[column] = i
		}
	}
	return min(d.columns[0], d.columns[1], d.columns[2]) >= 0
}

// plainName is a column's name without what people change in it.
func plainName(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '_' || r == '-' {
			return -1
		}
		return r
	}, strings.ToLower(string(b)))
}

// row reads the mapping in a line, or says why it is none.
func (d *MappingDecoder) row(line []byte) (m threads.IDMapping, reason string) {
	if !d.split(line) {
		return m, "A quote is not closed."
	}
	if len(d.fields) <= max(d.columns[0], d.columns[1], d.columns[2]) {
		return m, "It has too few columns."
	}
	entityType := d.fields[d.columns[0]]
	if len(entityType) == 0 {
		return m, "The entity type is empty."
	}
	m.EntityType = d.typeName(entityType)
	if m.ServerID, reason = readID(d.fields[d.columns[1]]); reason != "" {
		return m, "The server id " + reason
	}
	if m.CloudID, reason = readID(d.fields[d.columns[2]]); reason != "" {
		return m, "The cloud id " + reason
	}
	return m, ""
}

func (d *MappingDecoder) typeName(b []byte) string {
	name, ok := d.types[string(b)]
	if !ok {
		name = strings.ReplaceAll(strings.ToValidUTF8(string(b), "�"), "\x00", "�")
		if len(d.types) < maxTypes {
			d.types[string(b)] = name
		}
	}
	return name
}

func readID(b []byte) (int64, string) {
	id, err := strconv.ParseInt(string(b), 10, 64)
	switch {
	case err == nil:
		return id, ""
	case errors.Is(err, strconv.ErrRange):
		return 0, "is beyond 64 bits."
	}
	return 0, "is not a whole number."
}

// split cuts a line into fields without their quotes and the spaces around
// them; false when a quote is not closed.
func (d *MappingDecoder) split(line []byte) bool {
	d.fields = d.fields[:0]
	for len(d.fields) < maxColumns {
		line = bytes.TrimLeft(line, " ")
		if len(line) > 0 && line[0] == '"' {
			field, rest, ok := unquote(line[1:])
			if !ok {
				return false
			}
			d.fields, line = append(d.fields, bytes.TrimSpace(field)), rest
		} else {
			i := bytes.IndexByte(line, d.sep)
			if i < 0 {
				i = len(line)
			}
			d.fields, line = append(d.fields, bytes.TrimSpace(line[:i])), line[i:]
		}
		if len(line) == 0 || line[0] != d.sep {
			return len(line) == 0
		}
		line = line[1:]
	}
	return true
}

// unquote returns what is in quotes, and what follows them.
func unquote(b []byte) (field, rest []byte, ok bool) {
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		if i+1 < len(b) && b[i+1] == '"' {
			b = append(b[:i:i], b[i+1:]...) // one quote stands for two; lines with any are rare
			continue
		}
		return b[:i], bytes.TrimLeft(b[i+1:], " "), true
	}
	return nil, nil, false
}
