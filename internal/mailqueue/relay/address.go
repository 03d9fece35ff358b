package relay

import "strings"

// maxName is how much of what a client calls itself a Received: line has.
const maxName = 254

// token makes a name fit for a Received: line: what is not plain ASCII in a
// client's greeting is replaced.
func token(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune("()<>;,\"\\", r) {
			return '?'
		}
		return r
	}, s)
	if s == "" {
		return "unknown"
	}
	return s[:min(len(s), maxName)]
}
