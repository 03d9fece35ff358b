package jiracloud_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// The names of issues come as the site has them; an issue that the account may
// not see has none, and a site that does not have the call gives an error.
func TestNames(t *testing.T) {
	var reaction *cloudsite.Reaction
	site, target := play(t, cloudsite.Options{
		Missing: func(issue int64) bool { return issue == 404 },
		Key:     func(issue int64) string { return fmt.Sprintf("A_%d-%d", issue%2, issue) },
		React:   func(cloudsite.Request) *cloudsite.Reaction { return reaction },
	})
	got, err := target.Names(t.Context(), []int64{7, 404, 3, 8})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int64]threads.IssueName{7: {Key: "A_1-7", Project: "A_1"}, 3: {Key: "A_1-3", Project: "A_1"}, 8: {Key: "A_0-8", Project: "A_0"}}, got); diff != "" {
		t.Error(diff)
	}
	if c := site.Counts(); c.Writes != 0 || c.Requests != 1 {
		t.Errorf("%+v", c)
	}
	json := map[string]string{"Content-Type": "application/json"}
	for name, r := range map[string]cloudsite.Reaction{
		"no such call":      {Status: 404, Header: json, Body: `{"errorMessages":["No."]}`},
		"not allowed":       {Status: 403, Header: json, Body: `{}`},
		"too often":         {Status: 429, Header: json, Body: `{}`},
		"a page":            {Status: 200, Header: map[string]string{"Content-Type": "text/html"}, Body: "<p>"},
		"something else":    {Status: 200, Header: json, Body: `{"keys":[]}`},
		"the end too early": {Status: 200, Header: json, Body: `{"issues":[]}`, Then: cloudsite.BreakOff},
	} {
		reaction = &r
		names, err := target.Names(t.Context(), []int64{7})
		if err == nil || names != nil || strings.Contains(err.Error(), "issue 0") || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v, %v", name, names, err)
		}
	}
	reaction = &cloudsite.Reaction{Status: 200, Header: json, Body: `{"issues":[{"id":"x","key":"A-1"},{"id":"7","key":"` + strings.Repeat("A", 300) + `","fields":{"project":{"key":"B\u0007"}}}]}`}
	if got, err := target.Names(t.Context(), []int64{7}); err != nil || len(got) != 1 || got[7] != (threads.IssueName{Project: "B\ufffd"}) {
		t.Errorf("odd keys: %+v, %v", got, err)
	}
}

// A comparison counts by project, across batches and chunks; where the site does
// not say what its issues are called, it is made all the same.
func TestProjects(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(2*130, 2)
		for _, nameless := range []bool{false, true} {
			site, target := play(t, cloudsite.Options{
				NoBulkFetch: nameless,
				Missing:     func(issue int64) bool { return issue == 3_010_001 },
				Key:         func(issue int64) string { return fmt.Sprintf("P%d-%d", issue%3, issue) },
			})
			r := newRig(t, d, site, target)
			r.work(4)
			r.load(records, mappings)
			r.await(threads.PhaseReady)
			r.operate(threads.OpStart)
			r.await(threads.PhaseCompleted)
			v := r.verified()
			want := threads.ProjectCounts{"": {Issues: 130, Records: 260, NotMigrated: 2}}
			if !nameless {
				want = threads.ProjectCounts{"": {Issues: 1, Records: 2, NotMigrated: 2}}
				for n := int64(0); n < 130; n++ {
					if issue := records[2*n].IssueID; cloud(mappings, issue) != 3_010_001 {
						key := fmt.Sprintf("P%d", cloud(mappings, issue)%3)
						c := want[key]
						want[key] = threads.ProjectCount{Issues: c.Issues + 1, Records: c.Records + 2}
					}
				}
			}
			if diff := cmp.Diff(want, v.Projects); diff != "" || v.Present != 258 || v.Missing != 2 {
				t.Errorf("nameless %t: %+v\n%s", nameless, v, diff)
			}
			r.operate(threads.OpReset)
			r.end()
		}
	}, schema...)
}

// cloud is the cloud id of an issue.
func cloud(mappings []threads.IDMapping, issue int64) int64 {
	for _, m := range mappings {
		if m.EntityType == threads.EntityIssue && m.ServerID == issue {
			return m.CloudID
		}
	}
	return 0
}

// verified waits for the comparison that a migration ends with.
func (r *rig) verified() (v threads.VerifyJob) {
	r.t.Helper()
	for {
		j, err := r.store.Job(r.t.Context(), threads.JobVerify)
		if err == nil && j.State == threads.JobDone {
			err = j.Read(&v)
		}
		if err != nil || j.State == threads.JobFailed {
			r.t.Fatal(j, err)
		}
		if j.State == threads.JobDone {
			return v
		}
		select {
		case <-r.moved:
		case <-time.After(10 * time.Millisecond):
		}
	}
}
