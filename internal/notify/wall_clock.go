package notify

import "time"

// wallClock is when clocks in loc show so many minutes after midnight of a day.
// A time that a change of the clocks leaves out is the moment of the change;
// of a time that comes twice it is the last one or the first.
func wallClock(year int, month time.Month, day, minutes int, loc *time.Location, last bool) time.Time {
	t := time.Date(year, month, day, 0, minutes, 0, 0, loc)
	want := time.Date(year, month, day, 0, minutes, 0, 0, time.UTC)
	start, end := t.ZoneBounds()
	// time.Date takes a left-out time by the offset of either side of the change.
	switch shown := shownAs(t); {
	case shown.After(want):
		return start
	case shown.Before(want):
		return end
	}
	if last && !end.IsZero() {
		if other := t.Add(offset(t) - offset(end)); !other.Before(end) && shownAs(other).Equal(want) {
			return other
		}
	}
	if !last && !start.IsZero() {
		if other := t.Add(offset(t) - offset(start.Add(-1))); other.Before(start) && shownAs(other).Equal(want) {
			return other
		}
	}
	return t
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// shownAs is what clocks show at t, as if it were UTC: comparable.
func shownAs(t time.Time) time.Time { return t.Add(offset(t)).UTC() }
