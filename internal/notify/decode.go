package notify

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrUnknownKey is what decoders return for an event key that they do not
// know. The sender is verified and newer than we are: it gets a 2xx, and the
// event is counted.
var ErrUnknownKey = errors.New("unknown event key")

// ErrNotUnderstood is what decoders return, wrapped with the reason, for JSON
// of a verified sender that does not say what its event key promises. The
// sender gets a 2xx, since an error status would make it stop sending; the
// body is kept and shown.
var ErrNotUnderstood = errors.New("body not understood")

// NotUnderstood makes an ErrNotUnderstood with its reason.
func NotUnderstood(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotUnderstood, fmt.Sprintf(format, args...))
}

// Cut gives the first max characters of s, and whether something was left off.
func Cut(s string, max int) (string, bool) {
	if len(s) <= max { // no more characters than bytes
		return s, false
	}
	n := 0
	for i := range s {
		if n == max {
			return s[:i], true
		}
		n++
	}
	return s, false
}

// Ellipsis shortens s to at most max characters, of which the last is then a
// "…".
func Ellipsis(s string, max int) string {
	if _, more := Cut(s, max); !more {
		return s
	}
	s, _ = Cut(s, max-1)
	return s + "…"
}

// MaxDepth is how deep a webhook body may be nested. Real ones stay under 15.
const MaxDepth = 100

// CheckBody tells whether body is what decoders may be given: one JSON value
// (RFC 8259) in UTF-8, nested at most MaxDepth deep. Members that occur twice
// are allowed. An error is fault.Invalid and says what is wrong, and where.
func CheckBody(body []byte) error {
	if !utf8.Valid(body) {
		return invalidBody("it is not UTF-8", body, firstInvalid(body))
	}
	c := checker{b: body}
	if reason := c.document(); reason != "" {
		return invalidBody(reason, body, c.i)
	}
	return nil
}

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
