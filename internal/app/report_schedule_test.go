package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity/identitytest"
)

// schedule is what is sent as the schedule of a report, as it is typed.
type schedule struct{ frequency, day, time, timeZone string }

func (s schedule) fields() map[string]string {
	return map[string]string{"frequency": s.frequency, "day": s.day, "time": s.time, "timeZone": s.timeZone}
}

// Saturdays before the clocks of Berlin are put forward, at 02:00 of the 28th, and
// back, at 03:00 of the 31st.
var (
	beforeSkip   = time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC)
	beforeRepeat = time.Date(2027, 10, 30, 12, 0, 0, 0, time.UTC)
)

// Whatever stands in the schedule of a report, it is refused at its field or saved
// with the next run that the clocks of its zone say, by the form and by REST alike.
func TestReportSchedules(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Europe/", 20_000)
	rows := []struct {
		now   time.Time
		sent  schedule
		wrong string // the field; "": it is saved
		says  string // the form then, with the next run
		next  string
	}{
		{beforeSkip, schedule{"WEEKLY", "SUNDAY", "02:30", "Europe/Berlin"}, "", "Sunday 28 March, 03:00 Europe/Berlin", "2027-03-28T01:00:00Z"},
		{beforeSkip, schedule{"DAILY", "", "02:00", "Europe/Berlin"}, "", "Sunday 28 March, 03:00 Europe/Berlin", "2027-03-28T01:00:00Z"},
		{beforeRepeat, schedule{"WEEKLY", "SUNDAY", "02:30", "Europe/Berlin"}, "", "Sunday 31 October, 02:30 Europe/Berlin", "2027-10-31T00:30:00Z"},
		{beforeSkip, schedule{"DAILY", "", "00:00", "Pacific/Kiritimati"}, "", "Monday 29 March, 00:00 Pacific/Kiritimati", "2027-03-28T10:00:00Z"},
		{beforeSkip, schedule{"WORKING_DAY", "", "23:59", "Asia/Kathmandu"}, "", "Monday 29 March, 23:59 Asia/Kathmandu", "2027-03-29T18:14:00Z"},
		{beforeSkip, schedule{"WEEKLY", "SATURDAY", "12:00", "UTC"}, "", "Saturday 3 April, 12:00 UTC", "2027-04-03T12:00:00Z"}, // a moment after it was due
		{beforeSkip, schedule{"DAILY", "", "09:00", "  UTC\n"}, "", "Sunday 28 March, 09:00 UTC", "2027-03-28T09:00:00Z"},
		{beforeSkip, schedule{"DAILY", "", "24:00", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", "", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", "9:00", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00:00", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", "-1:30", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", "２３:00", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00\x00", "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"DAILY", "", long, "UTC"}, "time", "", ""},
		{beforeSkip, schedule{"WEEKLY", "", "09:00", "UTC"}, "day", "", ""},
		{beforeSkip, schedule{"WEEKLY", "MONDAY,TUESDAY", "09:00", "UTC"}, "day", "", ""},
		{beforeSkip, schedule{"WEEKLY", "ＭONDAY", "09:00", "UTC"}, "day", "", ""},
		{beforeSkip, schedule{"WEEKLY", "\x00", "09:00", "UTC"}, "day", "", ""},
		{beforeSkip, schedule{"WEEKLY", long, "09:00", "UTC"}, "day", "", ""},
		{beforeSkip, schedule{"", "", "09:00", "UTC"}, "frequency", "", ""},
		{beforeSkip, schedule{"HOURLY", "", "09:00", "UTC"}, "frequency", "", ""},
		{beforeSkip, schedule{"DAILY\x00", "", "09:00", "UTC"}, "frequency", "", ""},
		{beforeSkip, schedule{long, "", "09:00", "UTC"}, "frequency", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", "Local"}, "timeZone", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", "right/UTC"}, "timeZone", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", "Europe"}, "timeZone", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", "../../etc/passwd"}, "timeZone", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", "UTC+25"}, "timeZone", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", "UTC\x00"}, "timeZone", "", ""},
		{beforeSkip, schedule{"DAILY", "", "09:00", long + "Berlin"}, "timeZone", "", ""},
	}
	for kind, of := range map[string]func(t *testing.T) *config.Config{
		"sqlite": settings, "postgres": func(t *testing.T) *config.Config { return onPostgres(t, dbtest.PostgresURL(t, migrations()...)) },
	} {
		t.Run(kind, func(t *testing.T) {
			clock := new(identitytest.Clock)
			a := startReportedOn(t, of(t), clock.Now)
			for _, row := range rows {
				what := fmt.Sprintf("%.60q", row.sent)
				clock.Move(row.now.Sub(clock.Now()))
				form := url.Values{}
				for name, value := range row.sent.fields() {
					form.Set(name, value)
				}
				status, page := consolePage(t, a.App, reportPages+"/new", a.form(form))
				code, answer := a.postReport(t, row.sent)
				if row.wrong != "" {
					if status != http.StatusBadRequest || strings.Count(page, `-error"`) == 0 || !strings.Contains(page, `id="f-`+row.wrong+`-error"`) || strings.Contains(page, "\x00") {
						t.Errorf("%s: the form answers %d, with no error at %s", what, status, row.wrong)
					}
					if code != http.StatusBadRequest || answer.field() != row.wrong {
						t.Errorf("%s: REST answers %d about %q, want it about %s", what, code, answer.field(), row.wrong)
					}
					continue
				}
				if status != http.StatusSeeOther || code != http.StatusCreated {
					t.Errorf("%s: %d and %d", what, status, code)
					continue
				}
				if answer.NextRunAt != row.next {
					t.Errorf("%s: next run %s, want %s", what, answer.NextRunAt, row.next)
				}
				_, page = consolePage(t, a.App, fmt.Sprintf("%s/%d", reportPages, answer.ID), nil)
				if !strings.Contains(page, "Next: "+row.says) {
					t.Errorf("%s: the form does not say %q", what, row.says)
				}
			}
		})
	}
}

// reportAnswer is an answer of REST to a report that was sent.
type reportAnswer struct {
	ID        int64
	NextRunAt string
	Errors    []struct{ Field string }
}

// field is the one that is wrong.
func (r reportAnswer) field() string {
	if len(r.Errors) != 1 {
		return fmt.Sprint(len(r.Errors), " fields")
	}
	return r.Errors[0].Field
}

func (r *reported) postReport(t *testing.T, s schedule) (code int, answer reportAnswer) {
	t.Helper()
	report := map[string]any{
		"name": "Waiting", "connection": "dc", "projectKey": "ATL", "repositoryKey": "canoe", "webhookUrl": r.chat.webhook("very-secret"), "inactivityDays": 14,
	}
	for name, value := range s.fields() {
		if value != "" || name != "day" {
			maps.Copy(report, map[string]any{name: value})
		}
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	code, body := get(t, r.URL()+"/rest/mtbs/1.0/configuration/reports", asAdmin, func(req *http.Request) {
		req.Method = http.MethodPost
		req.Header.Set("Content-Type", "application/json")
		req.Body = io.NopCloser(strings.NewReader(string(text)))
	})
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Errorf("%.60q: %v in %.200s", s, err, body)
	}
	return code, answer
}
