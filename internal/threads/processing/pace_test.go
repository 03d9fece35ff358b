package processing

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// Nine rate limits in a row are waited out; whether and how long the target
// says to wait.
func TestNineRateLimits(t *testing.T) {
	for _, c := range []struct {
		name  string
		wait  time.Duration
		waits []time.Duration
	}{
		{"for as long as it says", 20 * time.Second, slices.Repeat([]time.Duration{20 * time.Second}, 9)},
		{"longer and longer where it does not say", 0, []time.Duration{
			time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, time.Minute, time.Minute, time.Minute}},
	} {
		t.Run(c.name, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				target := newScripted(slices.Repeat([]error{limited(c.wait)}, 4+8)...) // the first four are one
				r := begin(t, d, target, 20)
				defer r.end()
				r.finishes(20)
				if m := r.migration(); m.Retryable != 12 || m.Pace.RateLimits != 0 || m.Message != "" {
					t.Errorf("%+v", m)
				}
				if gaps := target.gaps(); !slices.Equal(gaps, c.waits) {
					t.Errorf("it waits %v", gaps)
				}
			})
		})
	}
}

// The tenth stops processing, also where several requests were under way at
// the first: those are one.
func TestTenRateLimits(t *testing.T) {
	for _, c := range []struct {
		name    string
		wait    time.Duration
		message string
	}{
		{"declared", 90 * time.Second, "The target answered 10 times in a row that it is asked too often. The last answer: too often. Continue after %s."},
		{"not declared", 0, "The target answered 10 times in a row that it is asked too often. The last answer: too often. Continue in a while."},
	} {
		t.Run(c.name, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				target := newScripted(slices.Repeat([]error{limited(c.wait)}, 4+9)...)
				r := begin(t, d, target, 20)
				defer r.end()
				m := r.await(threads.PhasePaused)
				last := target.times()[len(target.times())-1]
				if c.wait > 0 {
					c.message = fmt.Sprintf(c.message, last.Add(c.wait).UTC().Format(time.RFC3339))
				}
				if m.Message != c.message || m.Retryable != 13 || m.Pace.RateLimits != 10 || m.Issues != 0 || len(target.times()) != 13 {
					t.Errorf("after %d requests: %+v", len(target.times()), m)
				}
				r.operate(threads.OpContinue)
				r.finishes(20)
				again := target.times()[13].Sub(last)
				if c.wait > 0 && again < c.wait || c.wait == 0 && again > 5*time.Second {
					t.Errorf("continue asks after %s", again)
				}
				if target.times()[17].Sub(target.times()[13]) > 20*time.Millisecond {
					t.Error("it is still careful after a success")
				}
				if m := r.migration(); m.Retryable != 13 || m.Pace.RateLimits != 0 {
					t.Errorf("%+v", m)
				}
			})
		})
	}
}

// A success between sets the count back, and a failure of another kind does not
// count.
func TestRateLimitsInARow(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		answers := slices.Repeat([]error{limited(time.Second)}, 4+8) // nine
		target := newScripted(slices.Concat(answers, []error{nil}, answers[:4+4], []error{fails(time.Second)}, answers[:4])...)
		r := begin(t, d, target, 20)
		defer r.end()
		r.finishes(20)
		if m := r.migration(); m.Retryable != 12+8+1+4 {
			t.Errorf("%+v", m)
		}
	})
}

// While a wait goes on it is shown, nothing is sent, and who takes over waits
// on and counts on.
func TestTakeoverKeepsWaitAndCount(t *testing.T) {
	for _, how := range []string{"killed", "stopped by its node"} {
		t.Run(how, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				target := newScripted(slices.Repeat([]error{limited(2 * time.Minute)}, 4+9)...)
				r := begin(t, d, target, 20)
				defer r.end()
				<-time.After(10*time.Minute + 30*time.Second) // the sixth wait
				for range 3 {
					m := r.migration()
					if m.Phase != threads.PhaseProcessing || m.Pace.RateLimits != 6 || !m.Pace.Declared || time.Until(m.Pace.WaitUntil).Round(10*time.Second) != 90*time.Second {
						t.Fatalf("at %s: %+v", time.Now(), m)
					}
					first := r.workers[len(r.workers)-1]
					if how == "killed" {
						r.work()
						first.Stop()
					} else {
						first.Stop()
						r.work()
					}
					<-time.After(time.Second)
				}
				r.holds(target.all()) // what went well is known, whatever comes now
				if n := target.requests(); n != 4+5 {
					t.Error(n, "requests")
				}
				if m := r.await(threads.PhasePaused); m.Pace.RateLimits != 10 || m.Retryable != 13 {
					t.Errorf("%+v", m)
				}
			})
		})
	}
}

// Other failures are asked again, for half an hour without one success.
func TestFailures(t *testing.T) {
	t.Run("that pass", func(t *testing.T) {
		quick(t, func(t *testing.T, d *db.DB) {
			target := newScripted(append(slices.Repeat([]error{fails(0)}, 20), errors.New("no TargetError at all"), fails(15*time.Minute))...)
			r := begin(t, d, target, 20)
			defer r.end()
			r.finishes(20)
			if m := r.migration(); m.Retryable != 22 {
				t.Errorf("%+v", m)
			}
		})
	})
	t.Run("that do not", func(t *testing.T) {
		quick(t, func(t *testing.T, d *db.DB) {
			target := newScripted(slices.Repeat([]error{fails(0)}, 1000)...)
			r := begin(t, d, target, 20)
			defer r.end()
			started := time.Now()
			m := r.await(threads.PhasePaused)
			if took := time.Since(started); took < 30*time.Minute || took > 32*time.Minute {
				t.Errorf("it stops after %s", took)
			}
			if want := "The target has failed since " + target.times()[3].UTC().Format(time.RFC3339) + " without one success. The last answer: 502. Continue when it answers again."; m.Message != want {
				t.Errorf("%s, not %s", m.Message, want)
			}
			target.mu.Lock()
			target.script = nil
			target.mu.Unlock()
			r.operate(threads.OpContinue)
			r.finishes(20)
		})
	})
	t.Run("of one issue", func(t *testing.T) {
		quick(t, func(t *testing.T, d *db.DB) {
			target := newScripted()
			_, mappings := threadstest.Many(3*20, 3)
			bad, begun := int64(0), time.Now()
			for _, m := range mappings {
				if m.EntityType == threads.EntityIssue && bad == 0 {
					bad = m.CloudID
				}
			}
			answer := target.answer
			target.answer = func(n int, issue int64) error {
				if err := answer(n, issue); err != nil || issue != bad || time.Since(begun) > 20*time.Minute {
					return err
				}
				return fails(0)
			}
			r := begin(t, d, target, 20)
			defer r.end()
			<-time.After(time.Minute)
			if m := r.migration(); m.Phase != threads.PhaseProcessing || len(target.all()) != 19 {
				t.Errorf("of 20 issues with a bad one %d are done: %+v", len(target.all()), m)
			}
			r.finishes(20)
		})
	})
}

// An issue that the target does not have is an error of its records; one that
// it forbids too, unless it forbids everything.
func TestRefusals(t *testing.T) {
	missing, forbidden, refused := &threads.TargetError{Kind: threads.TargetMissing}, &threads.TargetError{Kind: threads.TargetForbids},
		&threads.TargetError{Kind: threads.TargetRefusesUs, Message: "The target does not accept the credentials."}
	t.Run("of issues", func(t *testing.T) {
		quick(t, func(t *testing.T, d *db.DB) {
			records, mappings := threadstest.Many(3*40, 3)
			model := threadstest.NewModel(records, mappings)
			refusals, n := map[int64]threads.Reason{}, 0
			for issue := range model.Maps {
				switch n++; {
				case n <= 5:
					refusals[issue] = threads.TargetNotFound
				case n <= 5+19:
					refusals[issue] = threads.TargetForbidden
				}
			}
			target := newMemory(func(_ int, issue int64) error {
				switch refusals[issue] {
				case threads.TargetNotFound:
					return missing
				case threads.TargetForbidden:
					return forbidden
				}
				return nil
			})
			r := newRig(t, d, target)
			r.work()
			defer r.end()
			r.do(records, mappings)
			r.check(records, mappings, refusals)
		})
	})
	t.Run("of us", func(t *testing.T) {
		quick(t, func(t *testing.T, d *db.DB) {
			target := newScripted()
			records, mappings := threadstest.Many(3*60, 3)
			fourth := slices.Sorted(maps.Keys(threadstest.NewModel(records, mappings).Maps))[3]
			mended := false
			target.answer = func(_ int, issue int64) error {
				if issue != fourth || mended {
					<-time.After(time.Millisecond)
					return nil
				}
				<-time.After(10 * time.Millisecond)
				return refused
			}
			r := begin(t, d, target, 60)
			defer r.end()
			if m := r.await(threads.PhaseFailed); m.Message != refused.Message || m.Permanent != 0 || m.Issues != 3 || m.ParentMaps != 9 {
				t.Errorf("%+v", m)
			}
			if n := len(target.all()); n < 20 || n > 40 {
				t.Error(n, "issues are written")
			}
			r.holds(target.all()) // what went well is known, whatever comes now
			mended = true
			r.operate(threads.OpContinue)
			r.finishes(60)
		})
	})
	t.Run("of all issues", func(t *testing.T) {
		quick(t, func(t *testing.T, d *db.DB) {
			target := newScripted(slices.Concat(slices.Repeat([]error{nil}, 8), slices.Repeat([]error{forbidden}, 40))...)
			target.probe = func(_ int64, what threads.Probe) error {
				if what == threads.ProbeWrite {
					return &threads.TargetError{Kind: threads.TargetForbids, Message: "no"}
				}
				return nil
			}
			r := begin(t, d, target, 60)
			defer r.end()
			m := r.await(threads.PhaseFailed)
			const want = "The target forbade 23 issues in a row and 20 others elsewhere in the data. The last answer: no. Give the account the permission to edit issues, then continue."
			if m.Message != want || m.Permanent != 0 || m.Issues > 8 || m.ParentMaps != 3*m.Issues {
				t.Errorf("%+v", m)
			}
			r.holds(target.all())
			if n := target.requests(); n > 8+20+3 {
				t.Error(n, "requests")
			}
			target.mu.Lock()
			target.script = nil
			target.mu.Unlock()
			r.operate(threads.OpContinue)
			r.finishes(60)
		})
	})
}

// While requests fail, the status says since when and what the target says; a
// success takes the message away.
func TestTroubleIsSaid(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		away := &threads.TargetError{Message: "The cloud site answered 503", Said: "Down for maintenance until noon.", Wait: time.Hour, Declared: true}
		target := newScripted(slices.Repeat([]error{away}, 4)...)
		r := begin(t, d, target, 20)
		defer r.end()
		<-time.After(30 * time.Minute)
		synctest.Wait()
		want := "No request to the target has succeeded since " + target.times()[0].UTC().Format(time.RFC3339) +
			". The last answer: The cloud site answered 503: Down for maintenance until noon."
		if m := r.migration(); m.Message != want || m.Phase != threads.PhaseProcessing {
			t.Errorf("%s: %s", m.Phase, m.Message)
		}
		r.work() // a takeover forgets nothing
		<-time.After(time.Minute)
		if m := r.migration(); m.Message != want {
			t.Error(m.Message)
		}
		r.finishes(20)
		if m := r.migration(); m.Message != "" {
			t.Error(m.Message)
		}
	})
}

// After a stop, processing that is continued does not wait for what the target
// asked for.
func TestStopEndsWait(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		target := newScripted(slices.Repeat([]error{limited(24 * time.Hour)}, 4)...)
		r := begin(t, d, target, 20)
		defer r.end()
		<-time.After(time.Minute)
		r.operate(threads.OpStop)
		if m := r.migration(); !m.Pace.WaitUntil.IsZero() {
			t.Errorf("%+v", m.Pace)
		}
		continued := time.Now()
		r.operate(threads.OpContinue)
		r.finishes(20)
		if took := time.Since(continued); took > time.Minute {
			t.Errorf("it waits %s after continue", took)
		}
	})
}

// Waits for the target are time of processing, and pauses are none.
func TestWorked(t *testing.T) {
	quick(t, func(t *testing.T, d *db.DB) {
		target := newScripted(limited(time.Minute), limited(time.Hour))
		r := begin(t, d, target, 20)
		defer r.end()
		<-time.After(2 * time.Minute)
		r.operate(threads.OpStop)
		if m := r.migration(); m.Worked < 110*time.Second || m.Worked > 130*time.Second {
			t.Errorf("after two minutes: %s", m.Worked)
		}
		<-time.After(10 * time.Minute)
		r.operate(threads.OpContinue)
		r.finishes(20)
		if m := r.migration(); m.Worked < 110*time.Second || m.Worked > 140*time.Second {
			t.Errorf("after a pause of ten minutes: %s", m.Worked)
		}
		r.operate(threads.OpReset)
		if m := r.migration(); m.Worked != 0 {
			t.Errorf("after a reset: %s", m.Worked)
		}
	})
}
