package api

import (
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// QuietHours are hours in which messages wait.
type QuietHours struct {
	Days     []string `json:"days,omitempty" enum:"MONDAY,TUESDAY,WEDNESDAY,THURSDAY,FRIDAY,SATURDAY,SUNDAY"`
	From     string   `json:"from" doc:"HH:MM, from 00:00 to 23:59."`
	To       string   `json:"to" doc:"HH:MM, from 00:00 to 24:00; earlier than from it is on the next day."`
	TimeZone string   `json:"timeZone" doc:"An IANA name, such as Europe/Berlin."`
	Urgent   []string `json:"urgent,omitempty" doc:"Event types of the rule that are sent at once all the same."`
}

// MemberWords say what they are.
func (QuietHours) MemberWords() map[string]string {
	return map[string]string{
		"": "What the rule takes in these hours waits for their end, and goes out then, as one digest for each channel and set of rules. A " +
			"message that another rule sends to the same channel at once does not wait.",
		"days": "On which they begin; absent or empty, every day.",
	}
}

// quietHours reads them, and notes what is wrong in itself.
func (in *QuietHours) quietHours(f *fault.Fields) *notify.QuietHours {
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

func quietHoursOf(q *notify.QuietHours) *QuietHours {
	if q == nil {
		return nil
	}
	out := &QuietHours{From: q.From, To: q.To, TimeZone: q.TimeZone, Urgent: notify.TypeKeys(q.Urgent)}
	for _, d := range q.Days {
		out.Days = append(out.Days, d.String())
	}
	return out
}
