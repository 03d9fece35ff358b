package pages

import (
	"net/http"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// frequencyLabels are how people read them.
var frequencyLabels = map[notify.Frequency]string{
	notify.Daily: "Every day", notify.Weekly: "Once a week", notify.WorkingDay: "Every working day, Monday to Friday",
}

func frequencyOptions() []console.Option {
	var options []console.Option
	for _, f := range notify.Frequencies() {
		options = append(options, console.Option{Value: string(f), Label: frequencyLabels[f]})
	}
	return options
}

// scheduleText is a schedule in words, without its zone.
func scheduleText(s notify.ReportSchedule) string {
	days := frequencyLabels[s.Frequency]
	switch {
	case s.Frequency == notify.Weekly && s.Day != "":
		days = s.Day[:1] + strings.ToLower(s.Day[1:]) + "s"
	case s.Frequency == notify.WorkingDay:
		days = "Monday to Friday"
	}
	return days + " at " + s.Time
}

// inZone is a time as clocks in a zone show it, "Mon 23 Nov, 09:00"; "" for
// the zero time.
func inZone(t time.Time, zone string, now time.Time) string {
	return formatIn(t, zone, now, "Mon 2 Jan", "15:04")
}

// formatIn has the year where it is not the present one, and no time where clock is "".
func formatIn(t time.Time, zone string, now time.Time, day, clock string) string {
	if t.IsZero() {
		return ""
	}
	place, err := time.LoadLocation(zone)
	if err != nil { // the zone is not known any more
		place = time.UTC
	}
	if t = t.In(place); t.Year() != now.In(place).Year() {
		day += " 2006"
	}
	if clock != "" {
		day += ", " + clock
	}
	return t.Format(day)
}

// nextRun says when a schedule is due next, "" where it cannot be read:
// "Next: Monday 23 November, 09:00 Europe/Berlin".
func (p *Pages) nextRun(s notify.ReportSchedule) string {
	now := p.Clock()
	next := s.Next(now)
	if next.IsZero() {
		return ""
	}
	return "Next: " + formatIn(next, s.TimeZone, now, "Monday 2 January", "15:04") + " " + s.TimeZone
}

// showNextRun answers it by itself, for a form that changes.
func (p *Pages) showNextRun(r *http.Request, form *console.Form) (console.Response, error) {
	return console.Part{Template: "report-form", Part: "next", Data: p.nextRun(scheduleOf(form))}, nil
}
