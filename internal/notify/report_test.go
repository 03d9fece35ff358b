package notify

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/fault"
)

func someReport() Report {
	return Report{
		Name: "Stale", Connection: "dc", ProjectKey: "ATL", RepositoryKey: "rocket", Format: Auto,
		ReportContent: ReportContent{InactivityDays: 7}, Enabled: true,
		ReportSchedule: ReportSchedule{Frequency: Weekly, Day: "MONDAY", Time: "09:00", TimeZone: "Europe/Berlin"},
	}
}

func TestReportNamesEveryWrongMember(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Report)
		want   []string
	}{
		{"a good one", func(*Report) {}, nil},
		{"everything", func(r *Report) {
			*r = Report{ChannelName: strings.Repeat("x", 256), Format: "irc",
				ReportContent:  ReportContent{InactivityDays: 366, TargetBranchMask: "("},
				ReportSchedule: ReportSchedule{Frequency: "HOURLY", Time: "24:00", TimeZone: "Europe/Atlantis"}}
		}, []string{"name", "channelName", "projectKey", "repositoryKey", "format", "inactivityDays", "targetBranchMask", "frequency", "time", "timeZone"}},
		{"a weekly one without a day", func(r *Report) { r.Day = "" }, []string{"day"}},
		{"a daily one with a day", func(r *Report) { r.Frequency = Daily }, []string{"day"}},
		{"no days", func(r *Report) { r.InactivityDays = 0 }, []string{"inactivityDays"}},
		{"the machine's zone", func(r *Report) { r.TimeZone = "Local" }, []string{"timeZone"}},
		{"a key with a slash", func(r *Report) { r.RepositoryKey = "a/b" }, []string{"repositoryKey"}},
		{"keys that are steps of a path", func(r *Report) { r.ProjectKey, r.RepositoryKey = ".", ".." }, []string{"projectKey", "repositoryKey"}},
		{"a long name", func(r *Report) { r.Name = strings.Repeat("ä", 256) }, []string{"name"}},
	} {
		r := someReport()
		c.change(&r)
		var got []string
		if err := r.Validate(); err != nil {
			for _, f := range fault.As(err).Fields {
				got = append(got, f.Name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestActivity(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	ana, bob, eve := User{Name: "ana", DisplayName: "Ana"}, User{Name: "bob"}, User{Name: "eve"}
	open := []OpenPullRequest{
		{ID: 1, Title: "just short of a week", Target: "main", Updated: ago(7*day - 1)},
		{ID: 2, Title: "a week", Author: ana, Target: "main", Updated: ago(7 * day), URL: "https://git.example.com/2",
			Reviewers: []Reviewer{{User: bob, Approved: true}, {User: eve}}},
		{ID: 3, Title: "a draft", Target: "main", Draft: true, Updated: ago(30 * day)},
		{ID: 4, Title: "elsewhere", Target: "release/1", Updated: ago(20 * day)},
		{ID: 5, Title: "nothing is said of its time", Target: "main"},
		{ID: 6, Title: "from the future", Target: "main", Updated: now.Add(time.Hour)},
	}
	week := IdlePullRequest{ID: 2, Title: "a week", Author: ana, Target: "main", URL: "https://git.example.com/2", IdleDays: 7, WaitsFor: []User{eve}}
	draft := IdlePullRequest{ID: 3, Title: "a draft", Target: "main", IdleDays: 30}
	elsewhere := IdlePullRequest{ID: 4, Title: "elsewhere", Target: "release/1", IdleDays: 20}
	for _, c := range []struct {
		name   string
		change func(*Report)
		want   Activity
	}{
		{"all, the oldest first", func(*Report) {}, Activity{Open: 6, Inactive: 3, Oldest: []IdlePullRequest{draft, elsewhere, week}}},
		{"no drafts", func(r *Report) { r.SkipDrafts = true }, Activity{Open: 5, Inactive: 2, Oldest: []IdlePullRequest{elsewhere, week}, SkipsDrafts: true, Drafts: 1}},
		{"one target", func(r *Report) { r.TargetBranchMask, r.SkipDrafts = "main", true },
			Activity{Open: 4, Inactive: 1, Oldest: []IdlePullRequest{week}, SkipsDrafts: true, Drafts: 1, TargetMask: "main"}},
		{"the mask is a full match", func(r *Report) { r.TargetBranchMask = "release" }, Activity{TargetMask: "release"}},
		{"none for long enough", func(r *Report) { r.InactivityDays = 31 }, Activity{Open: 6}},
	} {
		r := someReport()
		c.change(&r)
		c.want.Name, c.want.InactivityDays = r.Name, r.InactivityDays
		if d := cmp.Diff(&c.want, r.Activity(open, now)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestActivityOfManyPullRequests(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	open := make([]OpenPullRequest, 5000)
	for i := range open {
		open[i] = OpenPullRequest{ID: int64(i), Updated: now.Add(-time.Duration(i%100) * day), Reviewers: make([]Reviewer, 12)}
	}
	r := someReport()
	a := r.Activity(open, now)
	if a.Open != 5000 || a.Inactive != 4650 || len(a.Oldest) != maxIdle || a.Oldest[0].ID != 99 || a.Oldest[0].IdleDays != 99 {
		t.Errorf("%d open, %d inactive, first %+v", a.Open, a.Inactive, a.Oldest[0])
	}
	if p := a.Oldest[0]; len(p.WaitsFor) != maxWaitingFor || p.WaitsForMore != 2 {
		t.Errorf("it waits for %d and %d more", len(p.WaitsFor), p.WaitsForMore)
	}
}

// A mask that takes too many steps leaves nothing out, and soon is not run.
func TestActivityWithAMaskThatTakesTooLong(t *testing.T) {
	r := someReport()
	r.TargetBranchMask = "(a+)+(?=b)"
	open := make([]OpenPullRequest, 200)
	for i := range open {
		open[i].Target = strings.Repeat("a", 5000+i)
	}
	tried := newTargets(r.TargetBranchMask)
	for i := range open {
		tried.take(open[i].Target)
	}
	if a := r.Activity(open, time.Now()); a.Open != len(open) || tried.failed != maxMaskErrors || len(tried.known) != maxMaskErrors {
		t.Errorf("%d open; the mask failed %d times on %d branches", a.Open, tried.failed, len(tried.known))
	}
}

// A mask that takes just fewer steps than one branch may cost is run on some
// branches only, and leaves nothing out either.
func TestActivityWithASlowMaskAtLength(t *testing.T) {
	r := someReport()
	r.TargetBranchMask = "(a|a)*(?=b)b"
	open := make([]OpenPullRequest, 300)
	for i := range open {
		open[i].Target = strings.Repeat("a", 15) + strconv.Itoa(i)
	}
	tried := newTargets(r.TargetBranchMask)
	for i := range open {
		tried.take(open[i].Target)
	}
	if tried.failed != maxMaskErrors || len(tried.known) < 10*maxMaskErrors || len(tried.known) > 200 {
		t.Errorf("the mask was run on %d branches, and failed on %d", len(tried.known), tried.failed)
	}
	if a := r.Activity(open, time.Now()); a.Open != len(open)-len(tried.known)+maxMaskErrors {
		t.Errorf("%d open", a.Open)
	}
}
