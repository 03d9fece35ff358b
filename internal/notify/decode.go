package notify

import (
	"errors"
	"fmt"

	"outrigger/internal/fault"
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

// CheckKey is fault.Invalid where the header of a webhook names another event
// than its body, which alone is signed: a recorded body would pass for another
// event. A header that names none is right.
func CheckKey(header, key string) error {
	if header == "" || header == key {
		return nil
	}
	return fault.New(fault.Invalid, "The header X-Event-Key is %q but the eventKey in the body is %q; they must be the same.",
		Ellipsis(header, MaxKey), Ellipsis(key, MaxKey))
}

// MaxKey is how many characters of an event key are said or kept: three times
// the longest key of either edition.
const MaxKey = 100

// Cut returns the first max characters of s, and whether something was left off.
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

// YesNo returns "yes" or "no", as changes and facts say it.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
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
