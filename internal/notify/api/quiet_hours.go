package api

import (
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// quietHoursJSON are quiet hours as the API writes and reads them.
type quietHoursJSON struct {
	Days     []string `json:"days,omitempty"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	TimeZone string   `json:"timeZone"`
	Urgent   []string `json:"urgent,omitempty"`
}

// quietHours reads them, and notes what is wrong in itself.
func (in *quietHoursJSON) quietHours(f *fault.Fields) *notify.QuietHours {
	if in == nil {
		return nil
	}
	q := &notify.QuietHours{From: in.From, To: in.To, TimeZone: in.TimeZone, Urgent: eventTypesOf("quietHours.urgent", in.Urgent, f)}
	for _, name := range in.Days {
		d, ok := notify.ParseWeekday(rest.Key(name))
		if !ok {
			f.Add("quietHours.days", "%q is not a day; write MONDAY to SUNDAY.", name)
			continue
		}
		q.Days = append(q.Days, d)
	}
	return q
}

func quietHoursOf(q *notify.QuietHours) *quietHoursJSON {
	if q == nil {
		return nil
	}
	out := &quietHoursJSON{From: q.From, To: q.To, TimeZone: q.TimeZone, Urgent: typeKeys(q.Urgent)}
	for _, d := range q.Days {
		out.Days = append(out.Days, d.String())
	}
	return out
}
