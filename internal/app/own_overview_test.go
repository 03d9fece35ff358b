package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/attention"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// An administrator of a project is told on the overview which channels of its rules
// are in trouble, and of no others; a channel that rules of others use too is theirs
// to try again.
func TestOverviewOfAProjectsAdministrator(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	for _, rule := range []struct{ name, project, channel string }{
		{"canoes", "ATL", "own"}, {"all", "ATL", "shared"}, {"kayaks", "PAC", "shared"}, {"rafts", "PAC", "foreign"}, {"buoys", "ATL", "fine"}, {"oars", "ATL", "new"},
	} {
		status, answer := postJSON(t, a, "/rest/mtbs/1.0/configuration/filter", "admin", `{"name":"`+rule.name+`","projectKey":"`+rule.project+`",
			"eventTypes":["BRANCH_UPDATED"],"channelName":"`+rule.channel+`","webhookUrl":"https://prod-1.westeurope.logic.azure.com/workflows/`+rule.channel+`/triggers/manual/paths/invoke?sig=secret"}`)
		if status != http.StatusCreated {
			t.Fatal(status, answer)
		}
	}
	trouble := func(names string, since time.Time) {
		t.Helper()
		if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE notify_channels SET failing_since = $1, gate_step = 1, gate_until = $2, gate_reason = 'It answered 503.'
				WHERE id IN (SELECT channel_id FROM notify_rules WHERE name IN (`+names+`))`, db.Micros(since), db.Micros(time.Now().Add(time.Hour)))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	trouble(`'canoes', 'kayaks', 'rafts'`, time.Now().Add(-time.Hour))
	trouble(`'oars'`, time.Now())
	if _, err := a.identity.CreateUser(t.Context(), "pam", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "pam", identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"}); err != nil {
		t.Fatal(err)
	}
	session, _, err := a.identity.SignIn(t.Context(), "pam", password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	_, overview := get(t, a.URL()+"/", func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
	})
	wants(t, "the overview", overview, "Needs attention", "The channel “own”", "The channel “shared”", "since <time")
	for _, path := range []string{"rules", "deliveries", "events", "channels", "reports"} {
		wants(t, "the card", overview, `<p class="links">`)
		at := strings.Index(overview, `<p class="links">`)
		if at < 0 || !strings.Contains(overview[at:], `href="/notifications/`+path+`">`) {
			t.Errorf("the card does not lead to the %s", path)
		}
		if status, _ := get(t, a.URL()+"/notifications/"+path, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		}); status != http.StatusOK {
			t.Errorf("the card leads to the %s, which answer %d", path, status)
		}
	}
	status, list := get(t, a.URL()+attention.Path, func(r *http.Request) { r.SetBasicAuth("pam", password) })
	if status != http.StatusOK || strings.Count(list, `"kind":"channel"`) != 2 {
		t.Errorf("%d %s", status, list)
	}
	wants(t, "the list of the REST API", list, "The channel “own”", "The channel “shared”", `"since":`, `"link":"`+a.URL()+`/notifications/channels/`)
	for _, other := range []string{"“foreign”", "“fine”", "“new”"} {
		if strings.Contains(overview, other) || strings.Contains(list, other) {
			t.Errorf("the overview or the list names %s", other)
		}
	}
}
