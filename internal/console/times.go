package console

import (
	"strconv"
	"time"
)

// farOff is from when on a time is shown by its date: "5 weeks ago" has to be
// counted back.
const farOff = 30 * 24 * time.Hour

// relative says how far a time is from now, in whole units. The module time.js
// says the same as time goes on.
func relative(t, now time.Time) string {
	d := now.Sub(t)
	ahead := d < 0
	if ahead {
		d = -d
	}
	var text string
	switch {
	case d < time.Minute && ahead:
		return "in a moment"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		text = units(d, time.Minute, "minute")
	case d < 24*time.Hour:
		text = units(d, time.Hour, "hour")
	case d < farOff:
		text = units(d, 24*time.Hour, "day")
	default:
		return t.UTC().Format(time.DateOnly)
	}
	if ahead {
		return "in " + text
	}
	return text + " ago"
}

func units(d, unit time.Duration, name string) string {
	n := int(d / unit)
	if n != 1 {
		name += "s"
	}
	return strconv.Itoa(n) + " " + name
}

// took says how long something took, to the millisecond or a tenth of a second.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}
