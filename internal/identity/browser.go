package identity

import (
	"strings"
	"unicode"

	"github.com/mileusna/useragent"
)

const (
	// longestUserAgent is how much of a User-Agent header is read; those of browsers
	// have up to 250 bytes.
	longestUserAgent = 1000
	// longestBrowser is how much of a browser's name is kept, in bytes.
	longestBrowser = 100
)

// browserOf names the browser and the system of a User-Agent header, as in
// “Firefox on Linux”; "" where the header says neither. Versions are left out: a
// browser that is updated stays the same session.
func browserOf(userAgent string) string {
	ua := useragent.Parse(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, userAgent[:min(len(userAgent), longestUserAgent)]))
	name := ua.Name
	if ua.OS != "" && name != ua.OS {
		name = strings.TrimSpace(name + " on " + ua.OS)
	}
	return strings.ToValidUTF8(name[:min(len(name), longestBrowser)], "")
}
