package app

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"outrigger/internal/attention"
	"outrigger/internal/console"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Each kind of notice on the overview says since when there is something to do.
func TestEveryNoticeSaysSinceWhen(t *testing.T) {
	a := startReported(t)
	now := time.Now().UTC().Truncate(time.Microsecond)
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	if status, body := consolePage(t, a.App, reportPages+"/new", a.form(nil)); status != http.StatusSeeOther {
		t.Fatalf("saving a report: %d %s", status, body)
	}
	for i := range 12 { // channels in trouble: ten are named
		status, answer := postJSON(t, a.App, "/rest/mtbs/1.0/configuration/filter", "admin", `{"name":"rule `+strconv.Itoa(i)+`","eventTypes":["BRANCH_UPDATED"],
			"webhookUrl":"https://prod-1.westeurope.logic.azure.com/workflows/`+strconv.Itoa(i)+`/triggers/manual/paths/invoke?sig=secret"}`)
		if status != http.StatusCreated {
			t.Fatal(status, answer)
		}
	}
	for i, hook := range []string{"", "a", "b", "c", "d", "e", "f"} { // refused at more hooks than are named
		key := notify.RefusalKey{Connection: "dc", Hook: hook, Reason: notify.RefusedSignature}
		for _, at := range []time.Time{ago(8 + i), ago(1)} {
			if err := a.App.chat.store.AddRefused(t.Context(), []notify.RefusedWebhooks{{RefusalKey: key, Count: 20, FirstAt: at, LastAt: at.Add(time.Minute)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := a.App.chat.store.ReplaceProjects(t.Context(), "dc", []notify.ListedProject{{Key: "ATL"}}, ago(3)); err != nil {
		t.Fatal(err)
	}
	failing := notify.ProjectWebhook{Connection: "dc", Project: notify.Project{Key: "ATL"}, State: notify.WebhookSends, Health: notify.WebhookHealth{LastSuccess: ago(5), LastFailure: ago(1)}}
	if err := a.App.chat.store.SaveWebhook(t.Context(), failing, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.App.chat.store.NoteProjectCheck(t.Context(), "dc", notify.ProjectCheck{At: ago(1), Listed: ago(3), Reason: "The platform answers 500."}); err != nil {
		t.Fatal(err)
	}
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		for _, q := range []struct {
			text string
			args []any
		}{
			{`UPDATE notify_channels SET state = 'broken', broken_at = $1 - id * 1000000, failing_since = $1 - id * 1000000, reason = 'Gone.'`, []any{db.Micros(ago(2))}},
			{`UPDATE notify_reports SET error = 'No answer.', error_at = $1`, []any{db.Micros(ago(4))}},
			{`INSERT INTO cluster_gaps (from_at, to_at) VALUES ($1, $2)`, []any{db.Micros(ago(7)), db.Micros(ago(6))}},
			{`INSERT INTO notify_events (id, connection, hook, event_key, received_at, outcome, reason, project_key, repository_key, generation, rules, delivery, needed)
				VALUES (900, 'dc', '', 'pr:opened', $1, 'not_understood', '', '', '', 0, 0, 0, 0), (901, 'dc', '', 'pr:opened', $2, 'not_understood', '', '', '', 0, 0, 0, 0)`,
				[]any{db.Micros(ago(9)), db.Micros(ago(1))}},
		} {
			if _, err := tx.Exec(t.Context(), q.text, q.args...); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}

	_, page := consolePage(t, a.App, "/", nil)

	who := &identity.Principal{Name: "admin", Source: identity.Local, Scope: identity.All, Grants: []identity.Grant{{Permission: identity.SysAdmin}}}
	list, err := a.pages.Attention(identity.With(t.Context(), who), who)
	if err != nil {
		t.Fatal(err)
	}
	find := func(text string) *console.Notice {
		t.Helper()
		i := slices.IndexFunc(list, func(n console.Notice) bool { return strings.Contains(n.Text, text) })
		if i < 0 {
			t.Fatalf("no notice says %q: %+v", text, list)
		}
		return &list[i]
	}
	for text, since := range map[string]time.Time{
		"3 more channels need attention": ago(2).Add(-3 * time.Second), // the report's is the thirteenth
		"2 webhooks of the last 24 h":    ago(9),
		"(the connection's own hook)":    ago(8),
		"2 more hooks or reasons":        ago(14),
		"The activity report":            ago(4),
		"A webhook of the platform":      ago(5),
		"The platform answers 500.":      ago(3),
		"Nothing listened":               ago(7),
	} {
		if got := find(text).Since; !got.Equal(since) {
			t.Errorf("%q is since %v, want %v", text, got, since)
		}
	}
	for i := range list {
		if list[i].Since.IsZero() {
			t.Errorf("no time: %q", list[i].Text)
		}
	}
	if gap := find("Nothing listened"); !gap.Until.Equal(ago(6)) {
		t.Errorf("the gap ends at %v", gap.Until)
	}
	wants(t, "how things stand", page, `<p class="health bad"><span role="status">`)
	if strings.Contains(page, `<h2><a href="/system/nodes">Nodes</a></h2>`) {
		t.Error("a single node has a panel")
	}
	if strings.Count(page, `class="below since"`) != len(list) {
		t.Errorf("the overview has %d notices, of which %d say since when", len(list), strings.Count(page, `class="below since"`))
	}

	status, body := get(t, a.URL()+attention.Path, asAdmin)
	var answer attention.Attention
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, body, err)
	}
	if len(answer.Items) != len(list) {
		t.Fatalf("the REST API lists %d of %d", len(answer.Items), len(list))
	}
	session := signedIn(t, a.App, "admin")
	for i, item := range answer.Items {
		if item.Cause != list[i].Text || item.Kind != list[i].Kind || !item.Since.Equal(list[i].Since) || (item.Severity == "bad") != (list[i].Tone == console.Bad) {
			t.Errorf("the REST API has %+v for %+v", item, list[i])
		}
		if status, _ := get(t, item.Link, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		}); status != http.StatusOK {
			t.Errorf("%s leads to %s: %d", item.Cause, item.Link, status)
		}
	}
}
