package jiracloud_test

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// While a migration is undone others have changed two of its issues, a third is not
// visible, and a fourth may not be written. What others changed is left and counted,
// the others stay to be undone, each for its own reason, and are when that is over.
// Twice, since what undoing has left is not to be mistaken for the next one's.
func TestUndoOverOthersChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(30, 3)
		issues := slices.Sorted(maps.Keys(threadstest.NewModel(records, mappings).Maps))
		changed, hidden, locked := []int64{issues[2], issues[5]}, issues[7], issues[8]
		var trouble atomic.Bool
		site, target := play(t, cloudsite.Options{
			Missing:  func(issue int64) bool { return trouble.Load() && issue == hidden },
			ReadOnly: func(issue int64) bool { return trouble.Load() && issue == locked },
		})
		r := newRig(t, d, site, target)
		defer r.end()
		r.work(4)
		for range 2 {
			r.load(records, mappings)
			r.await(threads.PhaseReady)
			r.operate(threads.OpStart)
			r.await(threads.PhaseCompleted)
			for _, issue := range changed {
				site.SetProperty(issue, "outrigger.threads", `{"by":"another app"}`)
			}
			trouble.Store(true)
			r.operate(threads.OpUndo)
			m := r.await(threads.PhaseFailed)
			for _, text := range []string{
				"8 issues were undone.", "The target forbids writing to 1 issue (the last answer: 403", "Give the account the permission to edit issues.",
				"The target does not show 1 issue (the last answer: 404", "In 2 issues, threads that others changed since were left as they are.", "Continue tries these again",
			} {
				if !strings.Contains(m.Message, text) {
					t.Errorf("%q is missing in %q", text, m.Message)
				}
			}
			if m.Kept != 2 || m.Undone != 8 {
				t.Errorf("undone %d, kept %d", m.Undone, m.Kept)
			}
			r.left(map[int64]threads.Reason{
				changed[0]: threads.ChangedByOthers, changed[1]: threads.ChangedByOthers, hidden: threads.TargetNotFound, locked: threads.TargetForbidden,
			})
			trouble.Store(false)
			r.operate(threads.OpContinue)
			m = r.await(threads.PhaseEmpty)
			if m.Kept != 2 || m.Undone != 10 || !strings.HasSuffix(m.Message, "In 2 issues, threads that others changed since were left as they are.") {
				t.Errorf("%+v", m)
			}
			r.left(map[int64]threads.Reason{changed[0]: threads.ChangedByOthers, changed[1]: threads.ChangedByOthers})
			for _, issue := range issues {
				value, there := site.Property(issue, "outrigger.threads")
				if there != slices.Contains(changed, issue) || there && value != `{"by":"another app"}` {
					t.Errorf("issue %d has %q", issue, value)
				}
			}
			for _, issue := range changed { // others clear up
				site.SetProperty(issue, "outrigger.threads", `{"v":1,"generation":1,"parents":{}}`)
			}
		}
	}, schema...)
}

// left checks which issues undoing has left, and why.
func (r *rig) left(want map[int64]threads.Reason) {
	r.t.Helper()
	list, err := r.store.UndoLeft(r.t.Context(), 0)
	if err != nil {
		r.t.Fatal(err)
	}
	got := map[int64]threads.Reason{}
	for _, l := range list {
		got[l.CloudIssueID] = l.Reason
		if l.Reason != threads.ChangedByOthers && l.Answer.Status == 0 || l.IssueID == 0 {
			r.t.Fatalf("%+v", l)
		}
	}
	if !maps.Equal(got, want) {
		r.t.Fatalf("undoing has left %v, want %v", got, want)
	}
}

// A migration says of issues that others changed that they are, and not that the
// account has no permission; a retry writes them when they are cleared up.
func TestMigrationOverOthersChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(90, 3)
		issues := slices.Sorted(maps.Keys(threadstest.NewModel(records, mappings).Maps))
		site, target := play(t, cloudsite.Options{})
		for _, issue := range issues[:25] { // more than a row of refusals would take
			site.SetProperty(issue, "outrigger.threads", `{"by":"another app"}`)
		}
		r := newRig(t, d, site, target)
		defer r.end()
		r.work(4)
		r.load(records, mappings)
		r.await(threads.PhaseReady)
		r.operate(threads.OpStart)
		m := r.await(threads.PhaseCompleted)
		groups := m.Groups.Counted()
		if len(groups) != 1 || groups[0].Reason != threads.ChangedByOthers || groups[0].Records != 75 || !strings.Contains(groups[0].Answer.Text, "is not as Outrigger writes it") {
			t.Errorf("%+v", groups)
		}
		for _, issue := range issues[:25] {
			site.SetProperty(issue, "outrigger.threads", `{"v":1,"generation":1,"parents":{}}`)
		}
		r.operate(threads.OpRetry)
		if m := r.await(threads.PhaseCompleted); m.Permanent != 0 || m.ParentMaps != 90 {
			t.Errorf("%+v", m)
		}
	}, schema...)
}
