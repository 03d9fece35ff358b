package notify

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // small machines have no time zones of their own

	"outrigger/internal/fault"
)

// Options are how a rule sends. They are kept as JSON, so a member once named
// keeps its name.
type Options struct {
	QuietHours       *QuietHours `json:"quietHours,omitempty"` // nil: none
	MentionReviewers bool        `json:"mentionReviewers,omitempty" default:"false"`
}

// QuietHours are when a rule sends nothing, so that what comes then waits for
// their end.
type QuietHours struct {
	Days []Weekday `json:"days,omitempty"` // on which they begin; none: every day
	From string    `json:"from"`           // HH:MM
	To   string    `json:"to"`             // HH:MM, up to 24:00; not after From: on the next day
	// TimeZone is an IANA name, such as Europe/Berlin.
	TimeZone string `json:"timeZone"`
	// Urgent are types of events that are sent at once all the same.
	Urgent []EventType `json:"urgent,omitempty"`
}

// Weekday is a day of the week that is written as MONDAY.
type Weekday time.Weekday

// Weekdays lists the days, Monday first.
func Weekdays() []Weekday {
	return []Weekday{
		Weekday(time.Monday), Weekday(time.Tuesday), Weekday(time.Wednesday), Weekday(time.Thursday), Weekday(time.Friday),
		Weekday(time.Saturday), Weekday(time.Sunday),
	}
}

// ParseWeekday finds a day by its name, such as MONDAY.
func ParseWeekday(name string) (Weekday, bool) {
	for _, d := range Weekdays() {
		if d.String() == name {
			return d, true
		}
	}
	return 0, false
}

// String is the day's name, as the REST API writes it.
func (d Weekday) String() string { return strings.ToUpper(time.Weekday(d).String()) }

// MarshalText writes the name.
func (d Weekday) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a name.
func (d *Weekday) UnmarshalText(b []byte) error {
	day, ok := ParseWeekday(string(b))
	if !ok {
		return fmt.Errorf("%q is no day of the week", b)
	}
	*d = day
	return nil
}

// wholeDay is the minute at which a day ends.
const wholeDay = 24 * 60

// parseMinutes reads HH:MM as minutes after midnight, up to 24:00.
func parseMinutes(s string) (int, bool) {
	if s == "24:00" {
		return wholeDay, true
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return t.Hour()*60 + t.Minute(), true
}

func (r *Rule) validateQuietHours(f *fault.Fields) {
	q := r.QuietHours
	if q == nil {
		return
	}
	from, fromOK := parseMinutes(q.From)
	if fromOK = fromOK && from < wholeDay; !fromOK {
		f.Add("quietHours.from", "Give the time at which they begin as HH:MM, from 00:00 to 23:59.")
	}
	to, toOK := parseMinutes(q.To)
	switch {
	case !toOK:
		f.Add("quietHours.to", "Give the time at which they end as HH:MM, from 00:00 to 24:00.")
	case fromOK && from == to:
		f.Add("quietHours.to", "They end when they begin; for whole days write from 00:00 to 24:00.")
	case fromOK && from == 0 && to == wholeDay && len(q.days()) == len(Weekdays()):
		f.Add("quietHours.to", "They never end, so that the rule would never send anything; leave a day or some hours out.")
	}
	if _, err := loadZone(q.TimeZone); err != nil {
		f.Add("quietHours.timeZone", "%q is not a time zone; give an IANA name, such as Europe/Berlin or UTC.", q.TimeZone)
	}
	for _, t := range q.Urgent {
		if !slices.Contains(r.EventTypes, t) {
			f.Add("quietHours.urgent", "The rule does not take %s; leave it out here, or choose it among the events.", t)
		}
	}
}

// days are those on which they begin, each once, Monday first.
func (q *QuietHours) days() []Weekday {
	if len(q.Days) == 0 {
		return Weekdays()
	}
	return slices.DeleteFunc(Weekdays(), func(d Weekday) bool { return !slices.Contains(q.Days, d) })
}

// Equal reports whether they are the same hours, whichever way they are written.
func (q *QuietHours) Equal(o *QuietHours) bool {
	if q == nil || o == nil {
		return q == o
	}
	return q.From == o.From && q.To == o.To && q.TimeZone == o.TimeZone && slices.Equal(q.days(), o.days()) &&
		NewTypeSet(q.Urgent...) == NewTypeSet(o.Urgent...)
}

// zoneName is what IANA names look like. LoadLocation takes paths of the machine's
// own files.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9][A-Za-z0-9_+-]*)*$`)

// loadZone loads a time zone by its IANA name. What else a machine has beside
// these is none, and may be missing on the next one: its own zone, and the files
// that count leap seconds, by which clocks are 27 s off.
func loadZone(name string) (*time.Location, error) {
	switch name {
	case "Local", "localtime", "posixrules", "Factory":
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	if !zoneName.MatchString(name) || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	return time.LoadLocation(name)
}

// IsTimeZone reports whether rules and reports may have a time zone of that name.
func IsTimeZone(name string) bool {
	_, err := loadZone(name)
	return err == nil
}

// quietHours are quiet hours made ready.
type quietHours struct {
	days     [7]bool
	from, to int // minutes; to may be on the next day
	zone     *time.Location
	urgent   TypeSet
}

// compileQuietHours returns nil for none, and for what cannot be read: rather sent
// too early than not.
func compileQuietHours(q *QuietHours) *quietHours {
	if q == nil {
		return nil
	}
	from, fromOK := parseMinutes(q.From)
	to, toOK := parseMinutes(q.To)
	zone, err := loadZone(q.TimeZone)
	if !fromOK || !toOK || err != nil {
		return nil
	}
	c := &quietHours{from: from, to: to, zone: zone, urgent: NewTypeSet(q.Urgent...)}
	if to <= from {
		c.to += wholeDay
	}
	for _, d := range q.days() {
		c.days[d] = true
	}
	return c
}

// maxQuiet is how many quiet hours in a row may go over into one another: those
// of a week, and one that the clocks' change joins to them.
const maxQuiet = 8

// end is when the quiet hours end in which t is; zero where it is in none.
func (q *quietHours) end(t time.Time) time.Time {
	if q == nil {
		return time.Time{}
	}
	var end time.Time
	for range maxQuiet {
		next := q.endOfOne(t)
		if next.IsZero() {
			break
		}
		end, t = next, next
	}
	return end
}

// endOfOne is when those end that began on the day of t or the day before; the
// later one, where t is in both.
func (q *quietHours) endOfOne(t time.Time) (end time.Time) {
	year, month, day := t.In(q.zone).Date()
	for _, d := range []int{day - 1, day} {
		if !q.days[time.Date(year, month, d, 0, 0, 0, 0, time.UTC).Weekday()] {
			continue
		}
		begin := wallClock(year, month, d, q.from, q.zone, false)
		if until := wallClock(year, month, d, q.to, q.zone, true); !t.Before(begin) && t.Before(until) && until.After(end) {
			end = until
		}
	}
	return end
}

// HeldUntil is until when the rule holds back a message of the event, which came
// at a time; zero: it goes at once.
func (c *CompiledRule) HeldUntil(e *Event, at time.Time) time.Time {
	if c.quiet == nil || c.quiet.urgent.Any(e.TypeSet()) {
		return time.Time{}
	}
	return c.quiet.end(at)
}
