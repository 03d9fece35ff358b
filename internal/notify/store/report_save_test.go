package store

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// reportDay is a Monday on which nothing happens to clocks.
var reportDay = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

func someReport(name string) notify.Report {
	return notify.Report{
		Name: name, Connection: "dc", ProjectKey: "ATL", RepositoryKey: "Canoe", Format: notify.Auto, Enabled: true,
		ReportContent:  notify.ReportContent{InactivityDays: 7},
		ReportSchedule: notify.ReportSchedule{Frequency: notify.Daily, Time: "09:00", TimeZone: "UTC"},
	}
}

// saveReport saves at midnight before reportDay's report.
func saveReport(t *testing.T, s *Store, r notify.Report, url string) notify.ReportInfo {
	t.Helper()
	info, err := s.SaveReport(t.Context(), ada, r, url, reportDay)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func reportNow(t *testing.T, s *Store, id int64) notify.ReportInfo {
	t.Helper()
	info, err := s.Report(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestReportIsReadBackMasked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		draft := someReport("stale")
		draft.ReportSchedule = notify.ReportSchedule{Frequency: notify.Weekly, Day: "FRIDAY", Time: "08:30", TimeZone: "Europe/Berlin"}
		draft.SkipDrafts, draft.MentionReviewers, draft.TargetBranchMask, draft.ChannelName = true, true, "main|release/.*", "Crew"
		info := saveReport(t, s, draft, flowURL("a"))
		if strings.Contains(info.Channel.Mask, "signature-of") || info.Channel.Host != "prod-1.westeurope.logic.azure.com" {
			t.Errorf("the channel is %+v", info.Channel)
		}
		if want := time.Date(2026, 11, 20, 7, 30, 0, 0, time.UTC); !info.NextRunAt.Equal(want) {
			t.Errorf("it is due at %s, want %s", info.NextRunAt, want)
		}
		draft.ID, draft.Version, draft.ChannelID = info.ID, 1, info.ChannelID
		draft.CreatedBy, draft.CreatedAt, draft.UpdatedBy, draft.UpdatedAt = "ada", info.CreatedAt, "ada", info.UpdatedAt
		if info.Report != draft {
			t.Errorf("read back %+v\nwant %+v", info.Report, draft)
		}
		if _, err := s.Report(t.Context(), info.ID+1); !fault.Is(err, fault.NotFound) {
			t.Errorf("another id: %v", err)
		}
		if trail := trailOf(t, s); strings.Contains(trail, "signature-of") || !strings.Contains(trail, "08:30") {
			t.Errorf("the audit trail has %s", trail)
		}
	})
}

func TestSavingAReport(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		first, other := saveReport(t, s, someReport("stale"), flowURL("a")), saveReport(t, s, someReport("other"), flowURL("b"))
		invalid := func(what string, r notify.Report, url string) {
			if _, err := s.SaveReport(t.Context(), ada, r, url, reportDay); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %v, want invalid", what, err)
			}
		}
		invalid("a new one without a URL", someReport("new"), "")
		invalid("a new one with a mask", someReport("new"), first.Channel.Mask)
		elsewhere := first.Report
		elsewhere.RepositoryKey = "hull"
		invalid("another repository", elsewhere, "")

		edit := first.Report
		edit.Name, edit.RepositoryKey = "stale, renamed", ""
		kept := saveReport(t, s, edit, first.Channel.Mask)
		if kept.ChannelID != first.ChannelID || kept.Version != 2 || kept.Name != "stale, renamed" || kept.RepositoryKey != "Canoe" {
			t.Errorf("saved with its mask: %+v", kept)
		}
		if _, err := s.SaveReport(t.Context(), ada, edit, "", reportDay); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "version 2: ada changed name at") {
			t.Errorf("a stale version: %v", err)
		}
		edit.Version = 0
		if moved := saveReport(t, s, edit, flowURL("b")); moved.ChannelID != other.ChannelID || moved.Version != 3 {
			t.Errorf("with another URL: %+v", moved)
		}
		if _, url, err := s.Channel(t.Context(), first.ChannelID); err != nil || !url.IsZero() {
			t.Errorf("the URL that no report uses any more is still there: %v", err)
		}
	})
}

// Saving and enabling never catch up, and a save that does not touch the schedule
// costs no run.
func TestWhenASavedReportIsDue(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		nine, late := reportDay.Add(9*time.Hour), reportDay.Add(9*time.Hour+time.Minute)
		want := func(what string, got notify.ReportInfo, err error, due time.Time, turns int) {
			t.Helper()
			if err != nil || !got.NextRunAt.Equal(due) {
				t.Errorf("%s: due at %s, want %s, %v", what, got.NextRunAt, due, err)
			}
			if found, err := s.DueReports(t.Context(), late, 10); err != nil || len(found) != turns {
				t.Errorf("%s: %d reports have their turn, want %d, %v", what, len(found), turns, err)
			}
		}
		want("new", info, nil, nine, 1)
		info.Name = "renamed just when it is due"
		got, err := s.SaveReport(t.Context(), ada, info.Report, "", late)
		want("renamed", got, err, nine, 1)
		got.Time = "08:00"
		got, err = s.SaveReport(t.Context(), ada, got.Report, "", late)
		want("another time, which is over", got, err, reportDay.Add(32*time.Hour), 0)
		got.Time = "09:00"
		got, err = s.SaveReport(t.Context(), ada, got.Report, "", late)
		want("the first time, which is over", got, err, reportDay.Add(33*time.Hour), 0)
		got, err = s.EnableReport(t.Context(), ada, got.ID, 0, false, reportDay)
		want("disabled", got, err, time.Time{}, 0)
		got, err = s.EnableReport(t.Context(), ada, got.ID, 0, true, late)
		want("enabled", got, err, reportDay.Add(33*time.Hour), 0)
		if again, err := s.EnableReport(t.Context(), ada, got.ID, 0, true, late); err != nil || again.Version != got.Version {
			t.Errorf("enabled twice: version %d, want %d, %v", again.Version, got.Version, err)
		}
	})
}

func TestListsOfReports(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		for _, r := range []struct{ name, project, repository string }{
			{"c", "ATL", "canoe"}, {"a", "atl", "CANOE"}, {"b", "ATL", "hull"}, {"d", "OTH", "canoe"},
		} {
			draft := someReport(r.name)
			draft.ProjectKey, draft.RepositoryKey = r.project, r.repository
			saveReport(t, s, draft, flowURL(r.name))
		}
		names := func(list []notify.ReportInfo, err error) string {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range list {
				names = append(names, list[i].Name)
			}
			return strings.Join(names, " ")
		}
		if got := names(s.ListReports(t.Context(), notify.ReportQuery{Connection: "dc", ProjectKey: "Atl", RepositoryKey: "Canoe"})); got != "a c" {
			t.Errorf("of one repository: %s", got)
		}
		all := func(*notify.Report) bool { return true }
		page := notify.ReportPage{Limit: 3, Visible: all}
		first, err := s.PageReports(t.Context(), page)
		if got := names(first, err); got != "a b c" {
			t.Errorf("the first page: %s", got)
		}
		page.AfterName, page.AfterID = first[2].Name, first[2].ID
		if got := names(s.PageReports(t.Context(), page)); got != "d" {
			t.Errorf("the second page: %s", got)
		}
		some := notify.ReportPage{Limit: 1, Visible: func(r *notify.Report) bool { return r.ProjectKey == "OTH" }}
		if got := names(s.PageReports(t.Context(), some)); got != "d" {
			t.Errorf("those of one project that who asks administers: %s", got)
		}
		if got := names(s.PageReports(t.Context(), notify.ReportPage{Connection: "none", Limit: 9, Visible: all})); got != "" {
			t.Errorf("of another connection: %q", got)
		}
		if got := names(s.PageReports(t.Context(), notify.ReportPage{Project: "atl", Repository: "hull", Limit: 9, Visible: all})); got != "b" {
			t.Errorf("by keys: %s", got)
		}
	})
}

// A report moves with its repository, and keeps others from moving onto it.
func TestReportsFollowARename(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		accept(t, s, webhook("w1", *repositoryRenamed("ATL", "canoe", "proa")))
		if now := reportNow(t, s, info.ID); now.RepositoryKey != "proa" || now.Version != 2 || now.UpdatedBy != "dc" || !now.NextRunAt.Equal(info.NextRunAt) {
			t.Errorf("after its repository's rename: %+v", now)
		}
		accept(t, s, webhook("w2", *projectRenamed("ATL", "SEA")))
		if now := reportNow(t, s, info.ID); now.ProjectKey != "SEA" || now.RepositoryKey != "proa" {
			t.Errorf("after its project's rename: %+v", now)
		}
		rule := ruleAt(t, s, "moves", "SEA", "hull")
		accept(t, s, webhook("w3", *repositoryRenamed("SEA", "hull", "proa")))
		wantKeys(t, s, rule, "SEA", "hull")
		if list := offered(t, s); len(list) != 1 || list[0].Reason != notify.Occupied || list[0].There.String() != "1 report" {
			t.Errorf("offered %+v", list)
		}
	})
}

func TestAConnectionWithReportsStays(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if _, _, err := s.CreateConnection(t.Context(), ada, notify.Connection{Name: "more", Kind: "bitbucket-dc", BaseURL: "https://git.example.com"}, nil); err != nil {
			t.Fatal(err)
		}
		r := someReport("stale")
		r.Connection = "more"
		info := saveReport(t, s, r, flowURL("a"))
		if err := s.DeleteConnection(t.Context(), ada, "more", 0); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "1 activity report") {
			t.Errorf("with a report: %v", err)
		}
		if err := s.DeleteReport(t.Context(), ada, info.ID, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteConnection(t.Context(), ada, "more", 0); err != nil {
			t.Error(err)
		}
	})
}

// A channel that reports alone use is listed, named and kept like any other.
func TestChannelOfReports(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		info := saveReport(t, s, someReport("stale"), flowURL("a"))
		crew := notify.ChannelChange{ChannelDraft: notify.ChannelDraft{Name: "Crew", Format: notify.Auto}}
		if _, err := s.SaveChannel(t.Context(), ada, info.ChannelID, crew, func(*notify.ChannelInfo) error { return nil }); err != nil {
			t.Fatal(err)
		}
		found, err := s.ListChannels(t.Context(), notify.ChannelPage{Limit: 10, Visible: func(*notify.ChannelInfo) bool { return true }})
		if err != nil || len(found) != 1 || found[0].Name() != "Crew" || len(found[0].Reports) != 1 || found[0].Mask != info.Channel.Mask {
			t.Fatalf("listed %+v, %v", found, err)
		}
		if one, err := s.ChannelOf(t.Context(), info.Channel.Fingerprint); err != nil || one.Reports[0].ID != info.ID {
			t.Errorf("found %+v, %v", one, err)
		}
		rule := save(t, s, someRule("also"), flowURL("a"))
		if err := s.DeleteRule(t.Context(), ada, rule.ID, 0); err != nil {
			t.Fatal(err)
		}
		if _, url, err := s.Channel(t.Context(), info.ChannelID); err != nil || url.IsZero() {
			t.Errorf("the URL went with the rule: %v", err)
		}
	})
}
