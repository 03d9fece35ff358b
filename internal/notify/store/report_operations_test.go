package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// listed is a platform that answers with this, and counts.
type listed struct {
	asked int
	list  []notify.OpenPullRequest
	err   error
}

func (l *listed) OpenPullRequests(context.Context, *notify.Connection, notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	l.asked++
	return l.list, l.err
}

// operations are those on the reports of a store, and what they post.
func operations(s *store.Store) (ops *admin.Reports, platform *listed, posted *[]string) {
	platform, posted = &listed{list: make([]notify.OpenPullRequest, 3)}, new([]string)
	ops = &admin.Reports{
		Store: s, Lister: platform, Zone: "Asia/Kolkata", Clock: func() time.Time { return store.ReportDay },
		PullRequests: func(*notify.Connection, notify.RepositoryRef) string { return "" },
		CheckURL:     func(string) error { return nil }, CautionURL: func(context.Context, string) string { return "" },
		Write: func(e *notify.Event, f notify.Format) []byte { return []byte(e.Report.Name + " " + string(f)) },
		Tests: &admin.TestMessages{Store: s, Post: func(_ context.Context, url secret.Value, message []byte) *work.Attempt {
			*posted = append(*posted, url.Reveal()+" "+string(message))
			return &work.Attempt{Status: 202}
		}},
	}
	return ops, platform, posted
}

func TestWhoMayDoWhatWithReports(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		ops, platform, _ := operations(s)
		info := store.SaveReport(t, s, store.SomeReport("stale"), store.FlowURL("a"))
		draft := info.Report
		draft.Version = 0
		for name, do := range map[string]func(ctx context.Context) error{
			"list": func(ctx context.Context) error {
				_, err := ops.List(ctx, notify.ReportQuery{ProjectKey: "ATL", RepositoryKey: "canoe"})
				return err
			},
			"get":  func(ctx context.Context) error { _, err := ops.Get(ctx, info.ID); return err },
			"save": func(ctx context.Context) error { _, err := ops.Save(ctx, draft, "", nil); return err },
			"create": func(ctx context.Context) error {
				_, err := ops.Save(ctx, store.SomeReport("new"), store.FlowURL("b"), nil)
				return err
			},
			"enable": func(ctx context.Context) error { _, err := ops.Enable(ctx, info.ID, 0, true); return err },
			"view":   func(ctx context.Context) error { _, err := ops.View(ctx, info.ID); return err },
			"test":   func(ctx context.Context) error { _, err := ops.Test(ctx, draft, "", nil); return err },
		} {
			if err := do(store.Administers(t, "Canoe")); err != nil {
				t.Errorf("%s: who administers the repository: %v", name, err)
			}
			asked := platform.asked
			if err := do(store.Administers(t, "hull")); !fault.Is(err, fault.Forbidden) || platform.asked != asked {
				t.Errorf("%s: who administers another one: %v, and the platform is asked %d times", name, err, platform.asked-asked)
			}
		}
		if err := ops.Delete(store.Administers(t, "hull"), info.ID, 0); !fault.Is(err, fault.Forbidden) {
			t.Errorf("delete: %v", err)
		}
		if page, err := ops.Page(store.Administers(t, "hull"), notify.ReportPage{Limit: 10}); err != nil || len(page) != 0 {
			t.Errorf("a page of %d, %v", len(page), err)
		}
		root := store.As(t, identity.Grant{Permission: identity.SysAdmin})
		if _, err := ops.Get(root, info.ID+100); !fault.Is(err, fault.NotFound) {
			t.Errorf("an unknown id, by a SYS_ADMIN: %v", err)
		}
	})
}

// Everything that is wrong is named at once, also what the caller found.
func TestSavingAReportNamesEverything(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		ops, _, _ := operations(s)
		var wrong fault.Fields
		wrong.Add("version", "It is no number.")
		_, err := ops.Save(store.Administers(t, "canoe"), notify.Report{Connection: "gone", ProjectKey: "A/B"}, "", wrong)
		var got []string
		for _, f := range fault.As(err).Fields {
			got = append(got, f.Name)
		}
		slices.Sort(got)
		want := []string{"connection", "frequency", "inactivityDays", "name", "projectKey", "repositoryKey", "time", "version", "webhookUrl"}
		if !slices.Equal(got, want) {
			t.Errorf("it names %v, want %v", got, want)
		}
	})
}

// The server's zone is kept with the report, whatever that is later.
func TestAReportKeepsTheServersZone(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		ops, _, _ := operations(s)
		draft := store.SomeReport("stale")
		draft.TimeZone = ""
		saved, err := ops.Save(store.Administers(t, "canoe"), draft, store.FlowURL("a"), nil)
		if err != nil || saved.TimeZone != "Asia/Kolkata" || !saved.NextRunAt.Equal(store.ReportDay.Add(3*time.Hour+30*time.Minute)) {
			t.Errorf("in %s, due at %s, %v", saved.TimeZone, saved.NextRunAt, err)
		}
		ops.Zone, draft.ID = "Europe/Berlin", saved.ID
		if saved, err = ops.Save(store.Administers(t, "canoe"), draft, "", nil); err != nil || saved.TimeZone != "Asia/Kolkata" {
			t.Errorf("saved again without a zone: %s, %v", saved.TimeZone, err)
		}
	})
}

func TestTryingAReportOut(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		ops, platform, posted := operations(s)
		ctx := store.Administers(t, "canoe")
		info := store.SaveReport(t, s, store.SomeReport("stale"), store.FlowURL("a"))
		draft := store.SomeReport("not saved")
		draft.ReportSchedule = notify.ReportSchedule{} // when it is due does not matter
		if a, err := ops.Test(ctx, draft, store.FlowURL("b"), nil); err != nil || a.Status != 202 || (*posted)[0] != store.FlowURL("b")+" not saved teams" {
			t.Errorf("a new one: %+v, %v, %v", a, err, *posted)
		}
		draft.ID = info.ID
		if _, err := ops.Test(ctx, draft, info.Channel.Mask, nil); err != nil || (*posted)[1] != store.FlowURL("a")+" not saved teams" {
			t.Errorf("a changed one, to its stored URL: %v, %v", err, *posted)
		}
		if _, err := ops.Test(ctx, draft, "https://example.com/invoke?sig=••••", nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("another's mask: %v", err)
		}
		platform.err = fault.New(fault.Unavailable, "The platform is down for maintenance.")
		if _, err := ops.Test(ctx, draft, "", nil); !fault.Is(err, fault.Unavailable) || fault.As(err).Message != "The platform is down for maintenance." {
			t.Errorf("the platform is away: %v", err)
		}
		if _, err := ops.View(ctx, info.ID); !fault.Is(err, fault.Unavailable) {
			t.Errorf("and for the view: %v", err)
		}
		platform.err = nil
		for range 6 {
			if _, err := ops.Test(ctx, draft, "", nil); err != nil {
				t.Fatal(err)
			}
		}
		asked := platform.asked
		if _, err := ops.Test(ctx, draft, "", nil); !fault.Is(err, fault.RateLimited) || platform.asked != asked {
			t.Errorf("the 11th within a minute: %v, and the platform is asked %d times", err, platform.asked-asked)
		}
		if n := store.Count(t, s, `SELECT count(*) FROM notify_deliveries`); n != 0 || len(*posted) != 8 {
			t.Errorf("%d deliveries, %d posted", n, len(*posted))
		}
		if n := store.Count(t, s, `SELECT count(*) FROM audit_entries WHERE action = 'test' AND object = 'report'`); n != 8 {
			t.Errorf("%d tests in the audit trail", n)
		}
	})
}

func TestViewOfAReport(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		ops, platform, _ := operations(s)
		info := store.SaveReport(t, s, store.SomeReport("stale"), store.FlowURL("a"))
		platform.list[0].Updated = store.ReportDay.Add(-7 * 24 * time.Hour)
		v, err := ops.View(store.Administers(t, "canoe"), info.ID)
		if err != nil || v.Open != 3 || v.Inactive != 1 || !v.AskedAt.Equal(store.ReportDay) || v.Event.Report.Name != "stale" {
			t.Errorf("the view is %+v, %v", v, err)
		}
		if n := store.Count(t, s, `SELECT count(*) FROM notify_events`); n != 0 {
			t.Errorf("it left %d events", n)
		}
	})
}

// What the platform has answered counts, though the time for it ends meanwhile.
func TestAnAnswerAtTheLastMoment(t *testing.T) {
	store.EachStore(t, func(t *testing.T, s *store.Store) {
		ops, platform, _ := operations(s)
		info := store.SaveReport(t, s, store.SomeReport("stale"), store.FlowURL("a"))
		over, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		if e, err := ops.Compose(over, &info.Report); err != nil || e.Report.Open != 3 {
			t.Errorf("%+v, %v", e, err)
		}
		platform.err = context.DeadlineExceeded
		if _, err := ops.Compose(over, &info.Report); !fault.Is(err, fault.Unavailable) {
			t.Errorf("without an answer: %v", err)
		}
	})
}
