package format

import (
	"bytes"
	"strings"

	"outrigger/internal/threads"
)

// object is a JSON object as far as it was read: a record or an export page.
type object struct {
	line                   int64
	issue, comment, parent number
	hasMore                bool
	total, offset          number
	entries                int64 // of a page's data
	issueKey               bool  // it names an issue as the helper script's issue mapping does
}

// number is an id as it was found.
type number struct {
	value int64
	there bool   // with a value
	wrong string // why the value is none
}

// members reads an object's members, from behind its brace or behind a page's
// data, up to its end or up to a page's data. It gives a record if it was one.
func (d *HierarchyDecoder) members() (threads.Record, bool) {
	for {
		c, ok := d.src.space()
		switch {
		case !ok:
			d.end()
			return threads.Record{}, false
		case c == ',':
			d.src.next()
			continue
		case c == '}':
			d.src.next()
			return d.close()
		case c != '"':
			d.breakOff("A member has no name in quotes.")
			return threads.Record{}, false
		}
		if !d.member() {
			return threads.Record{}, false
		}
	}
}

// breakOff gives up on an object.
func (d *HierarchyDecoder) breakOff(reason string) {
	if d.src.err != nil {
		d.end()
		return
	}
	if d.at == atPage {
		d.broken(d.src.line, reason)
		return
	}
	d.complete()
	d.broken(d.record.line, reason)
}

// member reads a name and its value; false when the object does not go on: it
// is broken, the file ended, or a page's data begins.
func (d *HierarchyDecoder) member() bool {
	name, ok := d.text()
	if ok {
		var c byte
		if c, ok = d.src.space(); ok && c == ':' {
			d.src.next()
			_, ok = d.src.space()
		} else {
			ok = false
		}
	}
	if ok {
		switch {
		case d.isData(name):
			d.src.next()
			d.page, d.outer, d.at = d.record, d.at, atData
			return false
		case d.isIssueMapping(name):
			d.err = errIssueMapping()
			return false
		}
		ok = d.known(name)
	}
	if !ok && d.err == nil {
		d.breakOff("This is not JSON.")
	}
	return ok
}

// isData reports whether name is that of a page's list, which comes next.
func (d *HierarchyDecoder) isData(name []byte) bool {
	c, _ := d.src.peek()
	return c == '[' && (d.at == atTop || d.at == atList) && asciiFold(name, "data")
}

// isIssueMapping reports whether the object maps issues by their id or key, as
// the helper script's other file does.
func (d *HierarchyDecoder) isIssueMapping(name []byte) bool {
	return d.at == atTop && d.reading.Records == 0 && (isDigits(name) || isIssueKey(name))
}

// known reads the value of a member into the object if it means something.
func (d *HierarchyDecoder) known(name []byte) bool {
	o := &d.record
	if d.at == atPage {
		o = &d.page
	}
	c, _ := d.src.peek()
	switch {
	case asciiFold(name, "issueId"):
		return d.number(&o.issue)
	case asciiFold(name, "commentId"):
		return d.number(&o.comment)
	case asciiFold(name, "parentCommentId"):
		return d.number(&o.parent)
	case asciiFold(name, "totalCount"):
		return d.number(&o.total)
	case asciiFold(name, "offset"):
		return d.number(&o.offset)
	case asciiFold(name, "hasMore"):
		o.hasMore = c == 't'
	case c == '"' && (asciiFold(name, "issueKey") || asciiFold(name, "key")):
		key, ok := d.text()
		o.issueKey = isIssueKey(key)
		return ok
	}
	return d.value()
}

// close is the end of an object.
func (d *HierarchyDecoder) close() (threads.Record, bool) {
	if d.at == atPage {
		d.leavePage()
		return threads.Record{}, false
	}
	d.complete()
	o := &d.record
	switch {
	case o.issue.there && o.comment.there && o.parent.there:
		d.loose()
		return threads.Record{IssueID: o.issue.value, CommentID: o.comment.value, ParentCommentID: o.parent.value}, true
	case o.issue.there && o.comment.there && o.parent.wrong == "":
		d.reading.Roots++
	case o.issueKey && !o.comment.there && d.reading.Records == 0:
		d.err = errIssueMapping()
	default:
		note(&d.reading.Reading, o.line, d.src.piece(), o.fault())
	}
	return threads.Record{}, false
}

// fault says what is wrong with an object that is no record.
func (o *object) fault() string {
	var missing []string
	for _, m := range []struct {
		name string
		number
	}{{"issueId", o.issue}, {"commentId", o.comment}, {"parentCommentId", o.parent}} {
		switch {
		case m.wrong != "":
			return m.name + " " + m.wrong
		case !m.there && m.name != "parentCommentId":
			missing = append(missing, m.name)
		}
	}
	return "It has no " + strings.Join(missing, " and no ") + "."
}

// canonical reads a record as exporters write it: the three members in any
// order, plain numbers, white space where JSON has it. It is what makes the
// decoder fast; of anything else, and of a record that is cut by the window, it
// says 0, and the long way is taken.
func canonical(b []byte) (r threads.Record, n int) {
	seen, i := 0, 1
	for {
		i = afterSpace(b, i)
		to, bit, length := memberOf(b[i:], &r)
		if bit == 0 || seen&bit != 0 {
			return r, 0
		}
		seen |= bit
		if i = afterSpace(b, i+length); i == len(b) || b[i] != ':' {
			return r, 0
		}
		i = afterSpace(b, i+1)
		value, digits := plainInt(b[i:])
		if digits == 0 {
			return r, 0
		}
		*to = value
		if i = afterSpace(b, i+digits); i == len(b) {
			return r, 0
		}
		switch {
		case b[i] == ',' && seen != 7:
			i++
		case b[i] == '}' && seen == 7:
			return r, i + 1
		default:
			return r, 0
		}
	}
}

func afterSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// memberOf recognises a member's name in quotes: where its value goes, which of
// the three it is, and how long it is.
func memberOf(b []byte, r *threads.Record) (to *int64, bit, length int) {
	const issue, comment, parent = `"issueId"`, `"commentId"`, `"parentCommentId"`
	switch {
	case len(b) > len(issue) && string(b[:len(issue)]) == issue:
		return &r.IssueID, 1, len(issue)
	case len(b) > len(comment) && string(b[:len(comment)]) == comment:
		return &r.CommentID, 2, len(comment)
	case len(b) > len(parent) && string(b[:len(parent)]) == parent:
		return &r.ParentCommentID, 4, len(parent)
	}
	return nil, 0, 0
}

// plainInt reads a whole number of at most 18 digits, which is below 2^63, that
// something follows.
func plainInt(b []byte) (v int64, n int) {
	if len(b) > 0 && b[0] == '-' {
		n = 1
	}
	from := n
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		v = v*10 + int64(b[n]-'0')
		n++
	}
	if digits := n - from; digits == 0 || digits > 18 || n == len(b) || b[n] != ',' && b[n] != '}' && !isSpace(b[n]) {
		return 0, 0
	}
	if from == 1 {
		v = -v
	}
	return v, n
}

// asciiFold compares a name without regard to the case of its letters.
func asciiFold(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		if c != name[i] && (c|0x20 != name[i]|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

func isDigits(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }

// isIssueKey recognises keys such as ABC-123.
func isIssueKey(b []byte) bool {
	project, number, ok := bytes.Cut(b, []byte("-"))
	return ok && len(project) > 0 && isDigits(number) && project[0] >= 'A' && project[0] <= 'Z' &&
		len(bytes.Trim(project, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")) == 0
}
