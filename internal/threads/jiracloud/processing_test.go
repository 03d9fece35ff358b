package jiracloud_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// limited is a 429 that soon passes.
func limited() *cloudsite.Reaction {
	return &cloudsite.Reaction{Status: 429, Header: map[string]string{"Content-Type": "application/json", "Retry-After": "0.001"}}
}

// data is that of eight issues with five replies each and one with 1,500, whose
// map needs two parts.
func data() (records []threads.Record, mappings []threads.IDMapping) {
	records, mappings = threadstest.Many(40, 5)
	more, moreMappings := threadstest.Many(1500, 1500)
	for i := range more {
		more[i].IssueID += 1000
		more[i].CommentID += 10_000_000_000
		more[i].ParentCommentID += 10_000_000_000
	}
	for i, m := range moreMappings {
		add := int64(10_000_000_000)
		if m.EntityType == threads.EntityIssue {
			add = 1000
		}
		moreMappings[i].ServerID, moreMappings[i].CloudID = m.ServerID+add, m.CloudID+add
	}
	return append(records, more...), append(mappings, moreMappings...)
}

// From two files to properties, on a site that limits, loses connections, does
// not have one of the issues and forbids another, and once refuses the token.
func TestWholeWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		refused := map[int64]threads.Reason{3_010_001: threads.TargetNotFound, 3_010_003: threads.TargetForbidden}
		script := map[int64]cloudsite.Reaction{
			3: *limited(), 4: *limited(),
			7:  {Then: cloudsite.HangUp},
			11: {Apply: true, Then: cloudsite.HangUp},
			14: {Status: 401, Header: map[string]string{"Content-Type": "application/json"}},
		}
		site, target := play(t, cloudsite.Options{
			Missing:  func(issue int64) bool { return refused[issue] == threads.TargetNotFound },
			ReadOnly: func(issue int64) bool { return refused[issue] == threads.TargetForbidden },
			React: func(r cloudsite.Request) *cloudsite.Reaction {
				if reaction, ok := script[r.Number]; ok {
					return &reaction
				}
				return nil
			},
		})
		r := newRig(t, d, site, target)
		r.work(4)
		defer r.end()
		records, mappings := data()
		r.load(records, mappings)
		r.await(threads.PhaseReady)
		r.operate(threads.OpStart)
		m := r.await(threads.PhaseFailed)
		if !strings.Contains(m.Message, "does not accept the e-mail address and the API token") || strings.Contains(m.Message, token) {
			t.Error(m.Message)
		}
		r.operate(threads.OpContinue)
		m = r.await(threads.PhaseCompleted)
		r.check(records, mappings, nil, refused)
		if diff := cmp.Diff([]threads.ErrorGroup{
			{Reason: threads.TargetNotFound, Answer: threads.Answer{Status: 404, Text: "Issue does not exist or you do not have permission to see it."}, Records: 5},
			{Reason: threads.TargetForbidden, Answer: threads.Answer{Status: 403, Text: "You do not have permission to edit issues in this project."}, Records: 5},
		}, m.Groups.Counted()); diff != "" {
			t.Error(diff)
		}
		if c := site.Counts(); c.WritesAtOnce != 1 || c.AtOnce > 4 || m.Retryable < 3 {
			t.Errorf("%+v; %d were retried", c, m.Retryable)
		}
		// Once more: there is nothing to write.
		writes := site.Counts().Writes
		r.operate(threads.OpReset)
		r.load(records, mappings)
		r.await(threads.PhaseReady)
		r.operate(threads.OpStart)
		r.await(threads.PhaseCompleted)
		r.check(records, mappings, nil, refused)
		if again := site.Counts().Writes - writes; again != 1 { // to the issue that it may not edit
			t.Errorf("%d writes more", again)
		}
	}, schema...)
}

// Nine rate limits in a row are waited for; the tenth stops, and continuing
// finishes.
func TestTenRateLimits(t *testing.T) {
	for limits, stops := range map[int]bool{9: false, 10: true} {
		synctest.Test(t, func(t *testing.T) {
			site, target := play(t, cloudsite.Options{})
			d := dbtest.SQLite(t, schema...)
			if err := d.Migrate(t.Context(), schema...); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, d, site, target)
			r.work(1)
			defer r.end()
			records, mappings := threadstest.Many(40, 5)
			r.load(records, mappings)
			r.await(threads.PhaseReady)
			site.SetFaultMode(cloudsite.TooOften, limits)
			begun := time.Now()
			r.operate(threads.OpStart)
			if stops {
				m := r.await(threads.PhasePaused)
				if !strings.Contains(m.Message, "10 times in a row") || site.Counts().Limited != 10 {
					t.Errorf("%s; %+v", m.Message, site.Counts())
				}
				r.operate(threads.OpContinue)
			}
			if m := r.await(threads.PhaseCompleted); m.Retryable != int64(limits) {
				t.Errorf("%d limits: %d were retried", limits, m.Retryable)
			}
			if took := time.Since(begun); took < time.Duration(limits)*5*time.Second {
				t.Errorf("%d waits of 5 s took %v", limits, took)
			}
			r.check(records, mappings, nil, nil)
		})
	}
}

// patience is many times what a history takes on a busy machine.
const patience = time.Minute

// modelChecks is how many histories are tried where the flag says nothing.
const modelChecks = 10

// TestModel migrates files with everything wrong with them, onto issues some of
// which have large maps, while processes die, lose their leases and are stopped,
// and the site limits after it has done or has not done what was asked; in the
// end the site has what the model says.
func TestModel(t *testing.T) {
	defer dbtest.Checks(modelChecks)()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		rapid.Check(t, func(rt *rapid.T) { history(t, rt, d) })
	}, schema...)
}

func history(t *testing.T, rt *rapid.T, d *db.DB) {
	records := threadstest.Records(rt)
	mappings := threadstest.Collide(rt, threadstest.Mappings(rt, records))
	refused, before := map[int64]threads.Reason{}, map[int64]threads.ParentMap{}
	issues := slices.Sorted(maps.Keys(threadstest.NewModel(records, mappings).Maps))
	for _, issue := range issues {
		switch rapid.SampledFrom([]string{"", "", "large", "small", "missing", "forbidden"}).Draw(rt, "issue") {
		case "large":
			before[issue] = many(742, 5) // a few more need a second part
		case "small":
			before[issue] = many(2, 5)
		case "missing":
			refused[issue] = threads.TargetNotFound
		case "forbidden":
			refused[issue] = threads.TargetForbidden
		}
	}
	if len(refused) > 0 && len(refused) == len(issues) {
		delete(refused, issues[0]) // a migration does not begin where every issue is refused
	}
	faults := rapid.SampledFrom([]int{0, 6, 12}).Draw(rt, "faults")
	var playing atomic.Bool
	site, target := play(t, cloudsite.Options{
		Missing:  func(issue int64) bool { return refused[issue] == threads.TargetNotFound },
		ReadOnly: func(issue int64) bool { return refused[issue] == threads.TargetForbidden },
		React: func(r cloudsite.Request) *cloudsite.Reaction {
			if !playing.Load() {
				return nil
			}
			<-time.After(rand.N(200 * time.Microsecond))
			if faults == 0 || rand.N(faults) != 0 {
				return nil
			}
			reaction := limited()
			reaction.Apply = refused[r.Issue] == "" && rand.N(2) == 0
			return reaction
		},
	})
	target.Hurry()
	for issue, m := range before {
		write(t, target, issue, m)
	}
	playing.Store(true)
	r := newRig(rt, d, site, target)
	defer r.end()
	r.work(4)
	r.load(records, mappings)
	for _, event := range rapid.SliceOfN(rapid.SampledFrom([]string{"stop", "kill", "lose", "restart", "nothing"}), 0, 4).Draw(rt, "events") {
		<-time.After(rand.N(6 * time.Millisecond))
		r.happens(event)
	}
	for until := time.Now().Add(patience); r.goOn() != threads.PhaseCompleted; <-time.After(time.Millisecond) {
		if time.Now().After(until) {
			rt.Fatalf("it does not end: %+v", r.migration())
		}
	}
	r.end() // what a worker that lost its lease has sent arrives
	playing.Store(false)
	r.check(records, mappings, before, refused)
	r.operate(threads.OpReset)
}

// happens has something happen, whatever goes on.
func (r *rig) happens(event string) {
	last := r.workers[len(r.workers)-1]
	switch event {
	case "stop":
		if r.goOn() == threads.PhaseProcessing {
			// It may be over by now.
			_, _ = r.store.Operate(r.t.Context(), threads.OpStop, threads.Wish{})
		}
	case "kill": // nothing that it has in memory is stored any more
		last.settled(r.t)
		r.work(4)
		last.Stop()
	case "lose": // and it goes on, not knowing
		r.work(4)
	case "restart":
		last.Stop()
		r.work(4)
	}
	r.goOn()
}

// goOn does what an administrator would do next, and returns the phase.
func (r *rig) goOn() threads.Phase {
	m := r.migration()
	op := map[threads.Phase]threads.Operation{
		threads.PhaseReady: threads.OpStart, threads.PhasePaused: threads.OpContinue, threads.PhaseFailed: threads.OpContinue,
	}[m.Phase]
	switch {
	case op != "":
		_, _ = r.store.Operate(r.t.Context(), op, threads.Wish{})
	case m.Phase == threads.PhaseEmpty, m.Phase == threads.PhaseCancelled:
		r.t.Fatalf("the load failed, or it was cancelled: %+v", m)
	}
	return m.Phase
}
