package notify

import (
	"fmt"
	"time"

	"outrigger/internal/fault"
)

// Frequency is on which days a report is due.
type Frequency string

const (
	Daily      Frequency = "DAILY"
	Weekly     Frequency = "WEEKLY"      // once a week, on the chosen day
	WorkingDay Frequency = "WORKING_DAY" // Monday to Friday
)

// Frequencies lists them, in the order in which people are offered them.
func Frequencies() []Frequency { return []Frequency{Daily, Weekly, WorkingDay} }

// ReportSchedule is when a report is due. It is comparable.
type ReportSchedule struct {
	Frequency Frequency `json:"frequency"`
	Day       string    `json:"day,omitempty"` // of a weekly report, such as MONDAY; else empty
	Time      string    `json:"time"`          // HH:MM, from 00:00 to 23:59
	TimeZone  string    `json:"timeZone" doc:"An IANA name. The server's where a new report has none."`
}

func (s ReportSchedule) validate(f *fault.Fields) {
	_, known := ParseWeekday(s.Day)
	switch s.Frequency {
	case Weekly:
		if !known {
			f.Add("day", "%q is not a day; a weekly report needs one of MONDAY to SUNDAY.", s.Day)
		}
	case Daily, WorkingDay:
		if s.Day != "" {
			f.Add("day", "Only a weekly report has a day; leave it out.")
		}
	default:
		f.Add("frequency", "%q is not a frequency; use DAILY, WEEKLY or WORKING_DAY.", s.Frequency)
	}
	if minutes, ok := parseMinutes(s.Time); !ok || minutes == wholeDay {
		f.Add("time", "Give the time of day as HH:MM, from 00:00 to 23:59.")
	}
	if _, err := loadZone(s.TimeZone); err != nil {
		f.Add("timeZone", "%q is not a time zone; give an IANA name, such as Europe/Berlin or UTC.", s.TimeZone)
	}
}

// timetable is a compiled schedule.
type timetable struct {
	days    [7]bool // by Weekday
	minutes int     // after midnight
	zone    *time.Location
	catchUp time.Duration // how late a report may run
}

// compile fails where the schedule is not valid here: a release may know fewer
// time zones than the one that saved it.
func (s ReportSchedule) compile() (*timetable, error) {
	zone, err := loadZone(s.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("the time zone %q is not known here any more; choose another", s.TimeZone)
	}
	minutes, ok := parseMinutes(s.Time)
	if !ok || minutes == wholeDay {
		return nil, fmt.Errorf("%q is not a time of day", s.Time)
	}
	t := &timetable{minutes: minutes, zone: zone, catchUp: catchUpDaily}
	if s.Frequency == Weekly {
		t.catchUp = catchUpWeekly
	}
	day, known := ParseWeekday(s.Day)
	for _, d := range Weekdays() {
		switch s.Frequency {
		case Daily:
			t.days[d] = true
		case WorkingDay:
			t.days[d] = d != Weekday(time.Saturday) && d != Weekday(time.Sunday)
		case Weekly:
			t.days[d] = known && d == day
		}
	}
	if t.days == [7]bool{} {
		return nil, fmt.Errorf("%q is not a frequency, or %q not a day", s.Frequency, s.Day)
	}
	return t, nil
}

// How late a report may run that came due while no node was there: what is later
// would stand beside the next one, or be of no use any more.
const (
	catchUpDaily  = 6 * time.Hour
	catchUpWeekly = 24 * time.Hour
)

// searched is how many days are looked through for the next due time: a week,
// and one on either side, since a change of the clocks may put a due time into
// the day after its own.
const searched = 9

// next returns the first due time after a moment.
func (t *timetable) next(after time.Time) time.Time {
	year, month, day := after.In(t.zone).Date()
	for d := day - 1; d < day-1+searched; d++ {
		if due, ok := t.on(year, month, d); ok && due.After(after) {
			return due
		}
	}
	return time.Time{} // unreachable: each week has a due time
}

// last returns the last due time up to a moment.
func (t *timetable) last(until time.Time) time.Time {
	year, month, day := until.In(t.zone).Date()
	for d := day; d > day-searched; d-- {
		if due, ok := t.on(year, month, d); ok && !due.After(until) {
			return due
		}
	}
	return time.Time{} // unreachable, as above
}

// on returns the due time of a day, where it has one. A time that a change of the
// clocks leaves out is due at the change; one that comes twice, at the first.
func (t *timetable) on(year int, month time.Month, day int) (due time.Time, ok bool) {
	if !t.days[time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()] {
		return due, false
	}
	return wallClock(year, month, day, t.minutes, t.zone, false), true
}

// Next returns the first due time after a moment, in UTC; zero where the schedule is
// not valid.
func (s ReportSchedule) Next(after time.Time) time.Time {
	t, err := s.compile()
	if err != nil {
		return time.Time{}
	}
	return t.next(after).UTC()
}

// ReportTurn is what a report has to do at a moment.
type ReportTurn struct {
	Due  time.Time // the due time that it runs for; zero: none, it is too late for the last one
	Next time.Time // the due time after the moment
}

// turn decides what becomes of a report that waited for a due time which now has
// come. Of several that passed, the last alone is run for. The error says why the
// schedule cannot be read any more.
func (s ReportSchedule) turn(now time.Time) (ReportTurn, error) {
	t, err := s.compile()
	if err != nil {
		return ReportTurn{}, err
	}
	return t.turn(now), nil
}

func (t *timetable) turn(now time.Time) ReportTurn {
	turn := ReportTurn{Due: t.last(now).UTC(), Next: t.next(now).UTC()}
	if now.Sub(turn.Due) > t.catchUp {
		turn.Due = time.Time{}
	}
	return turn
}
