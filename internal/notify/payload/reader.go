// Package payload reads webhook bodies tolerantly: a decoder takes the
// members that it knows, in whatever order they come, and what is absent, null
// or of another shape than expected reads as nothing.
//
// It is written for bodies that hook.CheckBody has passed, and does not
// check again. Anything else makes it stop, never panic; Broken then says so.
// For a pull request of 5 KB encoding/json takes 48 µs and
// go-json-experiment/json 26 µs where decoding with this, to the finished
// event, takes 15 µs: it copies the body once and cuts every text out of it.
package payload

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Reader is a place in a JSON text, before a value. Each method but Kind reads
// that value and leaves the Reader after it.
//
//	for name := range r.Object {
//		switch name {
//		case "id":
//			id = r.Int()
//		case "title":
//			title = r.Text()
//		}
//	}
//
// Members that the loop does not read are skipped. Of members that occur
// twice the last is read last, so that assigning makes it win.
type Reader struct {
	s      string
	i      int
	broken bool
}

// New reads body, of which it makes a copy. Bytes that are not UTF-8 become
// U+FFFD.
func New(body []byte) Reader {
	s := string(body)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return Reader{s: s}
}

// Broken tells whether what was read so far is not JSON.
func (r *Reader) Broken() bool { return r.broken }

// Kind is what comes next: '{', '[', '"', 't', 'f', 'n' for null, '0' for a
// number, 0 for nothing.
func (r *Reader) Kind() byte {
	switch b := r.next(); {
	case b == '-' || '0' <= b && b <= '9':
		return '0'
	case b == '{', b == '[', b == '"', b == 't', b == 'f', b == 'n':
		return b
	}
	return 0
}

// Object yields the name of each member, with the Reader before its value.
// What is not an object has no members.
func (r *Reader) Object(yield func(name string) bool) {
	if r.next() != '{' {
		r.Skip()
		return
	}
	r.i++
	for r.until('}') {
		if r.s[r.i] != '"' {
			r.stop()
			return
		}
		name := r.quoted()
		if r.next() != ':' {
			r.stop()
			return
		}
		r.i++
		r.next()
		start := r.i
		if !yield(name) {
			yield = func(string) bool { return true }
		}
		r.skipFrom(start)
	}
}

// Array yields for each element, with the Reader before it. What is not an
// array has no elements.
func (r *Reader) Array(yield func() bool) {
	if r.next() != '[' {
		r.Skip()
		return
	}
	r.i++
	for r.until(']') {
		start := r.i
		if !yield() {
			yield = func() bool { return true }
		}
		r.skipFrom(start)
	}
}

// until steps over a comma and tells whether something comes before end,
// which it steps over too.
func (r *Reader) until(end byte) bool {
	b := r.next()
	if b == ',' {
		r.i++
		b = r.next()
	}
	switch b {
	case 0:
		r.stop()
	case end:
		r.i++
	default:
		return true
	}
	return false
}

// skipFrom skips the value at start unless it was read.
func (r *Reader) skipFrom(start int) {
	if r.i == start {
		r.Skip()
	}
}

// Text reads a string, or a number as it is written. U+0000, which databases
// and chat platforms refuse, becomes U+FFFD, as does half a surrogate pair.
func (r *Reader) Text() string {
	switch r.Kind() {
	case '"':
		return r.quoted()
	case '0':
		return r.bare()
	}
	r.Skip()
	return ""
}

// Int reads a whole number, also where it comes as a string. Else it is 0.
func (r *Reader) Int() int64 {
	n, err := strconv.ParseInt(r.Text(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bool reads true; everything else is false.
func (r *Reader) Bool() bool {
	b := r.next()
	r.Skip()
	return b == 't'
}

// Later gives a Reader of the value, to read it when more is known.
func (r *Reader) Later() Reader {
	r.next()
	start := r.i
	r.Skip()
	return Reader{s: r.s[start:r.i], broken: r.broken}
}

// Skip reads any value.
func (r *Reader) Skip() {
	switch r.next() {
	case '{', '[':
		r.skipNested()
	case '"':
		r.closingQuote()
	case '}', ']', ',', ':', 0:
		r.stop()
	default:
		r.bare()
	}
}

// skipNested reads an object or array: up to the bracket that closes it.
func (r *Reader) skipNested() {
	depth := 0
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case '"':
			r.closingQuote()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		r.i++
		if depth == 0 {
			return
		}
	}
	r.stop()
}

// next skips white space and gives the byte after it, 0 at the end.
func (r *Reader) next() byte {
	for r.i < len(r.s) {
		switch b := r.s[r.i]; b {
		case ' ', '\n', '\t', '\r':
			r.i++
		default:
			return b
		}
	}
	return 0
}

// stop ends the reading of what is not JSON.
func (r *Reader) stop() {
	r.i = len(r.s)
	r.broken = true
}

// bare reads a number or a word.
func (r *Reader) bare() string {
	start := r.i
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case ',', ':', ' ', '\n', '\t', '\r', '}', ']', '{', '[', '"':
			return r.s[start:r.i]
		}
		r.i++
	}
	return r.s[start:]
}

// quoted reads a string.
func (r *Reader) quoted() string {
	start := r.i
	escaped := r.closingQuote()
	if r.broken {
		return ""
	}
	if !escaped {
		return r.s[start+1 : r.i-1]
	}
	// The error is about half surrogate pairs, already replaced, or about
	// escapes that CheckBody would have refused.
	text, _ := jsontext.AppendUnquote(nil, r.s[start:r.i])
	return strings.ReplaceAll(string(text), "\x00", "\uFFFD")
}

// closingQuote moves behind a string and tells whether it has escapes.
func (r *Reader) closingQuote() (escaped bool) {
	i := r.i + 1
	for i <= len(r.s) {
		n := strings.IndexByte(r.s[i:], '"')
		if n < 0 {
			break
		}
		quote := i + n
		for i <= quote {
			slash := strings.IndexByte(r.s[i:quote], '\\')
			if slash < 0 {
				r.i = quote + 1
				return escaped
			}
			escaped = true
			i += slash + 2
		}
	}
	r.stop()
	return escaped
}
