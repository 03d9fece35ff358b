// Package phrase writes parts of sentences: lists, and numbers with what they count.
package phrase

import (
	"strconv"
	"strings"
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
