package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// A repository's administrator sees the reports of that repository alone, and
// what failed of them on the overview, in the platform's words.
func TestReportsOfARepositorysAdministrator(t *testing.T) {
	t.Parallel()
	a := startReported(t)
	for name, repository := range map[string]string{"Own": "ATL/canoe", "Foreign": "ATL/kayak"} {
		if status, body := consolePage(t, a.App, reportPages+"/new", a.form(url.Values{"name": {name}, "repository": {repository}})); status != http.StatusSeeOther {
			t.Fatalf("saving: %d %s", status, body)
		}
	}
	if _, err := a.identity.CreateUser(t.Context(), "rower", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	at := identity.Resource{Connection: "dc", Project: "ATL", Repository: "canoe"}
	if _, err := a.identity.Grant(t.Context(), "rower", identity.RepoAdmin, at); err != nil {
		t.Fatal(err)
	}
	if err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE notify_reports SET error = $1, error_at = $2`, "The platform of dc answers 500.", db.Micros(time.Now()))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	session, _, err := a.identity.SignIn(t.Context(), "rower", password, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	page := func(path string) string {
		_, body := get(t, "http://"+a.Addr()+path, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
		})
		return body
	}
	list, form, overview := page(reportPages), page(reportPages+"/new"), page("/")
	wants(t, "the list", list, ">Own</a>", "failed", "The platform of dc answers 500.")
	wants(t, "the form", form, `name="repository" value="ATL/canoe"`)
	wants(t, "the overview", overview, "The activity report “Own” of ATL/canoe was not sent.", "The platform of dc answers 500.")
	if strings.Contains(list+form+overview, "Foreign") || strings.Contains(list+form+overview, "kayak") {
		t.Error("something of another repository is shown")
	}
	_, overview = consolePage(t, a.App, "/", nil)
	wants(t, "an administrator's overview", overview, "“Own” of ATL/canoe", "“Foreign” of ATL/kayak")
}
