package admin_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/console"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/pages"
	"outrigger/internal/threads/processing"
	"outrigger/internal/threads/store"
	"outrigger/internal/threads/threadstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Where endpoints and pages are.
const (
	migrationPath = "/rest/threaded-comments/1.0/migration"
	uploadsPath   = migrationPath + "/uploads"

	rootPath  = "/threads/admin"
	movePath  = rootPath + "/migration"
	backPath  = rootPath + "/backup"
	issuePath = rootPath + "/issue"
)

const (
	base = "https://cloud.example.com/base"
	max  = 8 << 20
)

// rig is the admin tool behind a router, with a worker.
type rig struct {
	t       *testing.T
	db      *db.DB
	store   *store.Store
	api     *api.Admin
	handler http.Handler
}

// newRig makes it; target nil is the database.
func newRig(t *testing.T, d *db.DB, target threads.Target) *rig {
	t.Helper()
	name := threads.EmbeddedTarget
	if target != nil {
		name = "https://site.example.com"
	}
	r := &rig{t: t, db: d, store: store.New(d, name)}
	must(t, r.store.Open(t.Context()))
	tool := &admin.Tool{Store: r.store, Target: target, Dir: t.TempDir(), MaxUpload: max, Clock: time.Now}
	router, err := rest.NewRouter(rest.Options{Identity: identitytest.Everybody(), Log: slog.New(slog.DiscardHandler), BaseURL: base})
	must(t, err)
	r.api = api.NewAdmin(tool)
	r.api.Register(router)
	t.Cleanup(r.api.Stop)
	c, err := console.New(console.Options{Identity: identitytest.Everybody(), BaseURL: base})
	must(t, err)
	(&pages.Admin{Tool: tool}).Register(c)
	t.Cleanup(c.Stop)
	pages, err := c.Handler()
	must(t, err)
	router.Fallback(pages)
	r.handler = router
	return r
}

// work has a worker work until the test ends.
func (r *rig) work() *rig {
	r.t.Helper()
	leases := db.NewLeases(r.db, "node_1", nil)
	must(r.t, leases.Start(r.t.Context()))
	p := processing.New(processing.Options{
		Store: r.store, Leases: leases, Target: r.api.Target, Requests: 2, MaxUnpacked: 4 * max, Clock: time.Now,
		Members: func(context.Context) (int, int, error) { return 1, 1, nil },
		Random:  func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	must(r.t, p.Start(r.t.Context()))
	r.t.Cleanup(leases.Stop)
	r.t.Cleanup(p.Stop)
	return r
}

// each runs fn on a rig of either database.
func each(t *testing.T, fn func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, newRig(t, d, nil)) }, audit.Migrations, store.Migrations)
}

// onSQLite makes one where the database makes no difference.
func onSQLite(t *testing.T, target threads.Target) *rig {
	t.Helper()
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	must(t, d.Migrate(t.Context(), audit.Migrations, store.Migrations))
	return newRig(t, d, target)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask sends a request as a user.
func (r *rig) ask(method, path, who, body string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	q := httptest.NewRequestWithContext(r.t.Context(), method, base+path, strings.NewReader(body))
	if who != "" {
		q.SetBasicAuth(who, "x")
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, q)
	return w
}

// do sends a request below the migration as a SYS_ADMIN and holds the answer to
// a status.
func (r *rig) do(status int, method, path string, body ...string) string {
	r.t.Helper()
	w := r.ask(method, migrationPath+path, "root", strings.Join(body, ""))
	if w.Code != status {
		r.t.Fatalf("%s %s: %d instead of %d: %s", method, path, w.Code, status, w.Body)
	}
	return w.Body.String()
}

// send makes a draft.
func (r *rig) send(kind, content string) {
	r.t.Helper()
	ctx := identity.With(r.t.Context(), identitytest.Everybody()["root"])
	_, err := r.api.Take(ctx, threads.Upload{Kind: kind, Filename: kind + ".file", Length: int64(len(content))}, strings.NewReader(content), true)
	must(r.t, err)
}

// sent names the drafts that were sent, and that nothing has read yet.
func (r *rig) sent() string {
	r.t.Helper()
	list, err := r.store.Uploads.List(r.t.Context())
	must(r.t, err)
	text, err := json.Marshal(threadstest.Sent(list))
	must(r.t, err)
	return string(text)
}

// previewed names the drafts as their preview does.
func (r *rig) previewed() string {
	r.t.Helper()
	var p struct{ Drafts json.RawMessage }
	r.eventually(func() bool {
		w := r.ask("GET", migrationPath+"/preview", "root", "")
		if w.Code == 200 {
			r.read(w.Body.String(), &p)
		}
		return w.Code != 202
	})
	return string(p.Drafts)
}

// load loads the drafts that are named, and holds the answer to a status.
func (r *rig) load(status int, query, named string) string {
	r.t.Helper()
	w := r.ask("POST", migrationPath+"/upload"+query, "root", named, "Content-Type", "application/json")
	if w.Code != status {
		r.t.Fatalf("upload of %s: %d instead of %d: %s", named, w.Code, status, w.Body)
	}
	return w.Body.String()
}

// eventually waits until what is so.
func (r *rig) eventually(what func() bool) {
	r.t.Helper()
	late := time.After(time.Minute)
	for !what() {
		select {
		case <-late:
			r.t.Fatal("it did not come to be: ", r.do(200, "GET", "/status"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// until waits for a phase.
func (r *rig) until(phase threads.Phase) (s threads.MigrationStatus) {
	r.t.Helper()
	r.eventually(func() bool {
		s = threads.MigrationStatus{}
		r.read(r.do(200, "GET", "/status"), &s)
		return s.Phase == phase
	})
	return s
}

func (r *rig) read(body string, v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(body), v); err != nil {
		r.t.Fatalf("%s: %v", body, err)
	}
}

// message is the message of an error's body.
func (r *rig) message(body string) string {
	r.t.Helper()
	var v struct{ Message string }
	r.read(body, &v)
	return v.Message
}

// The two files of most tests: three records that work, one each that has no
// mapping, is its own parent, and comes twice.
const (
	hierarchy = `[{"issueId":1,"commentId":11,"parentCommentId":10},{"issueId":1,"commentId":12,"parentCommentId":11},
{"issueId":2,"commentId":21,"parentCommentId":20},{"issueId":2,"commentId":22,"parentCommentId":29},{"issueId":2,"commentId":23,"parentCommentId":23},
{"issueId":1,"commentId":12,"parentCommentId":10}]`
	mappings = "entityType,serverId,cloudId\njira:issue,1,901\njira:issue,2,902\n" +
		"jira:comment,10,510\njira:comment,11,511\njira:comment,12,512\njira:comment,20,520\njira:comment,21,521\njira:comment,22,522\njira:comment,23,523\n"
)

// completed processes the two files.
func (r *rig) completed() {
	r.t.Helper()
	r.send(threads.HierarchyFile, hierarchy)
	r.send(threads.MappingsFile, mappings)
	r.load(202, "", r.sent())
	r.until(threads.PhaseReady)
	r.do(202, "POST", "/start")
	r.until(threads.PhaseCompleted)
}
