package admin_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/threads"
)

// A backup gives back what there was; one that is damaged anywhere changes
// nothing.
func TestBackupAndRestore(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.work()
		r.completed()
		w := r.ask("GET", migrationPath+"/backup", "reader", "")
		backup := w.Body.String()
		if name := w.Header().Get("Content-Disposition"); !regexp.MustCompile(`^attachment; filename="threaded-comments-backup-\d{8}-\d{6}\.ndjson\.gz"$`).MatchString(name) {
			t.Errorf("its name: %s", name)
		}
		if r.message(r.do(404, "GET", "/restore")) == "" {
			t.Error("there was a restore before the first")
		}
		for name, damaged := range map[string]string{
			"cut": backup[:len(backup)-9], "cut early": backup[:30], "none": "no backup", "another gzip": packed(t, `{"format":"other"}`+"\n"),
			"damaged": backup[:len(backup)/2] + "\x00" + backup[len(backup)/2+1:], "longer": backup + backup, "a line less": lineLess(t, backup),
		} {
			if got := r.message(r.do(400, "POST", "/restore?mode=replace", damaged)); !strings.Contains(got, "Nothing was changed") {
				t.Errorf("%s: %s", name, got)
			}
		}
		if got := r.do(200, "GET", "/uploads"); got != `{"items":[]}` {
			t.Errorf("what was refused is kept: %s", got)
		}
		r.do(202, "POST", "/reset")
		r.restore("replace", backup, 2)
		if got := unpacked(t, r.do(200, "GET", "/backup")); got != unpacked(t, backup) {
			t.Errorf("another backup after the restore:\n%s", got)
		}
		r.send(threads.BackupFile, backup) // by tus first
		sent, err := r.store.Uploads.Draft(t.Context(), threads.BackupFile)
		must(t, err)
		if got := r.do(202, "POST", "/restore?mode=merge&upload="+strconv.FormatInt(sent.ID, 10)); !strings.Contains(got, `"mode":"merge","upload":11,"issues":2`) {
			t.Errorf("of an upload: %s", got)
		}
	})
}

// restore restores a backup and waits for it.
func (r *rig) restore(mode, backup string, issues int64) {
	r.t.Helper()
	r.do(202, "POST", "/restore?mode="+mode, backup)
	var d threads.Restoration
	r.eventually(func() bool {
		r.read(r.do(200, "GET", "/restore"), &d)
		return d.State != threads.JobRunning
	})
	if d.State != threads.JobDone || d.Done != issues || d.Issues != issues || string(d.Mode) != mode {
		r.t.Errorf("%+v", d)
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write([]byte(text))
	must(t, errors.Join(err, z.Close()))
	return out.String()
}

// unpacked is a backup without its first line, which has the time.
func unpacked(t *testing.T, backup string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(backup))
	must(t, err)
	text, err := io.ReadAll(z)
	must(t, err)
	_, lines, _ := strings.Cut(string(text), "\n")
	return lines[:strings.LastIndex(lines, `"sha256"`)]
}

// lineLess is a backup that lost a line in the middle.
func lineLess(t *testing.T, backup string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(backup))
	must(t, err)
	text, err := io.ReadAll(z)
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	return packed(t, lines[0]+strings.Join(lines[2:], ""))
}

// A body of unknown length is taken too, and one that is too long refused.
func TestRestoreOfUnknownLength(t *testing.T) {
	r := onSQLite(t, nil)
	server := httptest.NewServer(r.handler)
	defer server.Close()
	post := func(body io.Reader) (int, string) {
		q, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/base"+migrationPath+"/restore?mode=merge", body)
		must(t, err)
		q.SetBasicAuth("root", "x")
		resp, err := server.Client().Do(q)
		must(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, string(text)
	}
	empty := r.do(200, "GET", "/backup")
	if status, body := post(io.MultiReader(strings.NewReader(empty))); status != 202 || !strings.Contains(body, `"issues":0`) {
		t.Errorf("an empty backup: %d %s", status, body)
	}
	if status, body := post(io.LimitReader(zeros{}, max+1)); status != 413 || !strings.Contains(body, "8 MiB") {
		t.Errorf("too much: %d %s", status, body)
	}
	if w := r.ask("POST", migrationPath+"/restore?mode=merge", "root", strings.Repeat("x", max+1)); w.Code != 413 {
		t.Errorf("too much, and said so: %d", w.Code)
	}
}

// A backup that breaks off on its way is not kept, so that the next one can
// come.
func TestRestoreBreaksOff(t *testing.T) {
	r := onSQLite(t, nil)
	for _, length := range []int64{-1, 100} {
		q := httptest.NewRequestWithContext(t.Context(), "POST", base+migrationPath+"/restore?mode=merge", io.MultiReader(strings.NewReader("abc"), broken{}))
		q.ContentLength = length
		q.SetBasicAuth("root", "x")
		w := httptest.NewRecorder()
		r.handler.ServeHTTP(w, q)
		if w.Code != 400 || r.message(w.Body.String()) != "The upload was interrupted; nothing was kept. Send the file again." {
			t.Errorf("length %d: %d %s", length, w.Code, w.Body)
		}
		if got := r.do(200, "GET", "/uploads"); got != `{"items":[]}` {
			t.Errorf("length %d: %s", length, got)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// zeros is a file without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
