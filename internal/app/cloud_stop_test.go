package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/playground/playgroundtest"
)

// A stop does not wait for a platform that hangs, nor fail for it: people who view
// or test a report or come back with a code are told, and a report that is due is
// cut off.
func TestStopWhileAPlatformHangs(t *testing.T) {
	a, platform := cloudWorld(t)
	ada := newPerson(t, a, "ada")
	ada.consent(ada.leave("/notifications/cloud"), "grant")
	const reports = "/rest/mtbs/1.0/configuration/reports"
	report := `{"name":"waiting","connection":"cloud","projectKey":"acme","repositoryKey":"shop","webhookUrl":"https://hooks.slack.com/services/T0/B0/x","inactivityDays":7,"frequency":"DAILY","time":"%s","timeZone":"UTC"}`
	last := time.Now().UTC().Add(-time.Minute).Truncate(time.Minute)
	if status, answer := postJSON(t, a, reports, "ada", fmt.Sprintf(report, last.Format("15:04"))); status != http.StatusCreated {
		t.Fatalf("%d %v", status, answer)
	}
	query, _ := platform.Grant(ada.leave("/notifications/cloud"), "712020:ana")
	// From now on, the platform takes questions and does not answer.
	platform.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Silent})
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE notify_reports SET next_run_at = $1, ask_at = $1`, db.Micros(last))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	lists, tokens := platform.Asked("/pullrequests"), platform.Asked("access_token")
	a.chat.reports.Wake()
	var waiting sync.WaitGroup
	ask := func(method, path, body string) {
		waiting.Go(func() {
			r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, a.URL()+path, strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Close = true
			r.SetBasicAuth("ada", password)
			r.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Errorf("%s %s: %v", method, path, err)
				return
			}
			if resp.Body.Close(); resp.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s %s: %d", method, path, resp.StatusCode)
			}
		})
	}
	ask("GET", reports+"/1/view", "")
	ask("POST", reports+"/test", fmt.Sprintf(report, "09:00"))
	waiting.Go(func() {
		r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, a.URL()+"/oauth/cloud?"+url.Values(query).Encode(), nil)
		if err != nil {
			t.Error(err)
			return
		}
		if resp, err := ada.Do(r); err == nil {
			resp.Body.Close()
		}
	})
	eventually(t, func() bool {
		return platform.Asked("/pullrequests") >= lists+3 && platform.Asked("access_token") > tokens
	})
	began := time.Now()
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	took := time.Since(began)
	waiting.Wait()
	if took > requestsLimit+5*time.Second {
		t.Errorf("the stop took %s", took)
	}
}
