package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
)

// Several reports, each due twice: every one has its own card each time, and what
// a chat refuses is told of its report, wherever that is shown, until it is
// delivered.
func TestReportsAndWhatTheChatAnswers(t *testing.T) {
	a := startReported(t)
	refusing := newChatPlatform(t)
	refusing.answers(http.StatusBadRequest, "invalid_payload")
	reports := map[string]url.Values{
		"Canoe": {}, "Kayak": {"repository": {"ATL/kayak"}},
		"Kayak elsewhere": {"repository": {"ATL/kayak"}, "webhookUrl": {refusing.webhook("other-secret")}, "channelName": {"elsewhere"}},
	}
	for name, fields := range reports {
		form := a.form(url.Values{"name": {name}, "frequency": {"DAILY"}})
		maps.Copy(form, fields)
		if status, body := consolePage(t, a.App, reportPages+"/new", form); status != http.StatusSeeOther {
			t.Fatalf("saving: %d %s", status, body)
		}
	}
	for turn := range 2 {
		a.runReports(t, time.Duration(turn+1)*5*time.Minute)
		var taken []string
		eventually(t, func() bool { taken = append(taken, a.chat.taken()...); return len(taken) == 2 })
		posted := strings.Join(taken, "\n")
		wants(t, "the chat", posted, "Canoe: 1 open pull request", "Kayak: no open pull requests")
		eventually(t, func() bool { return len(refusing.taken()) > 0 })
		want := map[string]string{"Canoe": "delivered ", "Kayak": "delivered ", "Kayak elsewhere": "failed The chat platform answered 400 Bad Request: invalid_payload"}
		var got map[string]string
		eventually(t, func() bool { got = a.outcomes(t); return !strings.Contains(fmt.Sprint(got), "waiting") })
		if !maps.Equal(got, want) {
			t.Errorf("turn %d: the outcomes are %q, want %q", turn, got, want)
		}
	}
	_, list := consolePage(t, a.App, reportPages, nil)
	wants(t, "the list", list, "failed", "delivered", "The chat platform answered 400 Bad Request: invalid_payload")
	_, metrics := get(t, a.URL()+"/metrics", asAdmin)
	wants(t, "the metrics", metrics, `outrigger_notify_report_runs_total{outcome="delivered"} 4`, `outrigger_notify_report_runs_total{outcome="failed"} 2`)
	_, overview := consolePage(t, a.App, "/", nil)
	wants(t, "the overview", overview, "“Kayak elsewhere” of ATL/kayak was not delivered. The chat platform answered 400 Bad Request: invalid_payload")
	_, action, _ := strings.Cut(overview, `action="/notifications/deliveries/`)
	id, _, _ := strings.Cut(action, "/")
	page := func() string {
		_, delivery := consolePage(t, a.App, "/notifications/deliveries/"+id, nil)
		_, at, _ := strings.Cut(delivery, `href="`+reportPages+"/")
		at, _, _ = strings.Cut(at, `"`)
		_, page := consolePage(t, a.App, reportPages+"/"+at, nil)
		return page
	}
	wants(t, "the report", page(), "The last message was not delivered", "The chat platform answered 400 Bad Request: invalid_payload")

	refusing.answers(http.StatusOK, "")
	if status, _ := consolePage(t, a.App, "/notifications/deliveries/"+id+"/redeliver", url.Values{}); status != http.StatusSeeOther {
		t.Fatalf("redelivering: %d", status)
	}
	eventually(t, func() bool { return a.outcomes(t)["Kayak elsewhere"] == "delivered " })
	if _, overview = consolePage(t, a.App, "/", nil); strings.Contains(overview, "Kayak elsewhere") || strings.Contains(page(), "not delivered") {
		t.Error("it is told to have failed when it was delivered after all")
	}
}

// runReports has all reports run for a time so long ago.
func (r *reported) runReports(t *testing.T, ago time.Duration) {
	t.Helper()
	due := time.Now().Add(-ago) // within what is caught up on, whatever the time of day
	if err := r.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE notify_reports SET next_run_at = $1, ask_at = $1, time = $2, time_zone = 'UTC'`,
			db.Micros(due.Truncate(time.Minute)), due.UTC().Format("15:04"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.App.chat.reports.Wake()
}

// outcomes are the last ones of the reports, by their names, with their errors.
func (r *reported) outcomes(t *testing.T) map[string]string {
	t.Helper()
	_, body := get(t, r.URL()+"/rest/mtbs/1.0/configuration/reports", asAdmin)
	var list struct {
		Items []struct{ Name, LastOutcome, LastError string }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	outcomes := make(map[string]string)
	for _, item := range list.Items {
		outcomes[item.Name] = item.LastOutcome + " " + item.LastError
	}
	return outcomes
}
