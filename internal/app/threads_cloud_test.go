package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/threadstest"
)

// sendFiles sends the two files of a migration.
func sendFiles(t *testing.T, c *client.Client, records []threads.Record, mappings []threads.IDMapping) {
	t.Helper()
	for kind, content := range map[string]string{threads.HierarchyFile: threadstest.Hierarchy(records), threads.MappingsFile: threadstest.CSV(mappings)} {
		name := filepath.Join(t.TempDir(), kind)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Upload(t.Context(), "", kind, file, false, nil); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func operate(t *testing.T, c *client.Client, op threads.Operation) {
	t.Helper()
	wish := threads.Wish{}
	if op == threads.OpUpload {
		p, err := c.Preview(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		wish.Drafts = p.Drafts
	}
	if _, err := c.Operate(t.Context(), op, wish); err != nil {
		t.Fatal(err)
	}
}

func follow(t *testing.T, c *client.Client, until threads.Phase, while ...threads.Phase) threads.MigrationStatus {
	t.Helper()
	st, err := c.Follow(t.Context(), nil, while...)
	if err != nil || st.Phase != until {
		t.Fatalf("%+v, %v", st, err)
	}
	return st
}

// With a cloud site as the target, its issue properties have the threads in the
// end, whatever it answered in between; what is asked of the admin tool comes
// from there.
func TestThreadsToACloudSite(t *testing.T) {
	t.Parallel()
	site := cloudsite.New(cloudsite.Options{User: "ann@example.com", Token: "cloud token", Missing: func(issue int64) bool { return issue == 3_010_004 }})
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	cfg := settings(t)
	cfg.Threads.Target = config.TargetJiraCloud
	cfg.Threads.JiraCloud.URL, cfg.Threads.JiraCloud.User, cfg.Threads.JiraCloud.Token = server.URL+"/", "ann@example.com", secret.New("cloud token")
	a := start(t, cfg)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := &client.Client{Base: a.URL(), SignIn: asAdmin, HTTP: &http.Client{Transport: transport}}
	records, mappings := threadstest.Many(40, 4)
	sendFiles(t, c, records, mappings)
	operate(t, c, threads.OpUpload)
	follow(t, c, threads.PhaseReady, threads.PhaseLoading)

	site.SetFaultMode(cloudsite.Locked, 0)
	operate(t, c, threads.OpStart)
	if st := follow(t, c, threads.PhaseFailed, threads.PhaseProcessing); st.Message == "" || st.ParentMapsCreated != 0 || strings.Contains(st.Message, "cloud token") {
		t.Errorf("the site refused us: %+v", st)
	}
	site.SetFaultMode(cloudsite.Works, 0)
	operate(t, c, threads.OpContinue)
	st := follow(t, c, threads.PhaseCompleted, threads.PhaseProcessing)
	if st.Progress.Processed != 40 || st.Progress.Total != 40 || st.IssuesProcessed != 10 || st.ParentMapsCreated != 36 || st.Errors.Permanent != 4 {
		t.Errorf("%+v", st)
	}
	model := threadstest.NewModel(records, mappings)
	for issue, want := range model.Maps {
		got, err := site.Parents(issue)
		if issue == 3_010_004 {
			want = nil
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("issue %d: %v, %v", issue, got, err)
		}
		for _, r := range want {
			if got[fmt.Sprint(r.CommentID)] != fmt.Sprint(r.ParentID) {
				t.Errorf("issue %d: %v", issue, got)
			}
		}
	}
	if status, body := get(t, a.URL()+"/rest/threaded-comments/1.0/issues/3010000/threads", asAdmin); status != 200 || strings.Count(body, `"replies"`) != 5 {
		t.Errorf("the threads of an issue: %d %s", status, body)
	}
	if status, body := get(t, a.URL()+"/rest/threaded-comments/1.0/issues/3010004/threads", asAdmin); status != 404 {
		t.Errorf("of one that is not there: %d %s", status, body)
	}
	if v, err := c.Verify(t.Context(), nil); err != nil || v.Present != 36 {
		t.Errorf("the comparison: %+v, %v", v, err)
	}
}
