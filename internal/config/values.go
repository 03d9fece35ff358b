package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Date is a day, written as 2027-01-31; "" is none.
type Date string

// UnmarshalText reads a date.
func (d *Date) UnmarshalText(text []byte) error {
	if _, err := time.Parse(time.DateOnly, string(text)); err != nil {
		return fmt.Errorf("%q is not a date; write it as 2027-01-31", text)
	}
	*d = Date(text)
	return nil
}

// Time is when the day begins, in UTC; the zero time for none.
func (d Date) Time() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d)) // it was judged when it was read
	return t
}

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

// Size is a number of bytes, written as 25MiB or as the bare number. The units
// are KiB, MiB, GiB and TiB, powers of 1,024.
type Size int64

var sizeUnits = [...]struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimRight(n, " "), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size; write it as 25MiB or as a number of bytes", text)
	}
	*s = Size(int64(n) * unit)
	return nil
}

// String uses the largest unit that needs no fraction: 25MiB, 1000.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if int64(s) >= u.bytes && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalText writes the size as String does.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
