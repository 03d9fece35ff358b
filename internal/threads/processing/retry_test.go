package processing

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// compared waits for the comparison that a migration ends with.
func (r *rig) compared() threads.VerifyJob {
	r.t.Helper()
	var v threads.VerifyJob
	if j := r.job(threads.JobVerify, &v); j.State != threads.JobDone {
		r.t.Fatal("the comparison ", j.State, ": ", j.Message)
	}
	return v
}

// What nothing and mayNot make of an answer.
var (
	saidNothing = threads.Answer{Status: 404, Text: "Issue does not exist or you do not have permission to see it."}
	saidMayNot  = threads.Answer{Status: 403, Text: "You do not have permission to edit issues in this project."}
)

// grouped holds the permanent errors to some groups, and each that is listed to
// what the target said.
func (r *rig) grouped(want ...threads.ErrorGroup) {
	r.t.Helper()
	m := r.migration()
	if diff := cmp.Diff(want, m.Groups.Counted()); diff != "" {
		r.t.Error("the groups: ", diff)
	}
	list, err := r.store.Errors(context.Background(), threads.ErrorPlace{}, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	counts := map[threads.ErrorGroup]int64{}
	for _, e := range list {
		counts[threads.ErrorGroup{Reason: e.Reason, Answer: e.Answer}]++
	}
	for _, g := range want {
		n := g.Records
		g.Records = 0
		if counts[g] != n {
			r.t.Error("the list has ", counts[g], " of ", g, ", not ", n)
		}
	}
	if len(counts) != len(want) {
		r.t.Error("the list has ", counts)
	}
}

// A migration ends with a comparison that counts what the target refused; a
// retry asks for that alone, whatever stops it on its way, and then nothing is
// missing.
func TestRetry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(3*40, 3)
		records = append(records, threads.Record{IssueID: 10_000, CommentID: 5, ParentCommentID: 6}) // without a mapping
		issues := sortedIssues(records, mappings)
		refused := map[int64]threads.Reason{}
		for i, issue := range issues {
			switch i {
			case 3, 11, 12, 13, 30:
				refused[issue] = threads.TargetNotFound
			case 5, 39:
				refused[issue] = threads.TargetForbidden
			}
		}
		var asked map[int64]int
		target := play(nil)
		target.set(func(issue int64, write bool) error {
			switch refused[issue] {
			case threads.TargetNotFound:
				return nothing()
			case threads.TargetForbidden:
				if write {
					return mayNot()
				}
			}
			return nil
		})
		r := newRig(t, d, target.memory)
		r.options.ChunkSize, r.options.Requests = 10, 1
		defer r.end()
		r.work()
		if m := r.do(records, mappings); m.Refused != 21 || m.Permanent != 22 {
			t.Errorf("%+v", m)
		}
		r.check(records, mappings, refused)
		r.grouped(
			threads.ErrorGroup{Reason: threads.NoCommentMapping, Records: 1},
			threads.ErrorGroup{Reason: threads.TargetNotFound, Answer: saidNothing, Records: 15},
			threads.ErrorGroup{Reason: threads.TargetForbidden, Answer: saidMayNot, Records: 6},
		)
		if v := r.compared(); v.Relations != 120 || v.Present != 99 || v.Missing != 21 || v.NotCompared != 1 || v.Different != 0 {
			t.Errorf("%+v", v)
		}

		// One of them is still refused; the third stops it.
		delete(refused, issues[39])
		still := maps.Clone(refused)
		maps.DeleteFunc(still, func(issue int64, _ threads.Reason) bool { return issue != issues[12] })
		refused, asked = still, map[int64]int{}
		answer := target.answer
		target.answers(func(n int, issue int64) error {
			if asked[issue]++; issue == issues[11] && asked[issue] == 1 {
				return &threads.TargetError{Kind: threads.TargetRefusesUs, Message: "The token has expired."}
			}
			return answer(n, issue)
		})
		r.operate(threads.OpRetry)
		m := r.await(threads.PhaseFailed)
		if done := m.RecordsDone - (121 - 21); m.Refused != 0 || m.Permanent != 1 || done != 6 || m.ParentMaps != 99+6 || m.ChunksDone != m.Chunks {
			t.Errorf("%+v", m)
		}
		if list := r.errors(); len(list) != 1 {
			t.Error("errors that are tried again are listed: ", list)
		}
		r.grouped(threads.ErrorGroup{Reason: threads.NoCommentMapping, Records: 1})
		r.operate(threads.OpContinue)
		r.await(threads.PhaseCompleted)
		r.check(records, mappings, refused)
		if len(asked) != 7 || asked[issues[11]] != 2 {
			t.Errorf("it asks for %v", asked)
		}
		r.grouped(
			threads.ErrorGroup{Reason: threads.NoCommentMapping, Records: 1},
			threads.ErrorGroup{Reason: threads.TargetNotFound, Answer: saidNothing, Records: 3},
		)
		if v := r.compared(); v.Present != 117 || v.Missing != 3 || v.NotCompared != 1 {
			t.Errorf("%+v", v)
		}
		refused = nil
		r.operate(threads.OpRetry)
		r.await(threads.PhaseCompleted)
		r.check(records, mappings, nil)
		r.grouped(threads.ErrorGroup{Reason: threads.NoCommentMapping, Records: 1})
		if v := r.compared(); v.Present != 120 || v.Missing != 0 || v.NotCompared != 1 {
			t.Errorf("%+v", v)
		}
		if _, err := r.store.Operate(t.Context(), threads.OpRetry, threads.Wish{}); !fault.Is(err, fault.Conflict) {
			t.Error("a retry of nothing: ", err)
		}
		r.operate(threads.OpReset)
	}, schema...)
}

// A site that shows nothing when it is compared is no site without the data.
func TestVerifyOfAnotherSite(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		target := play(nobody)
		records, mappings := threadstest.Many(3*60, 3)
		r := newRig(t, d, target.memory)
		defer r.end()
		r.work()
		r.do(records, mappings)
		if v := r.compared(); v.Present != 180 {
			t.Errorf("%+v", v)
		}
		target.set(func(int64, bool) error { return nothing() })
		if _, err := r.store.Verify(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		var v threads.VerifyJob
		if j := r.job(threads.JobVerify, &v); j.State != threads.JobFailed || j.Message == "" {
			t.Errorf("%+v", j)
		}
	})
}
