package admin_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"outrigger/internal/identity"
	"outrigger/internal/threads"
)

// open asks for a page, or posts a form, in the session of a user.
func (r *rig) open(method, path, who string, form ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	return r.browse(method, path, who, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
}

func (r *rig) browse(method, path, who, contentType string, body io.Reader) *httptest.ResponseRecorder {
	r.t.Helper()
	q := httptest.NewRequestWithContext(r.t.Context(), method, base+path, body)
	q.Header.Set("Content-Type", contentType)
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	if who != "" {
		q.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: who})
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, q)
	return w
}

// has holds an answer to a status and to texts that are in it.
func (r *rig) has(w *httptest.ResponseRecorder, status int, texts ...string) {
	r.t.Helper()
	if w.Code != status {
		r.t.Errorf("status %d instead of %d", w.Code, status)
	}
	page := strings.Join(strings.Fields(w.Body.String()), " ")
	for _, text := range texts {
		if !strings.Contains(page, text) {
			r.t.Errorf("%q is missing in\n%s", text, page)
		}
	}
}

// upload posts a file as a browser without scripts does: parts are pairs of a
// field and its content; a field with a slash has a file's name behind it.
func (r *rig) upload(path string, parts ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(parts); i += 2 {
		field, file, isFile := strings.Cut(parts[i], "/")
		w, err := form.CreateFormField(field)
		if isFile {
			w, err = form.CreateFormFile(field, file)
		}
		must(r.t, err)
		_, err = w.Write([]byte(parts[i+1]))
		must(r.t, err)
	}
	must(r.t, form.Close())
	return r.browse("POST", path, "root", form.FormDataContentType(), &body)
}

// hidden are what a page's forms say of the files that it shows.
func (r *rig) hidden(page string) (form []string) {
	r.t.Helper()
	body := r.open("GET", page, "root").Body.String()
	for _, field := range regexp.MustCompile(`type="hidden" name="(hierarchy|mappings|upload)" value="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		form = append(form, field[1:]...)
	}
	return form
}

// follow goes where a redirect leads.
func (r *rig) follow(w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	r.t.Helper()
	if w.Code != 303 {
		r.t.Fatalf("status %d instead of a redirect: %s", w.Code, w.Body)
	}
	return r.open("GET", strings.TrimPrefix(w.Header().Get("Location"), "/base"), "root")
}

func TestWhoMaySeePages(t *testing.T) {
	r := onSQLite(t, nil)
	for _, path := range []string{rootPath, movePath, movePath + "/live", movePath + "/preview", movePath + "/preview/live", movePath + "/errors", movePath + "/verify",
		movePath + "/verify/live", backPath, backPath + "/live", backPath + "/restore", issuePath, movePath + "/reset", rootPath + "/uploads/1/delete"} {
		if w := r.open("GET", path, "admin"); w.Code != 403 {
			t.Errorf("%s without SYS_ADMIN: %d", path, w.Code)
		}
		if w := r.open("GET", path, ""); w.Code != 303 || !strings.Contains(w.Header().Get("Location"), "/sign-in") {
			t.Errorf("%s without a session: %d", path, w.Code)
		}
	}
	for _, path := range []string{movePath + "/upload", movePath + "/files", movePath + "/verify", backPath + "/restore", backPath + "/files", rootPath + "/uploads/1/delete"} {
		if w := r.open("POST", path, "admin"); w.Code != 403 {
			t.Errorf("%s without SYS_ADMIN: %d", path, w.Code)
		}
	}
	r.has(r.open("GET", "/", "root"), 200, "No migration is loaded.")
	if w := r.open("GET", "/", "admin"); strings.Contains(w.Body.String(), "No migration is loaded") {
		t.Error("the overview shows it to a user without SYS_ADMIN")
	}
}

// A migration by forms alone, without scripts.
func TestMigrationByForms(t *testing.T) {
	r := onSQLite(t, nil).work()
	r.has(r.follow(r.open("GET", rootPath, "root")), 200,
		`<h1>Threaded Comments Admin</h1>`, `Backup &amp; Restore</a>`, `aria-current="page">DC -&gt; Cloud Migration</a>`,
		`<details class="card stage current" id="files" open aria-current="step">`, `data-tus="/base`+uploadsPath+`"`, `/base/assets/console.`)
	for _, early := range []string{"Upload Data", "Start Processing", "Reset State", "IDLE", "EMPTY"} {
		if strings.Contains(r.open("GET", movePath, "root").Body.String(), early) {
			t.Errorf("with nothing there, the page says %q", early)
		}
	}
	r.has(r.open("POST", movePath+"/start", "root"), 409, "does not allow start")
	r.has(r.upload(movePath+"/files", "kind", "hierarchy", "file/", "", "text", ""), 400, "Choose a file, or paste its text.")
	r.has(r.upload(movePath+"/files", "kind", "backup", "file/b.gz", "x"), 400, "does not say what the file is")
	r.has(r.upload(movePath+"/files", "file/h.json", hierarchy), 400, "does not say what the file is")
	r.has(r.upload(movePath+"/files", "kind", "hierarchy", "file/big.json", strings.Repeat("[", max+1)), 413, "8MiB")
	r.has(r.browse("POST", movePath+"/files", "root", "text/plain", strings.NewReader("x")), 400, "could not be read")
	r.has(r.open("GET", movePath+"/preview", "root"), 303)

	r.has(r.follow(r.upload(movePath+"/files", "kind", "hierarchy", "file/comments.json", hierarchy, "text", "")), 200,
		`uploaded</span> <strong>comments.json</strong>`, "/uploads/1/delete")
	r.has(r.follow(r.upload(movePath+"/files", "kind", "mappings", "file/", "", "text", mappings)), 200, "pasted text")
	r.eventually(func() bool {
		return strings.Contains(r.open("GET", movePath, "root").Body.String(), "3 of 5 records will be restored, 2 cannot: <span class=\"why\">see why</span>")
	})
	r.has(r.open("GET", movePath, "root"), 200, `<form method="post" action="/base/threads/admin/migration/upload"><input type="hidden"`, `><button type="submit" class="main">Upload Data</button></form>`,
		`href="/base/threads/admin/migration/reset" data-confirm>Reset State</a>`, "<li>1: The comment is its own parent.</li>")
	r.has(r.open("GET", movePath+"/preview", "root"), 200, "Nothing is loaded yet", "3 of 5 records will be restored, 2 cannot.",
		`The comment is its own parent.<span class="below">self_parent</span></th><td class="figure" data-label="Records">1</td>`, "<code>29</code>", "Repeated records</th><td class=\"figure\" data-label=\"Count\">1</td>")
	r.has(r.follow(r.open("POST", movePath+"/upload", "root", r.hidden(movePath)...)), 200, "0 / 5 records (0%)", "ready to process <small>IDLE</small>", `<button type="submit" class="main">Start Processing</button>`,
		`data-confirm>Cancel Migration</a>`, `<span class="outcome">3 of 5 records will be restored, 2 cannot.</span>`)
	r.follow(r.open("POST", movePath+"/start", "root", r.hidden(movePath)...))
	r.until(threads.PhaseCompleted)
	r.has(r.open("GET", movePath, "root"), 200, `<span class="badge warn">completed</span>`, "<small>COMPLETED</small>", "5 / 5 records (100%)", "1 / 1 processed",
		`<dt>Parent maps created</dt><dd>3 `, `href="/base/rest/threaded-comments/1.0/migration/errors.csv" download`)
	r.has(r.open("GET", movePath+"/errors", "root"), 200, "Download all 2 as CSV", "The comment is its own parent.")
	r.has(r.open("GET", movePath+"/errors?after=x", "root"), 400)
	r.has(r.open("GET", movePath+"/preview", "root"), 200, "This data is loaded.")
	r.has(r.open("GET", "/", "root"), 200, "The migration: completed.", "<dt>processed</dt><dd>100%</dd>")
	r.eventually(func() bool { // it ends with a comparison
		return strings.Contains(r.open("GET", movePath+"/verify", "root").Body.String(), "3 of 3 relationships are correct in the target.")
	})
	r.follow(r.open("POST", movePath+"/verify", "root"))
	r.eventually(func() bool {
		return strings.Contains(r.open("GET", movePath+"/verify", "root").Body.String(), "3 of 3 relationships are correct in the target.")
	})
	r.has(r.open("GET", movePath, "root"), 200, "3 of 3 relationships are in the target")
	r.has(r.open("GET", movePath+"/reset", "root"), 200, "Reset the state?", "progress, counts and the list of errors", `<button type="submit" class="danger">Reset State</button>`)
	r.has(r.follow(r.open("POST", movePath+"/reset", "root")), 200, `id="files" open aria-current="step">`)
	r.has(r.open("POST", movePath+"/verify", "root"), 409, "Nothing is loaded")
}

// Some pages of an export are asked about, and so is replacing what is loaded.
func TestQuestions(t *testing.T) {
	r := onSQLite(t, nil).work()
	r.send(threads.HierarchyFile, `{"data":[{"issueId":1,"commentId":11,"parentCommentId":10}],"hasMore":true,"totalCount":123456}`)
	r.send(threads.MappingsFile, "jira:issue,1,3\nx")
	r.eventually(func() bool {
		return strings.Contains(r.open("GET", movePath, "root").Body.String(), "0 of 1 record will be restored, 1 cannot")
	})
	r.has(r.open("GET", movePath, "root"), 200, `<a class="button main" href="/base/threads/admin/migration/upload" data-confirm>Upload Data</a>`)
	r.has(r.open("GET", movePath+"/preview", "root"), 200, "1 of 123,456: this is one page of the export, and not all of it.", "The id mappings file has no header",
		"1 mapping stands before it.", "None of the records (1) has all its mappings")
	r.has(r.open("GET", movePath+"/upload", "root"), 200, "Upload incomplete files?", `<input type="checkbox" name="acceptIncomplete" value="true" required> Load them as they are. 1 of 123,456: this is one page`)
	shown := r.hidden(movePath + "/upload")
	r.has(r.open("POST", movePath+"/upload", "root", shown...), 409, "acceptIncomplete=true")
	r.has(r.follow(r.open("POST", movePath+"/upload", "root", append(shown, "acceptIncomplete", "true")...)), 200, "ready to process <small>IDLE</small>")
	r.send(threads.HierarchyFile, hierarchy)
	r.send(threads.MappingsFile, mappings)
	r.has(r.open("GET", movePath+"/upload", "root"), 200, "Upload these files?", "the currently loaded data")
	r.has(r.open("GET", movePath+"/start", "root"), 303)
}

func TestBackupByForms(t *testing.T) {
	r := onSQLite(t, nil).work()
	r.completed()
	backup := r.do(200, "GET", "/backup")
	r.has(r.open("GET", backPath, "root"), 200, `aria-current="page">Backup &amp; Restore</a>`, `href="/base/rest/threaded-comments/1.0/migration/backup" download`,
		`<button type="submit" disabled>Restore …</button>`)
	r.has(r.open("GET", backPath+"/restore?mode=merge", "root"), 409, "There is no backup yet")
	r.has(r.follow(r.upload(backPath+"/files", "kind", "backup", "file/b.gz", backup[:len(backup)-3])), 200, "b.gz")
	damaged := r.hidden(backPath)
	r.has(r.open("GET", backPath+"/restore?mode=merge&upload="+damaged[1], "root"), 400, "Nothing was changed")
	r.has(r.open("POST", backPath+"/restore", "root", append(damaged, "mode", "merge")...), 400, "Nothing was changed")
	r.has(r.follow(r.upload(backPath+"/files", "kind", "backup", "file/b.gz", backup)), 200, `<button type="submit" class="main">Restore …</button>`)
	r.has(r.open("GET", backPath+"/restore?mode=half", "root"), 400)
	shown := r.hidden(backPath)
	r.has(r.open("GET", backPath+"/restore?mode=merge&upload="+damaged[1], "root"), 409, "A different backup is here (id "+shown[1]+", b.gz, from root)")
	r.has(r.open("POST", backPath+"/restore", "root", append(damaged, "mode", "merge")...), 409, "A different backup is here")
	r.has(r.open("GET", backPath+"/restore?mode=merge&upload="+shown[1], "root"), 200, "has 3 relations in 2 issues.", "Everything else stays", `name="mode" value="merge"`)
	r.has(r.open("GET", backPath+"/restore?mode=replace&upload="+shown[1], "root"), 200, "Replace everything with the backup?", "every relation that is not in the backup")
	r.follow(r.open("POST", backPath+"/restore", "root", append(shown, "mode", "replace")...))
	r.eventually(func() bool {
		return strings.Contains(r.open("GET", backPath, "root").Body.String(), "2 / 2 issues (100%)")
	})
}

// Another browser sees how far a file is, and can delete it.
func TestOpenUploads(t *testing.T) {
	r := onSQLite(t, nil)
	w := r.ask("POST", uploadsPath, "root", "", "Tus-Resumable", "1.0.0", "Upload-Length", "200", "Upload-Metadata", "kind aGllcmFyY2h5,filename YS5qc29u")
	where := strings.TrimPrefix(w.Header().Get("Location"), base)
	r.ask("PATCH", where, "root", strings.Repeat(" ", 90), "Tus-Resumable", "1.0.0", "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream")
	r.has(r.open("GET", movePath, "root"), 200, `incomplete</span> <strong>a.json</strong>`, "90 bytes of 200 bytes (45%), from root", "choose the same file again")
	r.has(r.upload(movePath+"/files", "kind", "hierarchy", "file/b.json", "[]"), 409, "already being uploaded")
	page := rootPath + "/uploads" + strings.TrimPrefix(where, uploadsPath) + "/delete"
	r.has(r.open("GET", page, "root"), 200, "Delete the file?")
	r.has(r.follow(r.open("POST", page, "root")), 200, `data-kind="hierarchy"`)
	r.has(r.open("POST", page, "root"), 404)
	r.has(r.open("GET", rootPath+"/uploads/x/delete", "root"), 404)
}

func TestThreadsPage(t *testing.T) {
	r := onSQLite(t, nil).work()
	r.completed()
	r.has(r.open("GET", issuePath, "root"), 200, "Issue id on the cloud site")
	r.has(r.open("GET", issuePath+"?id=901", "root"), 200, "3 comments.", `<th scope="row" class="deep-0">510</th>`, `<th scope="row" class="deep-1">511</th>`, "starts a thread")
	r.has(r.open("GET", issuePath+"?id=999", "root"), 200, "No threads")
	r.has(r.open("GET", issuePath+"?id=JRA-1", "root"), 400, "not its key", `value="JRA-1"`)
}

// Nothing of a file stays in the folder after it came, or did not; a folder
// that takes none is said.
func TestSpool(t *testing.T) {
	r := onSQLite(t, nil)
	r.upload(movePath+"/files", "kind", "hierarchy", "file/h.json", hierarchy)
	r.upload(movePath+"/files", "kind", "hierarchy", "file/h.json", strings.Repeat("x", max+1))
	left, err := os.ReadDir(r.api.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	r.api.Dir += "/nowhere"
	r.has(r.upload(movePath+"/files", "kind", "hierarchy", "file/h.json", hierarchy), 503, "Is its disk full?")
}

// A form that breaks off leaves nothing behind.
func TestFormBreaksOff(t *testing.T) {
	r := onSQLite(t, nil)
	const form = "--b\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nhierarchy\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"h.json\"\r\n\r\n[{"
	for n := range len(form) + 1 {
		w := r.browse("POST", movePath+"/files", "root", "multipart/form-data; boundary=b", strings.NewReader(form[:n]))
		if w.Code != 400 {
			t.Fatalf("%q: %d %s", form[:n], w.Code, w.Body)
		}
	}
	if got := r.do(200, "GET", "/uploads"); got != `{"items":[]}` {
		t.Error(got)
	}
}
