package pages

import (
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// dayOptions are the days of the week.
func dayOptions() []console.Group {
	var g console.Group
	for _, d := range notify.Weekdays() {
		name := d.String()
		g.Options = append(g.Options, console.Option{Value: name, Label: name[:1] + strings.ToLower(name[1:])})
	}
	return []console.Group{g}
}

// setQuietHours fills the form's fields.
func setQuietHours(form *console.Form, q *notify.QuietHours) {
	if q == nil {
		return
	}
	days := make([]string, len(q.Days))
	for i, d := range q.Days {
		days[i] = d.String()
	}
	form.Set("quietFrom", q.From).Set("quietTo", q.To).Set("quietTimeZone", q.TimeZone).
		Set("quietDays", days...).Set("quietUrgent", notify.TypeKeys(q.Urgent)...)
}

// hasQuietHours reports whether a time or a zone is given.
func hasQuietHours(form *console.Form) bool {
	return form.Get("quietFrom") != "" || form.Get("quietTo") != "" || form.Get("quietTimeZone") != ""
}

// quietHoursOf reads them, nil where there are none, and notes a day that is none:
// left out it could make them those of every day.
func quietHoursOf(form *console.Form, f *fault.Fields) *notify.QuietHours {
	if !hasQuietHours(form) {
		return nil
	}
	q := notify.QuietHours{From: form.Get("quietFrom"), To: form.Get("quietTo"), TimeZone: form.Get("quietTimeZone"),
		Urgent: typesOf(form, "quietUrgent")}
	for _, name := range form.All("quietDays") {
		d, ok := notify.ParseWeekday(name)
		if !ok {
			f.Add("quietHours.days", "%q is not a day; choose days from Monday to Sunday.", name)
			continue
		}
		q.Days = append(q.Days, d)
	}
	return &q
}

// atQuietFields has the errors of quiet hours said at the fields of the form,
// each of which is one of their members.
func atQuietFields(err error) error {
	return fault.Renamed(err, func(f *fault.Field) {
		if member, ok := strings.CutPrefix(f.Name, "quietHours."); ok {
			f.Name = "quiet" + strings.ToUpper(member[:1]) + member[1:]
		}
	})
}
