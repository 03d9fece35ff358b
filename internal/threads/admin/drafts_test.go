package admin_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outrigger/internal/threads"
)

// sendAt sends a file by tus as a user, all of it at once.
func (r *rig) sendAt(who, kind, name, content string, metadata ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	metadata = append([]string{"kind " + encoded(kind), "filename " + encoded(name)}, metadata...)
	return r.ask("POST", uploadsPath, who, content, "Tus-Resumable", "1.0.0", "Upload-Length", fmt.Sprint(len(content)),
		"Upload-Metadata", strings.Join(metadata, ","), "Content-Type", "application/offset+octet-stream")
}

// Of two administrators each loads their own files, or is refused: what one has sent
// whole stays until it is loaded, deleted, or replaced in so many words, and what is
// loaded is what was previewed. Twice, so that nothing is left of the first time.
func TestTwoAdministrators(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.work()
		for round := range 2 {
			sent := func(w *httptest.ResponseRecorder, status int, says ...string) {
				t.Helper()
				if w.Code != status {
					t.Fatalf("round %d: %d instead of %d: %s", round, w.Code, status, w.Body)
				}
				for _, text := range says {
					if !strings.Contains(w.Body.String(), text) {
						t.Errorf("round %d: %q is missing in %s", round, text, w.Body)
					}
				}
			}
			sent(r.sendAt("ann", threads.HierarchyFile, "ann.json", hierarchy), 201)
			sent(r.sendAt("ann", threads.MappingsFile, "ann.csv", mappings), 201)
			for _, who := range []string{"root", "ann"} { // also one's own
				sent(r.sendAt(who, threads.HierarchyFile, "root.json", "[]"), 409,
					"A hierarchy file is already here and has not been loaded: ann.json from ann, begun ", " ago, at "+base+uploadsPath+"/")
				sent(r.sendAt(who, threads.MappingsFile, "root.csv", "x"), 409, "ann.csv from ann")
			}
			anns := r.previewed()
			for _, text := range []string{`"filename":"ann.json","createdBy":"ann"`, `"sha256":"` + digest(hierarchy) + `"`, `"sha256":"` + digest(mappings) + `"`} {
				if !strings.Contains(anns, text) {
					t.Errorf("the preview does not say which files it is of: %s", anns)
				}
			}

			// Another file comes in between: what ann looked at is not what she would load.
			others := mappings + "jira:comment,29,529\n"
			sent(r.sendAt("root", threads.MappingsFile, "root.csv", others, "replace"), 201)
			for _, named := range []string{"", "{}", anns} {
				got := r.load(409, "", named)
				for _, text := range []string{`"field":"hierarchy"`, "ann.json, from ann", `"field":"mappings"`, "root.csv, from root"} {
					if !strings.Contains(got, text) {
						t.Errorf("round %d, with %q: %q is missing in %s", round, named, text, got)
					}
				}
			}
			said := "root replaced your mappings file ann.csv with root.csv"
			if page := r.open("GET", movePath, "ann").Body.String(); !strings.Contains(page, said) {
				t.Errorf("round %d: the owner is not told", round)
			}
			if page := r.open("GET", movePath, "root").Body.String(); strings.Contains(page, said) {
				t.Errorf("round %d: the one who did it is told", round)
			}
			roots := r.previewed()
			if got := r.load(409, "", anns); !strings.Contains(got, "sha256 "+digest(others)) {
				t.Errorf("round %d: the refusal does not say which file is there: %s", round, got)
			}
			if got := r.load(202, "", roots); !strings.Contains(got, `"data":`+roots) {
				t.Errorf("round %d: the status does not say which data is loaded: %s", round, got)
			}
			if got := r.load(409, "", anns); !strings.Contains(got, "missing") {
				t.Errorf("round %d: loaded again: %s", round, got)
			}

			// Only what is loaded is started, where it is named.
			start := func(named string) int {
				return r.ask("POST", migrationPath+"/start", "ann", named, "Content-Type", "application/json").Code
			}
			if code := start(anns); code != http.StatusConflict {
				t.Errorf("round %d: other data is started: %d", round, code)
			}
			if code := start(roots); code != http.StatusAccepted {
				t.Errorf("round %d: the data is not started: %d", round, code)
			}
			r.until(threads.PhaseCompleted)
			r.verifies(`"relations":4,"present":4`)
			r.do(202, "POST", "/reset")
		}
	})
}

// Of two backups each restores the one that was meant, or is refused; one that comes at
// once leaves another alone, and is gone where it cannot be restored.
func TestTwoBackups(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.work()
		r.completed()
		backup := r.do(200, "GET", "/backup")
		for range 2 {
			w := r.sendAt("ann", threads.BackupFile, "ann.gz", backup)
			if w.Code != 201 {
				t.Fatal(w.Code, w.Body)
			}
			anns := w.Header().Get("Location")[len(base+uploadsPath)+1:]
			for _, c := range []struct {
				path, body string
				says       string
			}{
				{"/restore?mode=merge", "", "A different backup is here (id " + anns + ", ann.gz, from ann)"},
				{"/restore?mode=merge&upload=1", "", "with upload=" + anns},
				{"/restore?mode=merge", backup, "A backup file is already here and has not been loaded: ann.gz from ann"},
			} {
				if got := r.message(r.do(409, "POST", c.path, c.body)); !strings.Contains(got, c.says) {
					t.Errorf("%s: %s", c.path, got)
				}
			}
			r.do(202, "POST", "/restore?mode=merge&upload="+anns)
			r.eventually(func() bool { return strings.Contains(r.do(200, "GET", "/restore"), `"state":"done"`) })
			if got := r.do(200, "GET", "/uploads"); got != `{"items":[]}` {
				t.Errorf("left: %s", got)
			}
		}
	})
}
