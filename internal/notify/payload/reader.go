// Package payload reads webhook bodies tolerantly, in one walk that also checks
// them: a decoder takes the members that it knows, in whatever order they come,
// and what is absent, null or of another shape than expected reads as nothing.
//
// A body must be one JSON value (RFC 8259) in UTF-8, nested at most maxDepth
// deep. Members may occur twice.
package payload

import (
	"bytes"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Reader is a place in a body, before a value. Each method but Kind reads that
// value and leaves the Reader after it.
//
//	for name := range r.Object {
//		switch string(name) {
//		case "id":
//			id = r.Int()
//		case "title":
//			title = r.Text()
//		}
//	}
//
// Members that the loop does not read are skipped. Of members that occur twice
// the last is read last, so that assigning makes it win.
//
// Texts but for Raw have memory of their own, so that an event does not keep the
// body.
//
// What is wrong with the body ends the reading: everything else reads as
// nothing, and End says what it is.
type Reader struct {
	in    jsontext.Decoder
	from  bytes.Buffer // what in reads
	body  []byte
	err   error
	known texts

	overlong bool // All left elements out
}

// New reads body, which must not change meanwhile.
func New(body []byte) *Reader {
	r := readers.Get().(*Reader)
	r.from, r.body = *bytes.NewBuffer(body), body
	r.in.Reset(&r.from, options...)
	if !utf8.Valid(body) {
		r.refuse("it is not UTF-8", firstInvalid(body))
	}
	return r
}

// Half of a surrogate pair in an escape is read as U+FFFD: platforms cut texts in
// the middle of a character. Other UTF-8 is checked by New.
var options = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// Release is for after the last use of the Reader: the next one gets what its
// decoder has grown to, and the texts that it knows.
func (r *Reader) Release() {
	r.from, r.body, r.err, r.overlong = bytes.Buffer{}, nil, nil, false
	r.in.Reset(&r.from) // else it would keep the body
	readers.Put(r)
}

var readers = sync.Pool{New: func() any { return new(Reader) }}

// Kind is what comes next: '{', '[', '"', 't', 'f', 'n' for null, '0' for a
// number, 0 for nothing.
func (r *Reader) Kind() byte {
	if r.err != nil {
		return 0
	}
	return byte(r.in.PeekKind())
}

// Object yields the name of each member, with the Reader before its value. What is not an object has no members.
func (r *Reader) Object(yield func(name []byte) bool) {
	if r.Kind() != '{' {
		r.Skip()
		return
	}
	for r.token(); r.more(); {
		name := unquoted(r.value())
		if r.err != nil {
			return
		}
		start := r.in.InputOffset()
		if !yield(name) {
			yield = func([]byte) bool { return true }
		}
		r.skipFrom(start)
	}
	r.token()
}

// Array yields for each element, with the Reader before it. What is not an
// array has no elements.
func (r *Reader) Array(yield func() bool) {
	if r.Kind() != '[' {
		r.Skip()
		return
	}
	for r.token(); r.more(); {
		start := r.in.InputOffset()
		if !yield() {
			yield = func() bool { return true }
		}
		r.skipFrom(start)
	}
	r.token()
}

// MaxElements is how many elements of one list are read: 20 times as many as
// the refs of the largest webhook that is known. A body of 10 MiB could hold
// millions, each of which takes a hundred bytes when it is read.
const MaxElements = 100_000

// All reads the elements of a list, which is empty where the value is none. Of
// a list of more than MaxElements it keeps the first ones, and Overlong says so.
func All[T any](r *Reader, read func(*Reader) T) []T {
	var all []T
	for range r.Array {
		if len(all) == MaxElements {
			r.overlong = true
			r.Skip()
			continue
		}
		all = append(all, read(r))
	}
	return all
}

// Overlong reports whether All left elements out.
func (r *Reader) Overlong() bool { return r.overlong }

// Int reads a whole number, also where it comes as a string. Else it is 0.
func (r *Reader) Int() int64 {
	n, err := strconv.ParseInt(string(r.Raw()), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Bool reads true; everything else is false.
func (r *Reader) Bool() bool {
	is := r.Kind() == 't'
	r.Skip()
	return is
}

// Skip reads any value.
func (r *Reader) Skip() {
	depth := r.in.StackDepth()
	for r.token(); r.err == nil && r.in.StackDepth() > depth; {
		r.token()
	}
}

// skipFrom skips the value that begins after start, unless it was read.
func (r *Reader) skipFrom(start int64) {
	if r.err == nil && r.in.InputOffset() == start {
		r.Skip()
	}
}

// more reports whether an object or array has more members: what cannot be read
// counts as one.
func (r *Reader) more() bool {
	kind := r.Kind()
	return r.err == nil && kind != '}' && kind != ']'
}

// token reads one: a value, or the beginning or end of an object or array.
func (r *Reader) token() {
	if r.err != nil {
		return
	}
	_, err := r.in.ReadToken()
	r.check(err)
	if r.in.StackDepth() > maxDepth {
		r.refuse("it is nested over 100 deep", int(r.in.InputOffset()))
	}
}

// value reads a string, a number or a word, as it is written in the body.
func (r *Reader) value() []byte {
	if r.err != nil {
		return nil
	}
	v, err := r.in.ReadValue()
	if r.check(err); err != nil {
		return nil
	}
	end := r.in.InputOffset()
	return r.body[end-int64(len(v)) : end]
}

// unquoted is what a string says; U+0000 can only be escaped.
func unquoted(v []byte) []byte {
	if len(v) < 2 {
		return nil
	}
	if plain := v[1 : len(v)-1]; bytes.IndexByte(plain, '\\') < 0 {
		return plain
	}
	text, _ := jsontext.AppendUnquote(nil, v) // the error is about half surrogate pairs
	if bytes.IndexByte(text, 0) < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte{0}, []byte("\uFFFD"))
}
