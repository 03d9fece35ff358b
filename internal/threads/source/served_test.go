package source_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/console"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/pages"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// mirroring is a self-hosted side that mirrors a reader.
func mirroring(t *testing.T, d *db.DB, reader source.Reader) (*server, *source.Mirror) {
	t.Helper()
	s := newServer(t, d, "reports", nil)
	m := source.NewMirror(s.store, reader, 10*time.Second, source.NewLeases(t, d, "mirror"), nil)
	router := newRouter(t)
	(&api.Source{Store: s.store, Imports: s.imports, Reports: s.reports, Mirror: m, Metrics: source.NewMetrics(nil)}).Register(router)
	s.router = router
	return s, m
}

// exports asks for the export and holds the answer to a status and a text.
func (s *server) exports(status int, text string) {
	s.t.Helper()
	w := s.ask("GET", exportPath, "root", "")
	if w.Code != status || !strings.Contains(w.Body.String(), text) {
		s.t.Errorf("%d instead of %d and %q: %s", w.Code, status, text, w.Body)
	}
	if again := w.Header().Get("Retry-After"); (again != "") != (status == 503) {
		s.t.Errorf("%d with Retry-After %q", w.Code, again)
	}
}

// A database that cannot be read is not exported as an empty instance, nor is
// one whose last reading failed exported as it was: the answer says why and
// since when, and no password.
func TestUnreadDatabaseIsNotExported(t *testing.T) {
	address := dbtest.PostgresURL(t)
	hostDB, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer hostDB.Close()
	rows, want := source.HostRows()
	source.FillHost(t, hostDB, `"`, rows)

	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := dbtest.Open(t, db.Options{Dir: t.TempDir(), NodeID: "a", Clock: func() time.Time { return now }})
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	good := *u
	u.Path = "/no_such_database"
	s, wrong := mirroring(t, d, source.OpenHost(t, u.String(), `SELECT 1`))
	s.exports(503, "has not been read from the database of threads.sql yet")
	if _, err := wrong.RunOnce(t.Context()); err == nil {
		t.Fatal("a database that is not there was read")
	}
	s.exports(503, "no_such_database")
	now = now.Add(time.Hour)
	if _, err := wrong.RunOnce(t.Context()); err == nil {
		t.Fatal("a database that is not there was read")
	}
	s.exports(503, "Failing since 2026-03-01T12:00:00Z")

	right := source.NewMirror(s.store, source.OpenHost(t, address, source.DocumentedQuery(t)), 10*time.Second, source.NewLeases(t, d, "other"), nil)
	now = now.Add(time.Hour)
	if _, err := right.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.exports(200, fmt.Sprintf(`"totalCount":%d`, len(want)))

	good.User = url.UserPassword(good.User.Username(), passwordOf(&good))
	leaks := fmt.Sprintf(`SELECT 1 AS issueid, '%s x'::bigint AS commentid, 2 AS parentcommentid`, passwordOf(&good))
	leaking := source.NewMirror(s.store, source.OpenHost(t, good.String(), leaks), 10*time.Second, source.NewLeases(t, d, "third"), nil)
	now = now.Add(time.Hour)
	if _, err := leaking.RunOnce(t.Context()); err == nil {
		t.Fatal("a query that fails was read")
	}
	s.exports(503, "<secret> x")
	if w := s.ask("GET", sourcePath, "root", ""); strings.Contains(w.Body.String(), passwordOf(&good)) || !strings.Contains(w.Body.String(), `"failingSince":"2026-03-01T15:00:00Z"`) {
		t.Errorf("how it stands: %s", w.Body)
	}
}

// passwordOf is the password of a URL, or one that any server with trust takes.
func passwordOf(u *url.URL) string {
	if password, ok := u.User.Password(); ok {
		return password
	}
	return "hidden"
}

// A reading that would remove more than half of the records removes none until
// an administrator has accepted that, and nothing is exported meanwhile.
func TestRemovalOfMostWaits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := &source.Host{}
		for id := range int64(3000) {
			h.Records = append(h.Records, source.Rec(id/10, 3*id+1, 3*id))
		}
		all := slices.Clone(h.Records)
		s, m := mirroring(t, d, h)
		pass := func() error {
			t.Helper()
			if err := s.store.MirrorNow(t.Context(), false, 0); err != nil {
				t.Fatal(err)
			}
			_, err := m.RunOnce(t.Context())
			return err
		}
		if err := pass(); err != nil {
			t.Fatal(err)
		}
		s.exports(200, `"totalCount":3000`)
		if w := s.ask("POST", sourcePath+"/mirror?acceptRemoval=true", "root", ""); w.Code != 409 {
			t.Errorf("a word for nothing: %d %s", w.Code, w.Body)
		}

		h.Records = all[:1500] // half of them
		if err := pass(); err != nil {
			t.Fatal(err)
		}
		s.exports(200, `"totalCount":1500`)

		// As many, and none of them the same: another instance's database.
		h.Records = h.Records[:0:0]
		for id := range int64(1500) {
			h.Records = append(h.Records, source.Rec(id/10, 100_000+3*id+1, 5))
		}
		if err := pass(); err == nil {
			t.Error("all were removed without a word")
		}
		s.exports(503, "would remove 1,500 of 1,500 records, and waits for an administrator to accept that.")
		if got := source.Everything(t, s.store, 10_000); len(got) != 1500 || got[0].CommentID != 1 {
			t.Errorf("%d records are left", len(got))
		}
		if w := s.ask("GET", sourcePath, "root", ""); !strings.Contains(w.Body.String(), `"removes":1500`) {
			t.Errorf("how it stands: %s", w.Body)
		}
		if w := s.ask("POST", sourcePath+"/mirror?acceptRemoval=1500", "root", ""); w.Code != 400 {
			t.Errorf("a word that is none: %d %s", w.Code, w.Body)
		}
		if err := pass(); err == nil {
			t.Error("the second reading removed them")
		}
		s.showsRemoval(m)
		if w := s.ask("POST", sourcePath+"/mirror?removes=1500", "root", ""); w.Code != 400 {
			t.Errorf("a number without a word: %d %s", w.Code, w.Body)
		}
		if w := s.ask("POST", sourcePath+"/mirror?acceptRemoval=true&removes=1499", "root", ""); w.Code != 409 || !strings.Contains(w.Body.String(), "1,500 of 1,500 records waits") {
			t.Errorf("a word for another number: %d %s", w.Code, w.Body)
		}
		if w := s.ask("POST", sourcePath+"/mirror?acceptRemoval=true", "root", ""); w.Code != 202 {
			t.Errorf("the word: %d %s", w.Code, w.Body)
		}
		if _, err := m.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.exports(200, `"totalCount":1500`)
		if got := source.Everything(t, s.store, 10_000); !slices.Equal(got, h.Export()) {
			t.Error("the export is not the host's")
		}
		h.Records = nil // the word does not hold for the next reading
		if err := pass(); err == nil {
			t.Error("all were removed after an earlier word")
		}
	}, audit.Migrations, store.Migrations)
}

// showsRemoval holds the console to what waits to be accepted.
func (s *server) showsRemoval(m *source.Mirror) {
	s.t.Helper()
	c, err := console.New(console.Options{Identity: identitytest.Everybody(), BaseURL: "https://jira.example.com/base"})
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Stop()
	(&pages.Source{Store: s.store, Imports: s.imports, Mirror: m, Metrics: source.NewMetrics(nil)}).Register(c)
	pages, err := c.Handler()
	if err != nil {
		s.t.Fatal(err)
	}
	for path, want := range map[string]string{
		pagePath:             "Mirror and remove 1,500 records",
		pagePath + "/mirror": "1,500 of 1,500 records",
	} {
		r := httptest.NewRequestWithContext(s.t.Context(), "GET", "http://jira.example.com/base"+path, nil)
		r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: "root"})
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			s.t.Errorf("%s: %d, without %q: %s", path, w.Code, want, w.Body)
		}
	}
}
