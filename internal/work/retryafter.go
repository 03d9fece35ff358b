package work

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait that is obeyed: a longer one is more
// likely a mistake than a wish, and probing once a day does no harm.
const maxRetryAfter = 24 * time.Hour

// minRetryAfter is what a wait of 0, or until a time that is past, counts as.
const minRetryAfter = time.Second

// RetryAfter is how long an answer's headers ask to wait: Retry-After (RFC
// 9110 10.2.3) in seconds, with a fraction too, or as an HTTP date in any of
// its three formats; else X-RateLimit-Reset, in seconds since 1970 or from
// now, or as a time such as 2026-11-05T07:30Z, unless X-RateLimit-Remaining
// says that something is left. Of several values the longest holds. What
// cannot be read counts as absent: false.
//
// 0 and the past count as 1 s, and more than MaxRetryAfter as that.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	wait, found := longest(h.Values("Retry-After"), func(s string) (float64, bool) {
		if seconds, ok := parseSeconds(s); ok {
			return seconds, true
		}
		at, err := http.ParseTime(s)
		return at.Sub(now).Seconds(), err == nil
	})
	if left, ok := parseSeconds(strings.TrimSpace(h.Get("X-RateLimit-Remaining"))); !found && (!ok || left == 0) {
		wait, found = longest(h.Values("X-RateLimit-Reset"), func(s string) (float64, bool) { return untilReset(s, now) })
	}
	if !found {
		return 0, false
	}
	if wait >= maxRetryAfter.Seconds() {
		return maxRetryAfter, true
	}
	if wait <= 0 {
		return minRetryAfter, true
	}
	return max(time.Duration(wait*float64(time.Second)), 1), true
}

// longest is the largest of the values that can be read.
func longest(values []string, parse func(string) (float64, bool)) (seconds float64, found bool) {
	for _, v := range values {
		if s, ok := parse(strings.TrimSpace(v)); ok && (!found || s > seconds) {
			seconds, found = s, true
		}
	}
	return seconds, found
}

// untilReset reads one X-RateLimit-Reset.
func untilReset(s string, now time.Time) (seconds float64, ok bool) {
	if n, ok := parseSeconds(s); ok {
		// Seconds since 1970 have had ten digits since 2001; fewer are from now.
		if n < 1e9 {
			return n, true
		}
		return n - float64(now.UnixMicro())/1e6, true
	}
	for _, layout := range []string{"2006-01-02T15:04Z07:00", time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.Sub(now).Seconds(), true
		}
	}
	return 0, false
}

// parseSeconds reads digits with an optional fraction, and nothing else that
// strconv would take (signs, exponents, "inf").
func parseSeconds(s string) (float64, bool) {
	whole, fraction, dot := strings.Cut(s, ".")
	if !isDigits(whole) || dot && !isDigits(fraction) {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil { // more digits than a float holds
		return math.MaxFloat64, true
	}
	return n, true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
