// Package trace is the trace that a request belongs to, as its header traceparent says
// (https://www.w3.org/TR/trace-context/): logged, and passed on to what is asked for
// the request. No trace is begun here.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strings"
)

// Header is the name of the header as http.Header has it.
const Header = "Traceparent"

// Trace is that of a request; the zero value is none.
type Trace struct {
	ID    string // 32 hexadecimal digits
	flags string // 2 hexadecimal digits: whether it is recorded
}

// From reads the trace of a request: none where there is no header, or one that is
// not as the standard has it.
func From(h http.Header) Trace {
	if len(h[Header]) != 1 {
		return Trace{}
	}
	version, rest, _ := strings.Cut(h[Header][0], "-")
	id, rest, _ := strings.Cut(rest, "-")
	parent, rest, _ := strings.Cut(rest, "-")
	flags, more, further := strings.Cut(rest, "-")
	switch {
	case !isHex(version, 2) || version == "ff" || version == "00" && further, // later versions may have more
		!isHex(id, 32) || strings.Trim(id, "0") == "",
		!isHex(parent, 16) || strings.Trim(parent, "0") == "",
		!isHex(flags, 2), further && more == "":
		return Trace{}
	}
	return Trace{id, flags}
}

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

type key struct{}

// With notes a trace in the context.
func With(ctx context.Context, t Trace) context.Context { return context.WithValue(ctx, key{}, t) }

// Of returns the trace of the context.
func Of(ctx context.Context) Trace {
	t, _ := ctx.Value(key{}).(Trace)
	return t
}

// Next returns the header of a request that belongs to the trace; "" for none. Each
// has a parent of its own.
func (t Trace) Next() string {
	if t.ID == "" {
		return ""
	}
	var parent [8]byte
	for parent == [8]byte{} { // zero is none
		_, _ = rand.Read(parent[:]) // it never fails
	}
	return "00-" + t.ID + "-" + hex.EncodeToString(parent[:]) + "-" + t.flags
}
