package notify

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
)

func TestEndOfQuietHours(t *testing.T) {
	const berlin, newYork = "Europe/Berlin", "America/New_York"
	workdays := []Weekday{1, 2, 3, 4, 5}
	weekend := []Weekday{6, 0}
	nights := QuietHours{From: "22:00", To: "06:00", TimeZone: berlin}
	cases := []struct {
		name  string
		quiet QuietHours
		at    string // RFC 3339
		end   string // empty: not quiet
	}{
		{"before a night", nights, "2026-11-23T21:59:59+01:00", ""},
		{"at its beginning", nights, "2026-11-23T22:00:00+01:00", "2026-11-24T06:00:00+01:00"},
		{"after midnight", nights, "2026-11-24T03:00:00+01:00", "2026-11-24T06:00:00+01:00"},
		{"at its end", nights, "2026-11-24T06:00:00+01:00", ""},
		{"whatever zone the time is in", nights, "2026-11-24T02:00:00Z", "2026-11-24T06:00:00+01:00"},

		{"a night belongs to the day on which it begins", with(nights, []Weekday{5}), "2026-11-28T05:00:00+01:00", "2026-11-28T06:00:00+01:00"},
		{"not to the day on which it ends", with(nights, []Weekday{6}), "2026-11-28T05:00:00+01:00", ""},
		{"Sunday's night ends on Monday", with(nights, weekend), "2026-11-30T05:00:00+01:00", "2026-11-30T06:00:00+01:00"},

		{"within a day", QuietHours{Days: workdays, From: "12:00", To: "13:30", TimeZone: berlin}, "2026-11-23T12:30:00+01:00", "2026-11-23T13:30:00+01:00"},
		{"on another day", QuietHours{Days: workdays, From: "12:00", To: "13:30", TimeZone: berlin}, "2026-11-22T12:30:00+01:00", ""},
		{"whole days that follow one another", QuietHours{Days: weekend, From: "00:00", To: "24:00", TimeZone: berlin}, "2026-11-21T10:00:00+01:00", "2026-11-23T00:00:00+01:00"},
		{"nights that go over into days", QuietHours{Days: weekend, From: "18:00", To: "18:00", TimeZone: berlin}, "2026-11-21T20:00:00+01:00", "2026-11-23T18:00:00+01:00"},

		// Clocks go from 02:00 to 03:00 on 2026-03-29 in Berlin.
		{"a night that is an hour shorter", nights, "2026-03-28T23:00:00+01:00", "2026-03-29T06:00:00+02:00"},
		{"an end that is left out", QuietHours{From: "22:00", To: "02:30", TimeZone: berlin}, "2026-03-29T01:59:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"a beginning that is left out", QuietHours{From: "02:30", To: "04:00", TimeZone: berlin}, "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"},
		{"before a beginning that is left out", QuietHours{From: "02:30", To: "04:00", TimeZone: berlin}, "2026-03-29T01:59:00+01:00", ""},
		// And from 03:00 back to 02:00 on 2026-10-25.
		{"a night that is an hour longer", nights, "2026-10-24T23:00:00+02:00", "2026-10-25T06:00:00+01:00"},
		{"an end that comes twice", QuietHours{From: "22:00", To: "02:30", TimeZone: berlin}, "2026-10-25T02:45:00+02:00", "2026-10-25T02:30:00+01:00"},
		{"a beginning that comes twice", QuietHours{From: "02:30", To: "04:00", TimeZone: berlin}, "2026-10-25T02:30:00+02:00", "2026-10-25T04:00:00+01:00"},
		{"between them", QuietHours{From: "02:30", To: "04:00", TimeZone: berlin}, "2026-10-25T02:10:00+01:00", "2026-10-25T04:00:00+01:00"},
		// West of Greenwich the days change later: from 02:00 to 03:00 on 2026-03-08.
		{"an end that is left out in New York", QuietHours{From: "22:00", To: "02:30", TimeZone: newYork}, "2026-03-08T01:00:00-05:00", "2026-03-08T03:00:00-04:00"},
		{"an end that comes twice in New York", QuietHours{From: "22:00", To: "01:30", TimeZone: newYork}, "2026-11-01T01:10:00-05:00", "2026-11-01T01:30:00-05:00"},
		// Samoa had no 2011-12-30.
		{"a day that is left out", QuietHours{From: "20:00", To: "08:00", TimeZone: "Pacific/Apia"}, "2011-12-29T21:00:00-10:00", "2011-12-31T08:00:00+14:00"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := compileQuietHours(&c.quiet)
			if q == nil {
				t.Fatal("the quiet hours cannot be used")
			}
			end := q.end(parse(t, c.at))
			switch {
			case c.end == "" && !end.IsZero():
				t.Errorf("quiet until %s", end)
			case c.end != "" && !end.Equal(parse(t, c.end)):
				t.Errorf("quiet until %s, want %s", end, c.end)
			}
		})
	}
}

func with(q QuietHours, days []Weekday) QuietHours {
	q.Days = days
	return q
}

func parse(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Through a year of every minute, clocks that change included: it is quiet just
// when the clocks show a time within the hours, and the end is the first minute
// that is not.
func TestQuietHoursFollowTheClocks(t *testing.T) {
	q := compileQuietHours(&QuietHours{Days: []Weekday{1, 3, 0}, From: "21:17", To: "01:43", TimeZone: "Europe/Berlin"})
	at := parse(t, "2026-01-01T00:00:00Z")
	var end time.Time
	for ; at.Year() == 2026; at = at.Add(time.Minute) {
		shown := at.In(q.zone)
		minute := shown.Hour()*60 + shown.Minute()
		quiet := q.days[shown.Weekday()] && minute >= 21*60+17 || q.days[shown.AddDate(0, 0, -1).Weekday()] && minute < 60+43
		now := q.end(at)
		if quiet == now.IsZero() {
			t.Fatalf("%s: quiet is %v, and the end %s", shown, quiet, now)
		}
		if !end.IsZero() && at.Before(end) != quiet {
			t.Fatalf("%s: quiet is %v before the end %s", shown, quiet, end)
		}
		end = now
	}
}

func TestQuietHoursThatMakeNoSense(t *testing.T) {
	good := QuietHours{From: "22:00", To: "06:00", TimeZone: "Europe/Berlin"}
	change := func(f func(*QuietHours)) *QuietHours {
		q := good
		f(&q)
		return &q
	}
	for want, quiet := range map[string]*QuietHours{
		"": &good,
		"quietHours.from quietHours.to quietHours.timeZone": {},
		"quietHours.from":     change(func(q *QuietHours) { q.From = "24:00" }),
		"quietHours.to":       change(func(q *QuietHours) { q.To = "6:00" }),
		"quietHours.to ":      change(func(q *QuietHours) { q.To = "22:00" }),
		"quietHours.to  ":     change(func(q *QuietHours) { q.From, q.To = "00:00", "24:00" }),
		"quietHours.timeZone": change(func(q *QuietHours) { q.TimeZone = "Local" }),
		"quietHours.urgent":   change(func(q *QuietHours) { q.Urgent = []EventType{BranchUpdated, TagCreated} }),
		" ":                   change(func(q *QuietHours) { q.From, q.To, q.Days = "00:00", "24:00", Weekdays()[:6] }),
		"  ":                  change(func(q *QuietHours) { q.Urgent = []EventType{BranchUpdated} }),
	} {
		r := Rule{Filter: Filter{EventTypes: []EventType{BranchUpdated}}, Options: Options{QuietHours: quiet}}
		var f fault.Fields
		r.validateQuietHours(&f)
		got := ""
		for _, field := range f {
			got += field.Name + " "
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%+v: refused for %q, want %q", quiet, got, want)
		}
	}
}

func TestUrgentEventsAreNotHeld(t *testing.T) {
	c := compiled(t, Rule{
		Filter:  Filter{EventTypes: []EventType{BranchUpdated, FileEdited, BranchDeleted}},
		Options: Options{QuietHours: &QuietHours{From: "22:00", To: "06:00", TimeZone: "UTC", Urgent: []EventType{FileEdited, BranchDeleted}}},
	})
	night := parse(t, "2026-11-23T23:00:00Z")
	for _, at := range []struct {
		types []EventType
		held  bool
	}{{[]EventType{BranchUpdated}, true}, {[]EventType{FileEdited, BranchUpdated}, false}, {[]EventType{BranchDeleted}, false}} {
		if got := !c.HeldUntil(&Event{Types: at.types}, night).IsZero(); got != at.held {
			t.Errorf("%v: held is %v", at.types, got)
		}
	}
}

// A time zone is an IANA name: no path, and nothing that only this machine has.
func TestTimeZones(t *testing.T) {
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5", "GMT-0", "EST5EDT", "W-SU", "Australia/Lord_Howe",
	} {
		if !IsTimeZone(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range []string{
		"", "Local", "localtime", "Factory", "posixrules", "posix/Europe/Berlin", "right/UTC", "../../etc/localtime", "/etc/localtime", "./UTC", "Europe//Berlin", "Europe/", "Europe",
		"Europe/../UTC", "Europe\\Berlin", "UTC\x00", "UTC ", "UTC\n", "zone.tab", "tzdata.zi", "Europe/Atlantis",
	} {
		if IsTimeZone(name) {
			t.Errorf("%q is one", name)
		}
	}
}
