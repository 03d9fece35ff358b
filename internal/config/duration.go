package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time, written as 90s, 10m, 7d or 1d12h; a day is
// 24 hours. It is never negative.
type Duration time.Duration

const day = 24 * time.Hour

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	wrong := fmt.Errorf("%q is not a duration; write it as 90s, 10m, 12h or 7d", text)
	rest := string(text)
	var days time.Duration
	if n, after, ok := strings.Cut(rest, "d"); ok {
		whole, err := strconv.ParseUint(n, 10, 31)
		if err != nil || time.Duration(whole) > math.MaxInt64/day {
			return wrong
		}
		if days, rest = time.Duration(whole)*day, after; rest == "" {
			rest = "0"
		}
	}
	short, err := time.ParseDuration(rest)
	if err != nil || short < 0 || days > math.MaxInt64-short || strings.HasPrefix(rest, "+") {
		return wrong
	}
	*d = Duration(days + short)
	return nil
}

// String writes whole days as days and leaves out parts that are zero: 7d,
// 12h, 1m30s.
func (d Duration) String() string {
	t := time.Duration(d)
	if t >= day {
		s := fmt.Sprintf("%dd", t/day)
		if t%day == 0 {
			return s
		}
		return s + Duration(t%day).String()
	}
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText writes the duration as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
