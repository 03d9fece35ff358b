package payload

import (
	"math"
	"strconv"
	"time"
)

// Layouts of times as strings. Those of the self-hosted platform's version 10
// have milliseconds; its `date` has an offset without a colon; the cloud's
// have microseconds. Parsing takes fractions of seconds in each.
const (
	isoColon   = "2006-01-02T15:04:05Z07:00" // also 2026-08-19T17:27:55.266Z
	isoNoColon = "2006-01-02T15:04:05Z0700"
	isoNoZone  = "2006-01-02T15:04:05" // taken as UTC
)

// Time reads a point in time, in UTC: milliseconds since 1970 (also as a
// string), or ISO 8601. The zero time is one that cannot be read, or one that
// RFC 3339 cannot write.
func (r *Reader) Time() time.Time {
	number := r.Kind() == '0'
	text := r.Raw()
	t := parseISO(string(text))
	if number || t.IsZero() {
		t = parseMillis(string(text))
	}
	if y := t.Year(); y < 1 || y > 9999 {
		return time.Time{}
	}
	return t
}

// TimeOf is Time of a body.
func TimeOf(body []byte) time.Time {
	r := New(body)
	defer r.Release()
	return r.Time()
}

func parseISO(s string) time.Time {
	n := len(s)
	if n < len(isoNoZone) {
		return time.Time{}
	}
	layout := isoNoZone
	switch {
	case s[n-1] == 'Z' || s[n-3] == ':' && (s[n-6] == '+' || s[n-6] == '-'):
		layout = isoColon
	case s[n-5] == '+' || s[n-5] == '-':
		layout = isoNoColon
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func parseMillis(s string) time.Time {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms).UTC()
	}
	f, err := strconv.ParseFloat(s, 64) // 1.5e12
	if err != nil || math.Abs(f) > math.MaxInt64/2 {
		return time.Time{}
	}
	return time.UnixMilli(int64(f)).UTC()
}
