package source_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// Where endpoints and the page are.
const (
	exportPath = "/rest/threaded-comments/1.0/migration/export-data"
	reportPath = "/rest/migration/latest/report/id-mappings"
	sourcePath = "/rest/threaded-comments/1.0/source"
	scriptPath = sourcePath + "/" + source.ArchiveName
	pagePath   = "/threads/source"
)

// server is the self-hosted side behind a router.
type server struct {
	t       *testing.T
	store   *store.Source
	imports *source.Imports
	reports *source.Reports
	router  *rest.Router
}

func newRouter(t *testing.T) *rest.Router {
	t.Helper()
	router, err := rest.NewRouter(rest.Options{Identity: identitytest.Everybody(), Log: slog.New(slog.DiscardHandler), BaseURL: "https://jira.example.com/base"})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// newServer makes a node on d; of several each has its own owner of leases.
func newServer(t *testing.T, d *db.DB, owner string, remote source.Remote) *server {
	t.Helper()
	router := newRouter(t)
	im := source.NewImports(d)
	s := &server{t: t, store: im.Store, imports: im, reports: source.NewReports(im.Store, source.NewLeases(t, d, owner), remote, nil), router: router}
	(&api.Source{Store: s.store, Imports: im, Reports: s.reports, Metrics: source.NewMetrics(nil)}).Register(router)
	return s
}

func (s *server) ask(method, path, user, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "/base"+path, strings.NewReader(body))
	if user != "" {
		r.SetBasicAuth(user, "x")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	return w
}

// get asks as a SYS_ADMIN and holds the answer to a status.
func (s *server) get(status int, path string, headers ...string) string {
	s.t.Helper()
	w := s.ask("GET", path, "root", "", headers...)
	if w.Code != status {
		s.t.Fatalf("GET %s: %d instead of %d: %s", path, w.Code, status, w.Body)
	}
	return w.Body.String()
}

// message is the message of an error's body.
func message(t *testing.T, body string) string {
	t.Helper()
	var v struct{ Message string }
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v.Message
}

func TestExportToTheLetter(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, d, "a", nil)
	if got := s.get(200, exportPath); got != `{"offset":0,"data":[],"hasMore":false,"totalCount":0}` {
		t.Errorf("empty: %s", got)
	}
	source.MustImport(t, s.imports, []threads.Record{source.Rec(10002, 10504, 10501), source.Rec(10001, 10502, 10501)})
	want := `{"offset":0,"data":[{"issueId":10001,"commentId":10502,"parentCommentId":10501}],"hasMore":true,"totalCount":2}`
	if got := s.get(200, exportPath+"?offset=0&limit=1"); got != want {
		t.Errorf("the first: %s", got)
	}
	want = `{"offset":1,"data":[{"issueId":10002,"commentId":10504,"parentCommentId":10501}],"hasMore":false,"totalCount":2}`
	if got := s.get(200, exportPath+"?limit=007&offset=01"); got != want {
		t.Errorf("the second: %s", got)
	}
	w := s.ask("GET", exportPath, "reader", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a token that reads: %d %v", w.Code, w.Header())
	}
}

func TestExportParameters(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, d, "a", nil)
	source.MustImport(t, s.imports, inOrder(10_100))
	for _, c := range []struct {
		query   string
		records int
		more    bool
	}{
		{"", 1000, true}, {"?limit=1", 1, true}, {"?limit=10000", 10_000, true}, {"?limit=10001", 10_000, true},
		{"?limit=9223372036854775807", 10_000, true}, {"?offset=100&limit=10000", 10_000, false}, {"?offset=10099", 1, false},
		{"?offset=10100", 0, false}, {"?offset=9223372036854775807&limit=10000", 0, false},
	} {
		var page threads.ExportPage
		if err := json.Unmarshal([]byte(s.get(200, exportPath+c.query)), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Data) != c.records || page.HasMore != c.more || page.TotalCount != 10_100 {
			t.Errorf("%s: %d records, more %v, total %d", c.query, len(page.Data), page.HasMore, page.TotalCount)
		}
	}
	for query, field := range map[string]string{
		"?offset=-1": "offset", "?limit=0": "limit", "?limit=-5": "limit", "?offset=%2B1": "offset", "?limit=1e3": "limit", "?limit=": "limit",
		"?offset=+1": "offset", "?offset=1.0": "offset", "?offset=0x10": "offset", "?limit=9223372036854775808": "limit",
		"?offset=99999999999999999999": "offset", "?offset=١": "offset", "?limit=a&offset=b": "offset",
	} {
		body := s.get(400, exportPath+query)
		if !strings.Contains(body, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", query, body)
		}
	}
	for _, c := range []struct {
		user, accept string
		status       int
	}{{"", "", 401}, {"admin", "", 403}, {"root", "application/xml", 406}, {"root", "application/xml, */*;q=0.1", 200}} {
		if w := s.ask("GET", exportPath, c.user, "", "Accept", c.accept); w.Code != c.status {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
}

func TestReportToTheLetter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, other := newServer(t, d, "one", nil), newServer(t, d, "other", nil)
		const site = "https://x.example"
		if got := message(t, one.get(400, reportPath)); !strings.Contains(got, "cloud site") {
			t.Errorf("no site: %s", got)
		}
		for _, unknown := range []string{site, "nonsense", "https://user@x.example"} {
			if got := message(t, one.get(400, reportPath+"?cloudSiteUrl="+unknown)); got != "No migrationScopeId found for the cloudSiteUrl "+unknown {
				t.Errorf("unknown: %s", got)
			}
		}
		csv := "entityType,serverId,cloudId\njira:comment,16412,11782\njira:issue,17499,10542\njira:comment,9,8\njira/classic:project,10200,10037\njira:issue,17499,10543\n"
		w := one.ask("POST", sourcePath+"/mappings?cloudSiteUrl="+site+"/", "root", csv, "Content-Type", "text/csv")
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"added":4,"replaced":1`) {
			t.Fatalf("import: %d %s", w.Code, w.Body)
		}
		making := func(s *server, query string) {
			t.Helper()
			w := s.ask("GET", reportPath+"?cloudSiteUrl="+query, "root", "", "Accept", "image/png")
			if w.Code != 202 || w.Body.Len() != 0 || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %v %q", query, w.Code, w.Header(), w.Body)
			}
		}
		makeAll := func(s *server) {
			t.Helper()
			if n, err := s.reports.RunOnce(t.Context()); n != 1 || err != nil {
				t.Fatalf("%d begun, %v", n, err)
			}
			s.reports.Wait()
		}
		making(one, site)
		making(other, site+"/") // joins
		makeAll(other)
		want := "entityType,serverId,cloudId\njira/classic:project,10200,10037\njira:comment,9,8\njira:comment,16412,11782\njira:issue,17499,10543\n"
		for _, s := range []*server{one, other} {
			for _, query := range []string{site, site + "/", "HTTPS://X.Example", site + "&invalidateCache=false"} {
				w := s.ask("GET", reportPath+"?cloudSiteUrl="+query, "reader", "", "Accept", "application/xml")
				if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/csv") || w.Body.String() != want {
					t.Errorf("%s: %d %v %s", query, w.Code, w.Header(), w.Body)
				}
			}
		}
		making(one, site+"&invalidateCache=true")
		makeAll(one)
		one.get(200, reportPath+"?cloudSiteUrl="+site)

		one.ask("POST", sourcePath+"/mappings?cloudSiteUrl="+site, "root", csv[:strings.Index(csv, "jira:issue")], "Content-Type", "text/csv")
		one.get(200, reportPath+"?cloudSiteUrl="+site) // nothing changed
		one.ask("POST", sourcePath+"/mappings?cloudSiteUrl="+site, "root", "entityType,serverId,cloudId\njira:issue,17499,1\n")
		making(other, site)
		makeAll(other)
		if got := one.get(200, reportPath+"?cloudSiteUrl="+site); !strings.Contains(got, "jira:issue,17499,1\n") {
			t.Errorf("after a change: %s", got)
		}
		if w := one.ask("DELETE", sourcePath+"/mappings?cloudSiteUrl="+site, "root", ""); w.Code != 204 {
			t.Errorf("forget: %d %s", w.Code, w.Body)
		}
		one.get(400, reportPath+"?cloudSiteUrl="+site)
	}, audit.Migrations, store.Migrations)
}

func TestImportEndpoints(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, d, "a", nil)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/hierarchy", `[{"issueId":1,"commentId":2,"parentCommentId":1},{"issueId":1}]`, 200, `"added":1,"replaced":0,"unchanged":0,"unreadable":1`},
		{"/hierarchy", `[{"issueId":1,"commentId":2,"parentCommentId":1},{"issueId":1,"comm`, 200, `"truncated":true`},
		{"/hierarchy", `{"offset":0,"data":[{"issueId":1,"commentId":2,"parentCommentId":1}],"hasMore":true,"totalCount":9}`, 200, `"partial":true,"incomplete":["1 of 9: this is one page of the export, and not all of it."],"total":1`},
		{"/hierarchy", `{"ABC-1":"10001"}`, 400, `issue mapping`},
		{"/hierarchy", `<html>`, 400, `web page`},
		{"/mappings", "entityType,serverId,cloudId\n", 400, `cloudSiteUrl`},
		{"/mappings?cloudSiteUrl=x", "entityType,serverId,cloudId\n", 400, `cloudSiteUrl`},
		{"/mappings?cloudSiteUrl=https://x.example", "entityType;serverId;cloudId\r\n\"jira:issue\";1;2\r\n\"a,b\";1;2\r\n", 200, `"unreadable":1`},
		{"/mappings?cloudSiteUrl=https://x.example", `[]`, 400, `JSON`},
	} {
		w := s.ask("POST", sourcePath+c.path, "root", c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %.60q: %d %s", c.path, c.body, w.Code, w.Body)
		}
		if w := s.ask("POST", sourcePath+c.path, "reader", c.body); w.Code != 403 {
			t.Errorf("%s with a token that reads: %d", c.path, w.Code)
		}
	}
	show := s.get(200, sourcePath)
	if !strings.Contains(show, `"source":"file","records":1,`) || !strings.Contains(show, `"cloudSiteUrl":"https://x.example"`) {
		t.Errorf("show: %s", show)
	}
	if w := s.ask("DELETE", sourcePath+"/hierarchy", "root", ""); w.Code != 204 {
		t.Errorf("clear: %d", w.Code)
	}
	s.imports.Mirrored = true
	for _, method := range []string{"POST", "DELETE"} {
		if w := s.ask(method, sourcePath+"/hierarchy", "root", `[]`); w.Code != 409 {
			t.Errorf("%s beside a mirror: %d", method, w.Code)
		}
	}
}

func TestHelperScriptArchive(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, d, "a", nil)
	if w := s.ask("GET", scriptPath, "admin", ""); w.Code != http.StatusForbidden {
		t.Errorf("without SYS_ADMIN: %d", w.Code)
	}
	body := s.get(200, scriptPath)
	archive, err := zip.NewReader(bytes.NewReader([]byte(body)), int64(len(body)))
	if err != nil || len(archive.File) != 1 {
		t.Fatalf("the archive: %v", err)
	}
	f := archive.File[0]
	content, err := archive.Open(f.Name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(content)
	if err != nil || f.Name != "threaded-comments-migration.sh" || f.Mode() != 0o755 || !bytes.Equal(text, source.Script()) {
		t.Errorf("%s %v, %d bytes, %v", f.Name, f.Mode(), len(text), err)
	}
	if strings.Contains(string(text), "Add Markers") {
		t.Error("there are markers")
	}
}

// played is a remote server of the report.
type played struct {
	mappings []threads.IDMapping
	err      error
	asked    []bool // with invalidate or not
}

func (p *played) IDMappings(_ context.Context, cloudSite string, invalidate bool, take func(threads.IDMapping) error) error {
	p.asked = append(p.asked, invalidate)
	for _, m := range p.mappings {
		if err := take(m); err != nil {
			return err
		}
	}
	return p.err
}

// Mappings of sites that have none here come from the remote server; what it
// refuses is answered as it says, and tried again later.
func TestRemoteReport(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	remote := &played{mappings: []threads.IDMapping{{EntityType: "jira:issue", ServerID: 3, CloudID: 4}}}
	s := newServer(t, d, "a", remote)
	const path = reportPath + "?cloudSiteUrl=https://x.example"
	run := func() {
		t.Helper()
		if _, err := s.reports.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.reports.Wait()
	}
	s.get(202, path)
	run()
	if got := s.get(200, path); got != "entityType,serverId,cloudId\njira:issue,3,4\n" {
		t.Errorf("got %s", got)
	}
	remote.err = fault.New(fault.Invalid, "No migrationScopeId found for the cloudSiteUrl https://x.example")
	s.get(202, path+"&invalidateCache=true")
	run()
	if got := message(t, s.get(400, path)); got != "No migrationScopeId found for the cloudSiteUrl https://x.example" {
		t.Errorf("refused: %s", got)
	}
	remote.err = errors.New("no answer: connection refused")
	s.get(202, path+"&invalidateCache=true")
	run()
	if got := message(t, s.get(503, path)); !strings.Contains(got, "connection refused") {
		t.Errorf("away: %s", got)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error { // the failure is an hour old
		_, err := tx.Exec(t.Context(), `UPDATE threads_source_reports SET changed_at = changed_at - 3600000000`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.get(202, path)
	if fmt.Sprint(remote.asked) != "[false true true]" {
		t.Errorf("asked %v", remote.asked)
	}
	// Mappings that are here win.
	s.ask("POST", sourcePath+"/mappings?cloudSiteUrl=https://x.example", "root", "entityType,serverId,cloudId\njira:issue,3,5\n")
	run()
	if got := s.get(200, path); !strings.Contains(got, "jira:issue,3,5") {
		t.Errorf("here and there: %s", got)
	}
}
