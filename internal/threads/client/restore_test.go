package client

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// restorer plays a server that restores backups, whose uploads are those of
// drafts. trouble is asked before each POST that begins a restore; it may lose
// it "before" anything is done, or its answer "after".
type restorer struct {
	*drafts
	trouble []string
	asked   []string
	begun   int
	looks   int
	at      time.Time // of the last change
	outcome string    // the state in the end
	upload  string    // the id of the backup
}

// Do answers what is about restores itself.
func (s *restorer) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Path != migrationPath+"/restore" {
		return s.drafts.Do(r)
	}
	s.asked = append(s.asked, strings.TrimSuffix(r.Method+" "+r.URL.RawQuery, " "))
	status, body := http.StatusOK, ""
	switch {
	case r.Method == http.MethodGet && s.begun == 0 && s.at.IsZero():
		status, body = http.StatusNotFound, `{"status-code":404,"message":"No backup has been restored yet."}`
	case r.Method == http.MethodGet:
		s.looks++
		body = s.state()
	default:
		trouble := ""
		if len(s.trouble) > 0 {
			trouble, s.trouble = s.trouble[0], s.trouble[1:]
		}
		if trouble == "before" {
			return nil, errReset
		}
		if s.begun > 0 {
			status, body = http.StatusNotFound, `{"status-code":404,"message":"There is no upload."}`
			break
		}
		s.upload = r.URL.Query().Get("upload")
		s.begun, s.looks, s.at = s.begun+1, 0, s.at.Add(time.Hour)
		if trouble == "after" {
			return nil, errReset
		}
		status, body = http.StatusAccepted, s.state()
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Request: r,
		Body: http.MaxBytesReader(nil, closing{strings.NewReader(body)}, 1<<20),
	}, nil
}

type closing struct{ *strings.Reader }

func (closing) Close() error { return nil }

func (s *restorer) state() string {
	state := s.outcome
	if s.looks < 3 && s.begun > 0 {
		state = threads.JobRunning
	}
	return fmt.Sprintf(`{"state":%q,"upload":%s,"issues":10,"done":%d,"refused":1,"updatedAt":%q,"message":"as it is"}`, state, cmp.Or(s.upload, "0"), min(10, 4*s.looks), s.at.Format(time.RFC3339))
}

// A restore is begun once, whichever answers are lost, and followed to its end.
func TestRestore(t *testing.T) {
	for _, c := range []struct {
		name    string
		trouble []string
		before  time.Time // an earlier restore's
		outcome string
	}{
		{"at once", nil, time.Time{}, threads.JobDone},
		{"not heard of", []string{"before", "before"}, time.Unix(1e9, 0), threads.JobDone},
		{"an answer lost", []string{"after"}, time.Unix(1e9, 0), threads.JobDone},
		{"both", []string{"before", "after"}, time.Time{}, threads.JobFailed},
	} {
		s := &restorer{drafts: newDrafts(t), trouble: c.trouble, at: c.before, outcome: c.outcome}
		s.HTTP = s
		path := filepath.Join(t.TempDir(), "backup.gz")
		if err := os.WriteFile(path, []byte(someBackup(t, 10)), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var told []int64
		out, err := s.Restore(t.Context(), file, threads.RestoreReplace, true, nil, func(done, _ int64) { told = append(told, done) })
		if err != nil || out.State != c.outcome || out.Done != 10 || out.Refused != 1 || out.Message != "as it is" || s.begun != 1 || len(told) < 2 {
			t.Errorf("%s: %+v, %v, begun %d times, told %v", c.name, out, err, s.begun, told)
		}
		if !slices.Contains(s.asked, "POST mode=replace&upload=1") {
			t.Errorf("%s: asked %v", c.name, s.asked)
		}
		s.holds(t, threads.BackupFile, []byte(someBackup(t, 10)))
	}
}

// What the server refuses is not taken for an earlier restore.
func TestRestoreRefused(t *testing.T) {
	s := &restorer{drafts: newDrafts(t), trouble: []string{"before"}, at: time.Unix(1e9, 0), outcome: threads.JobDone, begun: 1}
	s.HTTP, s.looks = s, 3
	file, _ := someFile(t, "backup.gz", 100)
	if _, err := s.Restore(t.Context(), file, threads.RestoreMerge, true, nil, nil); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}

// A comparison begins anew, and is awaited.
func TestVerify(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var asked []string
		client := &Client{Base: "https://cloud.example.com", HTTP: doer(func(x *exchange) {
			asked = append(asked, x.Method)
			x.header.Set("Content-Type", "application/json")
			if len(asked) < 3 {
				x.answer(202).say(`{"state":"running","done":0.5,"relations":5,"first":[]}`)
				return
			}
			x.answer(200).say(`{"state":"done","done":1,"issues":3,"relations":10,"present":8,"missing":1,"different":1,
				"first":[{"issueId":"77","commentId":"9007199254740993","expected":"899","found":"898"}]}`)
		})}
		var told []float64
		v, err := client.Verify(t.Context(), func(done float64) { told = append(told, done) })
		if err != nil || v.Issues != 3 || v.Relations != 10 || v.Present != 8 || v.Missing != 1 || v.Different != 1 ||
			len(v.First) != 1 || v.First[0] != (threads.Difference{CloudIssueID: 77, CommentID: 1<<53 + 1, Expected: 899, Found: 898}) {
			t.Errorf("%+v, %v", v, err)
		}
		if fmt.Sprint(asked, told) != "[POST GET GET] [0.5]" {
			t.Errorf("asked %v, told %v", asked, told)
		}
	})
}
