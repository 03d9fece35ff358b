// Package secret keeps what must not be seen: values that do not print, URLs
// that show only their host, and a box that encrypts what the database holds.
package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// hidden is what a Value prints as, whatever the verb or format.
const hidden = "<secret>"

// Value is a text that prints as "<secret>" under every verb, in JSON, XML,
// YAML and logs; an empty one prints as nothing, so that it shows whether
// there is one. It reads from plain text in all of them.
//
// The text is behind a pointer because fmt prints the members of a struct
// without asking its methods when the member is unexported or the verb is %p.
// So == compares nothing useful: use Equal.
type Value struct{ text *string }

// New hides s. An empty s gives the zero Value.
func New(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{&s}
}

// Reveal returns the text itself.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// IsZero reports whether there is no text.
func (v Value) IsZero() bool { return v.text == nil }

// Equal compares two texts in a time that does not depend on where they differ.
func (v Value) Equal(w Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(w.Reveal())) == 1
}

func (v Value) String() string {
	if v.IsZero() {
		return ""
	}
	return hidden
}

// Format prints the same under every verb.
func (v Value) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, v.String()) }

// LogValue is what slog writes.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText is what JSON, XML and YAML write.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText takes the text as it is.
func (v *Value) UnmarshalText(text []byte) error {
	*v = New(string(text))
	return nil
}
