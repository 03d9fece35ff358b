// Package phrase writes parts of sentences: lists, numbers with what they count, and
// what others wrote.
package phrase

import (
	"strconv"
	"strings"
	"unicode"
)

// List is "a", "a and b" or "a, b and c"; "" for nothing.
func List(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

// Count is a number of things, named in the singular: "1 day", "2 days".
func Count[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + thing
}

// Unseen reports whether r is a control character, which a terminal would obey, or
// turns the direction of text, so that it would rewrite the sentence around it.
func Unseen(r rune) bool {
	return unicode.IsControl(r) || '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069'
}

// Line is what others wrote, on one line: spaces in place of what is Unseen.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if Unseen(r) {
			return ' '
		}
		return r
	}, s)
}
