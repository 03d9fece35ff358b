package payload

import (
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/fault"
)

// maxDepth is how deep a body may be nested. Real ones stay under 15.
const maxDepth = 100

// End is for after the one value of a body: fault.Invalid, with what is wrong
// and where, unless all of the body was right.
func (r *Reader) End() error {
	if r.err == nil && r.in.PeekKind() != jsontext.KindInvalid {
		r.refuse("something follows it", int(r.in.InputOffset()))
	}
	if r.err == nil {
		if _, err := r.in.ReadToken(); err != io.EOF {
			r.check(err)
		}
	}
	return r.err
}

// check ends the reading where err is not nil.
func (r *Reader) check(err error) {
	if err == nil {
		return
	}
	var wrong *jsontext.SyntacticError
	if errors.As(err, &wrong) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.refuse(wrong.Err.Error(), int(wrong.ByteOffset))
		return
	}
	r.refuse("it is cut off", len(r.body))
}

// refuse ends the reading.
func (r *Reader) refuse(reason string, at int) {
	if r.err == nil {
		r.err = fault.New(fault.Invalid, "The body must be one JSON value in UTF-8: %s at byte %d of %d.", reason, at, len(r.body))
	}
}

// firstInvalid is where the first byte is that is no UTF-8.
func firstInvalid(b []byte) int {
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	return i
}
