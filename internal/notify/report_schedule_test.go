package notify

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// scheduleZones are on both hemispheres, with offsets of whole, half and quarter
// hours, and change their clocks by half an hour, an hour and two, at midnight
// and around Ramadan, or never.
var scheduleZones = []string{
	"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns", "Pacific/Chatham",
	"Africa/Casablanca", "America/Sao_Paulo", "Africa/Cairo", "Asia/Beirut", "America/Havana", "Antarctica/Troll", "UTC",
}

// scheduleTimes are at the times at which clocks are changed somewhere, around
// midnight, and at nine.
var scheduleTimes = []string{"00:00", "00:30", "01:30", "02:00", "02:15", "02:30", "02:59", "03:00", "03:15", "09:00", "23:30", "23:59"}

// TestDueTimesAtLength holds the due times of a whole year against clocks that are
// looked at every minute.
func TestDueTimesAtLength(t *testing.T) {
	from, to := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, zone := range scheduleZones {
		for at, days := range dueByTheClocks(t, zone, from, to) {
			for _, s := range []ReportSchedule{
				{Daily, "", at, zone}, {WorkingDay, "", at, zone},
				{Weekly, "SUNDAY", at, zone}, {Weekly, "MONDAY", at, zone}, {Weekly, "FRIDAY", at, zone},
			} {
				var want []time.Time
				for _, d := range days {
					if isDue(s, d.weekday) && !d.due.Before(from) {
						want = append(want, d.due)
					}
				}
				checkSchedule(t, s, from, to, want)
			}
		}
	}
}

// dueOn is when the clocks of a zone first show a time on a day, or a later one.
type dueOn struct {
	weekday time.Weekday
	due     time.Time
}

// dueByTheClocks looks at the clocks every minute, from a day before the period
// on.
func dueByTheClocks(t *testing.T, zone string, from, to time.Time) map[string][]dueOn {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]dueOn)
	begin := from.Add(-24 * time.Hour)
	begun := begin.In(loc)
	passed := make([]int, len(scheduleTimes)) // the last day on which each time has come
	day := func(shown time.Time) int {
		year, month, day := shown.Date()
		return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	minutes := make([]int, len(scheduleTimes))
	for i := range passed {
		minutes[i], _ = parseMinutes(scheduleTimes[i])
		passed[i] = day(begun) - 1 // what comes first is before the period, and left out
	}
	for now := begin; now.Before(to); now = now.Add(time.Minute) {
		shown := now.In(loc)
		today, clock := day(shown), shown.Hour()*60+shown.Minute()
		for i, at := range scheduleTimes {
			if passed[i] < today-1 { // it was left out at the end of yesterday
				found[at] = append(found[at], dueOn{(shown.Weekday() + 6) % 7, now})
				passed[i] = today - 1
			}
			if clock >= minutes[i] && passed[i] < today {
				found[at] = append(found[at], dueOn{shown.Weekday(), now})
				passed[i] = today
			}
		}
	}
	return found
}

func isDue(s ReportSchedule, day time.Weekday) bool {
	switch s.Frequency {
	case Daily:
		return true
	case WorkingDay:
		return day != time.Saturday && day != time.Sunday
	}
	return s.Day == Weekday(day).String()
}

// checkSchedule goes through the period from due time to due time.
func checkSchedule(t *testing.T, s ReportSchedule, from, to time.Time, want []time.Time) {
	t.Helper()
	table, err := s.compile()
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Time
	for due := table.next(from.Add(-1)); due.Before(to); due = table.next(due) {
		got = append(got, due)
	}
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Fatalf("%+v:\n%s", s, firstDifference(got, want))
	}
	for i, due := range got {
		for _, now := range []time.Time{due, due.Add(table.catchUp)} {
			if turn := table.turn(now); !turn.Due.Equal(due) || i+1 < len(got) && !turn.Next.Equal(got[i+1]) {
				t.Fatalf("%+v: at %s it runs for %s, then at %s; want %s", s, now, turn.Due, turn.Next, due)
			}
		}
		if turn := table.turn(due.Add(table.catchUp + 1)); !turn.Due.IsZero() {
			t.Fatalf("%+v: it catches up on %s too late", s, due)
		}
	}
}

func firstDifference(got, want []time.Time) string {
	for i := range max(len(got), len(want)) {
		at := func(list []time.Time) string {
			if i < len(list) {
				return list[i].UTC().Format(time.RFC3339)
			}
			return "none"
		}
		if at(got) != at(want) {
			return fmt.Sprintf("due time %d is %s, want %s; %d due times, want %d", i, at(got), at(want), len(got), len(want))
		}
	}
	return "the same"
}

func TestDueTimeAtAChangeOfTheClocks(t *testing.T) {
	for _, c := range []struct {
		name, zone, at string
		after          string
		want           []string // the next due times
	}{
		{"a time that does not exist", "Europe/Berlin", "02:30", "2026-03-28T12:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"a time that comes twice", "Europe/Berlin", "02:30", "2026-10-24T12:00:00+02:00", []string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"between the two", "Europe/Berlin", "02:30", "2026-10-25T02:45:00+02:00", []string{"2026-10-26T02:30:00+01:00"}},
		{"half an hour left out", "Australia/Lord_Howe", "02:15", "2026-10-03T12:00:00+10:30", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"half an hour twice", "Australia/Lord_Howe", "01:45", "2026-04-04T12:00:00+11:00", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"midnight left out", "Asia/Beirut", "00:00", "2026-03-28T12:00:00+02:00", []string{"2026-03-29T01:00:00+03:00", "2026-03-30T00:00:00+03:00"}},
		{"a day that never was", "Pacific/Apia", "09:00", "2011-12-29T12:00:00-10:00", []string{"2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00"}},
	} {
		s := ReportSchedule{Frequency: Daily, Time: c.at, TimeZone: c.zone}
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			due, err := time.Parse(time.RFC3339, want)
			if err != nil {
				t.Fatal(err)
			}
			if after = s.Next(after); !after.Equal(due) {
				t.Errorf("%s: %s, want %s", c.name, after, want)
			}
		}
	}
}

func TestTurnAfterDowntime(t *testing.T) {
	const zone = "Europe/Berlin"
	weekly, daily, working := ReportSchedule{Weekly, "MONDAY", "09:00", zone}, ReportSchedule{Daily, "", "09:00", zone}, ReportSchedule{WorkingDay, "", "09:00", zone}
	at := func(day, hour, minute int) time.Time { // of November 2026, whose 2nd is a Monday
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 11, day, hour, minute, 0, 0, loc)
	}
	var never time.Time
	for _, c := range []struct {
		name      string
		schedule  ReportSchedule
		now       time.Time
		due, next time.Time
	}{
		{"at once", daily, at(3, 9, 0), at(3, 9, 0), at(4, 9, 0)},
		{"within six hours", daily, at(3, 15, 0), at(3, 9, 0), at(4, 9, 0)},
		{"later", daily, at(3, 15, 1), never, at(4, 9, 0)},
		{"down for a week", daily, at(10, 12, 0), at(10, 9, 0), at(11, 9, 0)},
		{"down until the weekend", working, at(7, 10, 0), never, at(9, 9, 0)},
		{"a weekly one, a day late", weekly, at(3, 9, 0), at(2, 9, 0), at(9, 9, 0)},
		{"a weekly one, later", weekly, at(3, 9, 1), never, at(9, 9, 0)},
	} {
		turn, err := c.schedule.turn(c.now)
		if err != nil || !turn.Due.Equal(c.due) || !turn.Next.Equal(c.next) {
			t.Errorf("%s: %+v, %v; want %s, %s", c.name, turn, err, c.due, c.next)
		}
	}
}

func TestScheduleThatCannotBeRead(t *testing.T) {
	for _, s := range []ReportSchedule{
		{Daily, "", "09:00", "Europe/Atlantis"}, {Daily, "", "09:00", ""}, {Daily, "", "09:00", "Local"}, {Daily, "", "24:00", "UTC"},
		{Weekly, "", "09:00", "UTC"}, {"HOURLY", "", "09:00", "UTC"},
	} {
		if next := s.Next(time.Now()); !next.IsZero() {
			t.Errorf("%+v is due at %s", s, next)
		}
		if _, err := s.turn(time.Now()); err == nil {
			t.Errorf("%+v has a turn", s)
		}
	}
}
