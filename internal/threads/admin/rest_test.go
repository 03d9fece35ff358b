package admin_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

func TestStatusToTheLetter(t *testing.T) {
	from := time.Date(2026, 2, 5, 16, 0, 0, 0, time.UTC)
	tool := &admin.Tool{Clock: func() time.Time { return from.Add(time.Minute) }}
	got := func(m threads.Migration) string {
		s, err := tool.StatusOf(t.Context(), &m)
		must(t, err)
		w := httptest.NewRecorder()
		must(t, rest.WriteJSON(w, nil, http.StatusOK, s))
		return w.Body.String()
	}
	if diff := cmp.Diff(`{"status":"IDLE","phase":"EMPTY","progress":{"processed":0,"total":0,"percent":0},"chunks":{"processed":0,"total":0},"issuesProcessed":0,"parentMapsCreated":0,"errors":{"permanent":0,"retryable":0},"allowed":["upload","reset"]}`,
		got(threads.Migration{Phase: threads.PhaseEmpty})); diff != "" {
		t.Error(diff)
	}
	m := threads.Migration{
		Phase: threads.PhaseProcessing, Records: 10000, RecordsDone: 3000, Chunks: 10, ChunksDone: 3, Issues: 310, ParentMaps: 2988, Permanent: 12, Retryable: 3,
		Pace: threads.Pace{WaitUntil: from.Add(90 * time.Second)}, StartedAt: from, UpdatedAt: from.Add(time.Minute), Message: "The target asked to be left alone.",
	}
	if diff := cmp.Diff(`{"status":"IN_PROGRESS","phase":"PROCESSING","progress":{"processed":3000,"total":10000,"percent":30},"chunks":{"processed":3,"total":10},"issuesProcessed":310,"parentMapsCreated":2988,"errors":{"permanent":12,"retryable":3},"waitUntil":"2026-02-05T16:01:30Z","startedAt":"2026-02-05T16:00:00Z","updatedAt":"2026-02-05T16:01:00Z","message":"The target asked to be left alone.","allowed":["stop","cancel"]}`,
		got(m)); diff != "" {
		t.Error(diff)
	}
	m.Pace.WaitUntil = from
	if strings.Contains(got(m), "waitUntil") {
		t.Error("a wait that is over is shown")
	}
}

// Only a SYS_ADMIN may; a token of the scope read may read.
func TestWhoMay(t *testing.T) {
	r := onSQLite(t, nil)
	for _, route := range []struct{ method, path string }{
		{"GET", migrationPath + "/status"}, {"GET", migrationPath + "/events"}, {"GET", migrationPath + "/preview"}, {"GET", migrationPath + "/errors"},
		{"GET", migrationPath + "/errors.csv"}, {"GET", migrationPath + "/report"}, {"GET", migrationPath + "/verify"}, {"POST", migrationPath + "/verify"}, {"GET", migrationPath + "/backup"},
		{"GET", migrationPath + "/restore"}, {"POST", migrationPath + "/restore"}, {"POST", migrationPath + "/upload"}, {"POST", migrationPath + "/start"},
		{"POST", migrationPath + "/stop"}, {"POST", migrationPath + "/continue"}, {"POST", migrationPath + "/cancel"}, {"POST", migrationPath + "/reset"},
		{"GET", uploadsPath}, {"GET", "/rest/threaded-comments/1.0/issues/1/threads"},
	} {
		if w := r.ask(route.method, route.path, "", ""); w.Code != 401 {
			t.Errorf("%v without credentials: %d", route, w.Code)
		}
		if w := r.ask(route.method, route.path, "admin", ""); w.Code != 403 {
			t.Errorf("%v without SYS_ADMIN: %d", route, w.Code)
		}
		if strings.HasSuffix(route.path, "/events") {
			continue // it would go on
		}
		if w := r.ask(route.method, route.path, "reader", ""); (w.Code == 403) != (route.method == "POST") {
			t.Errorf("%v with a token that reads: %d %s", route, w.Code, w.Body)
		}
	}
	for _, c := range []struct {
		method, path, accept string
		status               int
		says                 string
	}{
		{"PUT", migrationPath + "/status", "", 405, "GET, HEAD"},
		{"GET", migrationPath + "/start", "", 405, "POST"},
		{"GET", migrationPath + "/status", "application/xml", 406, ""},
		{"GET", migrationPath + "/status.json", "", 200, `"EMPTY"`},
		{"HEAD", migrationPath + "/status", "", 200, ""},
		{"HEAD", migrationPath + "/backup", "", 200, ""},
		{"HEAD", migrationPath + "/errors.csv", "", 200, ""},
		{"POST", migrationPath + "/upload?acceptIncomplete=perhaps", "", 400, `"field":"acceptIncomplete"`},
		{"GET", migrationPath + "/errors?limit=0", "", 400, `"field":"limit"`},
		{"GET", migrationPath + "/errors?after=bm8", "", 400, `"field":"after"`},
		{"GET", migrationPath + "/report?format=pdf", "", 400, `"field":"format"`},
		{"GET", migrationPath + "/report", "text/html", 409, "Nothing is loaded that could be reported on."},
		{"GET", migrationPath + "/nothing", "", 404, ""},
		{"GET", "/rest/threaded-comments/1.0/issues/JRA-1/threads", "", 404, "whole number"},
		{"GET", "/rest/threaded-comments/1.0/issues/99999999999999999999/threads", "", 404, "whole number"},
		{"GET", "/rest/threaded-comments/1.0/issues/901/threads", "", 200, `{"issueId":"901","parents":[],"threads":[]}`},
		{"POST", migrationPath + "/restore", "", 400, `"field":"mode"`},
		{"POST", migrationPath + "/restore?mode=both", "", 400, `"field":"mode"`},
		{"POST", migrationPath + "/restore?mode=merge", "", 409, "There is no backup yet"},
	} {
		w := r.ask(c.method, c.path, "root", "", "Accept", c.accept)
		if w.Code != c.status || !strings.Contains(w.Body.String()+w.Header().Get("Allow"), c.says) {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

// Operations that the phase does not allow say what it is and what is allowed.
func TestOperationsRefused(t *testing.T) {
	r := onSQLite(t, nil)
	for _, op := range []string{"start", "stop", "continue", "cancel"} {
		if got := r.message(r.do(409, "POST", "/"+op)); got != "The migration is IDLE, EMPTY, which does not allow "+op+"; allowed are: upload, reset." {
			t.Errorf("%s: %s", op, got)
		}
	}
	if got := r.message(r.do(409, "POST", "/upload")); got != "The hierarchy file is missing; choose and send it first." {
		t.Error(got)
	}
	r.send(threads.HierarchyFile, hierarchy)
	for _, what := range []struct{ method, path string }{{"POST", "/upload"}, {"GET", "/preview"}} {
		if got := r.message(r.do(409, what.method, what.path)); got != "The id mappings file is missing; choose and send it first." {
			t.Error(got)
		}
	}
	if got := r.message(r.do(409, "GET", "/verify")); got != "Nothing is loaded that the target could be compared with." {
		t.Error(got)
	}
	r.do(202, "POST", "/reset")
	if got := r.do(200, "GET", "/uploads"); got != `{"items":[]}` {
		t.Errorf("after a reset there are still files: %s", got)
	}
}

// A migration from its files to its backup, by REST alone.
func TestMigration(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.work()
		r.send(threads.HierarchyFile, hierarchy)
		r.send(threads.MappingsFile, mappings)
		if w := r.ask("GET", migrationPath+"/preview", "root", ""); w.Code != 202 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), `"done":0`) {
			t.Errorf("the first look: %d %v %s", w.Code, w.Header(), w.Body)
		}
		var preview string
		r.eventually(func() bool {
			w := r.ask("GET", migrationPath+"/preview", "reader", "")
			preview = w.Body.String()
			return w.Code == 200
		})
		if diff := cmp.Diff(`{"records":5,"issues":2,"comments":8,"commentMappings":7,"issueMappings":2,"missingComments":{"count":1,"first":[29]},"missingIssues":{"count":0,"first":[]},"duplicateRecords":1,"duplicateMappings":0,"selfParents":1,"cycles":0,"otherIssue":0,"errors":{"no_parent_mapping":1,"self_parent":1},"totalErrors":2,"hierarchy":{"unreadable":0,"truncated":false,"records":6,"roots":0,"loose":0,"pages":0,"pageRecords":0,"hasMore":false,"totalCount":0},"mappings":{"unreadable":0,"truncated":false,"rows":9,"comments":7,"issues":2,"noHeader":false},"partial":false}`, regexp.MustCompile(`,"drafts":.*}}$`).ReplaceAllString(preview, "}")); diff != "" {
			t.Error(diff)
		}
		if got := r.load(202, "", r.previewed()); !strings.Contains(got, `"phase":"READY"`) {
			t.Errorf("after a preview, loading is done at once: %s", got)
		}
		r.do(202, "POST", "/start")
		s := r.until(threads.PhaseCompleted)
		if s.Progress.Processed != 5 || s.Progress.Total != 5 || s.Progress.Percent != 100 || s.Chunks.Processed != 1 || s.Chunks.Total != 1 || s.IssuesProcessed != 2 || s.ParentMapsCreated != 3 || s.Errors.Permanent != 2 || s.StartedAt.IsZero() {
			t.Errorf("%+v", s)
		}
		first := r.do(200, "GET", "/errors?limit=1")
		var page struct{ Next string }
		r.read(first, &page)
		if want := `{"items":[{"issueId":2,"commentId":22,"parentCommentId":29,"reason":"no_parent_mapping"}],"next":"` + page.Next + `"}`; first != want || page.Next == "" {
			t.Errorf("the first error: %s", first)
		}
		if got := r.do(200, "GET", "/errors?limit=1&after="+page.Next); got != `{"items":[{"issueId":2,"commentId":23,"parentCommentId":23,"reason":"self_parent"}]}` {
			t.Errorf("the second error: %s", got)
		}
		if got := r.do(200, "GET", "/errors.csv"); got != "issueId,commentId,parentCommentId,reason,answer\n2,22,29,no_parent_mapping,\n2,23,23,self_parent,\n" {
			t.Errorf("the report: %s", got)
		}
		if got := r.ask("GET", "/rest/threaded-comments/1.0/issues/901/threads", "reader", "").Body.String(); got != `{"issueId":"901","parents":[{"commentId":"511","parentCommentId":"510"},{"commentId":"512","parentCommentId":"510"}],"threads":[{"commentId":"510","replies":[{"commentId":"511","replies":[]},{"commentId":"512","replies":[]}]}]}` {
			t.Errorf("the threads: %s", got)
		}
		r.verifies(`"issues":2,"relations":3,"present":3,"missing":0,"different":0,"first":[]`)
	})
}

// verifies has the target compared, and holds the result to a text.
func (r *rig) verifies(want string) {
	r.t.Helper()
	r.do(202, "POST", "/verify")
	var got string
	r.eventually(func() bool {
		w := r.ask("GET", migrationPath+"/verify", "reader", "")
		got = w.Body.String()
		return w.Code != 202
	})
	if !strings.Contains(got, want) || !strings.Contains(got, `"state":"done","done":1`) {
		r.t.Errorf("the comparison: %s", got)
	}
}

// A file that is no hierarchy at all is refused with a sentence.
func TestNoHierarchy(t *testing.T) {
	r := onSQLite(t, nil).work()
	r.send(threads.HierarchyFile, mappings)
	r.send(threads.MappingsFile, mappings)
	r.eventually(func() bool { return r.ask("GET", migrationPath+"/preview", "root", "").Code != 202 })
	if got := r.message(r.do(400, "GET", "/preview")); got == "" {
		t.Error("it is refused without a sentence")
	}
}

// The status comes as events, at once and when it has changed, until the server
// stops.
func TestEvents(t *testing.T) {
	r := onSQLite(t, nil)
	server := httptest.NewServer(r.handler)
	defer server.Close()
	q, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/base"+migrationPath+"/events", nil)
	must(t, err)
	q.SetBasicAuth("reader", "x")
	resp, err := server.Client().Do(q)
	must(t, err)
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Error(got)
	}
	lines := bufio.NewScanner(resp.Body)
	next := func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		return ""
	}
	if got := next(); got != r.do(200, "GET", "/status") {
		t.Errorf("the first event: %s", got)
	}
	r.do(202, "POST", "/reset")
	if got := next(); got != r.do(200, "GET", "/status") {
		t.Errorf("after a change: %s", got)
	}
	r.api.Stop()
	if got := next(); got != "" || lines.Err() != nil {
		t.Errorf("after a stop: %s, %v", got, lines.Err())
	}
}

// A user follows the events in a few streams at once; one that ends makes room.
func TestEventsAreLimited(t *testing.T) {
	r := onSQLite(t, nil)
	server := httptest.NewServer(r.handler)
	defer server.Close()
	defer r.api.Stop() // ends the streams
	follow := func() *http.Response {
		q, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/base"+migrationPath+"/events", nil)
		must(t, err)
		q.SetBasicAuth("reader", "x")
		resp, err := server.Client().Do(q)
		must(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	var last *http.Response
	for i := range rest.StreamsPerUser {
		if last = follow(); last.StatusCode != 200 {
			t.Fatalf("stream %d: %d", i, last.StatusCode)
		}
	}
	for range 2 {
		if resp := follow(); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "30" {
			t.Errorf("one more: %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
		}
	}
	_ = last.Body.Close()
	r.eventually(func() bool { return follow().StatusCode == 200 })
}

// site is a target whose issues all have one reply, and that answers as it is
// told.
type site struct {
	failure atomic.Pointer[error]
	refused map[int64]*error // what writes to an issue are answered
	names   map[int64]threads.IssueName
}

// refuse has writes to an issue answered so, before anything is processed.
func (s *site) refuse(issue int64, err *error) { s.refused = map[int64]*error{issue: err} }

func (s *site) fail(err error) { s.failure.Store(&err) }

func (s *site) err() error {
	if f := s.failure.Load(); f != nil {
		return *f
	}
	return nil
}

func (s *site) Read(context.Context, int64) (threads.ParentMap, error) {
	return threads.ParentMap{{CommentID: 2, ParentID: 1}}, s.err()
}

func (s *site) Write(_ context.Context, issue int64, change threads.Change) (threads.ParentMap, error) {
	if err := s.refused[issue]; err != nil {
		return nil, *err
	}
	m, err := change(nil)
	if err == nil {
		err = s.err()
	}
	return m, err
}

func (s *site) Names(context.Context, []int64) (map[int64]threads.IssueName, error) {
	return s.names, nil
}

func (s *site) Probe(context.Context, int64, threads.Probe) error { return s.err() }

// Threads come from the target, and what is wrong there is said.
func TestThreadsOfASite(t *testing.T) {
	target := &site{}
	r := onSQLite(t, target)
	for _, c := range []struct {
		err        error
		status     int
		retryAfter string
		says       string
	}{
		{nil, 200, "", `"threads":[{"commentId":"1","replies":[{"commentId":"2","replies":[]}]}]`},
		{&threads.TargetError{Kind: threads.TargetMissing, Message: "no"}, 404, "", "no issue 7"},
		{&threads.TargetError{Kind: threads.TargetLimits, Message: "It is asked too often.", Wait: 1500 * time.Millisecond}, 503, "2", "https://site.example.com: It is asked too often."},
		{&threads.TargetError{Kind: threads.TargetRefusesUs, Message: "The token is refused.", Cause: errors.New("secret")}, 503, "", "The token is refused."},
		{fault.New(fault.Internal, "hidden"), 500, "", "referral"},
	} {
		target.fail(c.err)
		w := r.ask("GET", "/rest/threaded-comments/1.0/issues/7/threads", "root", "")
		if w.Code != c.status || w.Header().Get("Retry-After") != c.retryAfter || !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %v %s", c.err, w.Code, w.Header(), w.Body)
		}
	}
}
