package work

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 5, 7, 28, 0, 0, time.UTC)
	later := strconv.FormatInt(now.Unix()+90, 10)
	for _, c := range []struct {
		headers string // name: value lines
		wait    time.Duration
		found   bool
	}{
		{"", 0, false},
		{"Retry-After: 120", 2 * time.Minute, true},
		{"Retry-After:   7  ", 7 * time.Second, true},
		{"Retry-After: 0", time.Second, true},
		{"Retry-After: 0.0", time.Second, true},
		{"Retry-After: 0.5", 500 * time.Millisecond, true},
		{"Retry-After: 1.25", 1250 * time.Millisecond, true},
		{"Retry-After: 0.0000000000001", 1, true},
		{"Retry-After: 86400", 24 * time.Hour, true},
		{"Retry-After: 86401", 24 * time.Hour, true},
		{"Retry-After: 99999999999999999999999", 24 * time.Hour, true},
		{"Retry-After: " + strings.Repeat("9", 400), 24 * time.Hour, true},
		{"Retry-After: Thu, 05 Nov 2026 07:29:30 GMT", 90 * time.Second, true},
		{"Retry-After: Thursday, 05-Nov-26 07:29:30 GMT", 90 * time.Second, true},
		{"Retry-After: Thu Nov  5 07:29:30 2026", 90 * time.Second, true},
		{"Retry-After: Thu, 05 Nov 2026 07:00:00 GMT", time.Second, true},
		{"Retry-After: Thu, 05 Nov 2099 07:00:00 GMT", 24 * time.Hour, true},
		{"Retry-After: 5\nRetry-After: 60\nRetry-After: x", time.Minute, true},

		{"Retry-After: -5", 0, false},
		{"Retry-After: +5", 0, false},
		{"Retry-After: 1e3", 0, false},
		{"Retry-After: 0x10", 0, false},
		{"Retry-After: 5.", 0, false},
		{"Retry-After: .5", 0, false},
		{"Retry-After: 1.2.3", 0, false},
		{"Retry-After: NaN", 0, false},
		{"Retry-After: Inf", 0, false},
		{"Retry-After: soon", 0, false},
		{"Retry-After: 5 minutes", 0, false},
		{"Retry-After: ٥", 0, false},

		{"X-RateLimit-Reset: " + later, 90 * time.Second, true},
		{"X-RateLimit-Reset: " + later + ".5", 90*time.Second + 500*time.Millisecond, true},
		{"X-RateLimit-Reset: 2026-11-05T07:30Z", 2 * time.Minute, true},
		{"X-RateLimit-Reset: 2026-11-05T08:30+01:00", 2 * time.Minute, true},
		{"X-RateLimit-Reset: 2026-11-05T07:29:30Z", 90 * time.Second, true},
		{"X-RateLimit-Reset: 1700000000", time.Second, true},
		{"X-RateLimit-Reset: 30", 30 * time.Second, true},
		{"X-RateLimit-Reset: 99999999999999", 24 * time.Hour, true},
		{"X-RateLimit-Reset: tomorrow", 0, false},
		{"X-RateLimit-Reset: " + later + "\nX-RateLimit-Remaining: 0", 90 * time.Second, true},
		{"X-RateLimit-Reset: " + later + "\nX-RateLimit-Remaining: 12", 0, false},
		{"X-RateLimit-Reset: " + later + "\nRetry-After: 5", 5 * time.Second, true},
		{"X-RateLimit-Reset: " + later + "\nRetry-After: soon", 90 * time.Second, true},
	} {
		h := http.Header{}
		for line := range strings.SplitSeq(c.headers, "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok {
				h.Add(name, value)
			}
		}
		if wait, found := RetryAfter(h, now); wait != c.wait || found != c.found {
			t.Errorf("%s: %v %v, want %v %v", c.headers, wait, found, c.wait, c.found)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"5", "1.5", "Thu, 05 Nov 2026 07:29:30 GMT", "Thu Nov  5 07:29:30 2026", "2026-11-05T07:30Z", "1794000000", "\x00", "9e9"} {
		f.Add(seed, seed, int64(1794000000))
	}
	f.Fuzz(func(t *testing.T, after, reset string, unix int64) {
		// From year 1 to 9999, which is what a clock can say.
		now := time.Unix(unix%250_000_000_000, 0)
		wait, found := RetryAfter(http.Header{"Retry-After": {after}, "X-Ratelimit-Reset": {reset}}, now)
		if found && (wait <= 0 || wait > maxRetryAfter) || !found && wait != 0 {
			t.Errorf("%q, %q at %v: %v %v", after, reset, now, wait, found)
		}
		if n, err := strconv.ParseUint(after, 10, 16); err == nil && n > 0 && wait != time.Duration(n)*time.Second {
			t.Errorf("%q s is %v", after, wait)
		}
	})
}
