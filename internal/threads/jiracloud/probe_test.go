package jiracloud_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// What a probe finds out about an issue; the issue has afterwards what it had.
func TestProbe(t *testing.T) {
	const there, absent, closed = 1, 2, 3
	page := &cloudsite.Reaction{Status: 404, Header: map[string]string{"Content-Type": "text/html"}, Body: "<h1>Not Found</h1>"}
	site, target := play(t, cloudsite.Options{
		Missing:  func(issue int64) bool { return issue == absent },
		ReadOnly: func(issue int64) bool { return issue == closed },
		React: func(r cloudsite.Request) *cloudsite.Reaction {
			if r.Issue == 4 {
				return page
			}
			return nil
		},
	})
	kind := func(issue int64, what threads.Probe) string {
		err := target.Probe(t.Context(), issue, what)
		var e *threads.TargetError
		switch {
		case err == nil:
			return "ok"
		case errors.As(err, &e) && e.Kind == threads.TargetMissing:
			return "missing"
		case errors.As(err, &e) && e.Kind == threads.TargetForbids:
			return "forbidden"
		}
		return err.Error()
	}
	for _, before := range []threads.ParentMap{nil, many(3, 5), many(2000, 5)} {
		write(t, target, there, before)
		keys := strings.Join(site.Keys(there), " ")
		for _, c := range []struct {
			issue int64
			what  threads.Probe
			want  string
		}{
			{there, threads.ProbeRead, "ok"}, {there, threads.ProbeEdit, "ok"}, {there, threads.ProbeWrite, "ok"},
			{absent, threads.ProbeRead, "missing"}, {absent, threads.ProbeEdit, "missing"}, {absent, threads.ProbeWrite, "missing"},
			{closed, threads.ProbeRead, "ok"}, {closed, threads.ProbeEdit, "forbidden"}, {closed, threads.ProbeWrite, "forbidden"},
			{4, threads.ProbeRead, "missing"},
		} {
			if got := kind(c.issue, c.what); got != c.want {
				t.Errorf("probe %d of issue %d: %s, not %s", c.what, c.issue, got, c.want)
			}
		}
		after, err := target.Read(t.Context(), there)
		if err != nil || len(after) != len(before) || strings.Join(site.Keys(there), " ") != keys {
			t.Errorf("%d relations in %s become %d in %v: %v", len(before), keys, len(after), site.Keys(there), err)
		}
	}
	if writes := site.Writes(there); writes == 0 {
		t.Error("a write was never tried")
	}
}

// A site without the call for permissions, or that refuses it to a token, is
// one whose permissions are not known.
func TestProbeWithoutPermissions(t *testing.T) {
	for name, o := range map[string]cloudsite.Options{
		"not there": {NoPermissions: true},
		"another scope": {React: func(r cloudsite.Request) *cloudsite.Reaction {
			if r.Key != cloudsite.Permissions {
				return nil
			}
			return &cloudsite.Reaction{Status: http.StatusUnauthorized, Header: map[string]string{"Content-Type": "application/json"}, Body: `{"message":"scope does not match"}`}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, target := play(t, o)
			if err := target.Probe(t.Context(), 1, threads.ProbeEdit); err != nil {
				t.Error(err)
			}
		})
	}
}

// A site that shows the account nothing, from the first request on or after a
// while: no record becomes an error, and continuing finishes.
func TestSiteShowsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		mode  cloudsite.FaultMode
		after int64 // requests
	}{"from the beginning": {cloudsite.Gone, 0}, "after a while": {cloudsite.Gone, 300}, "the permission to edit is lost": {cloudsite.ReadOnly, 300}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var site *cloudsite.Site
				site, target := play(t, cloudsite.Options{React: func(r cloudsite.Request) *cloudsite.Reaction {
					if r.Number == c.after+1 {
						site.SetFaultMode(c.mode, 0)
					}
					return nil
				}})
				d := dbtest.SQLite(t, schema...)
				if err := d.Migrate(t.Context(), schema...); err != nil {
					t.Fatal(err)
				}
				r := newRig(t, d, site, target)
				r.work(4)
				defer r.end()
				records, mappings := threadstest.Many(5*200, 5)
				r.load(records, mappings)
				r.await(threads.PhaseReady)
				r.operate(threads.OpStart)
				m := r.await(threads.PhaseFailed)
				if m.Permanent != 0 || !strings.Contains(m.Message, "ermission to ") {
					t.Errorf("%d errors: %s", m.Permanent, m.Message)
				}
				site.SetFaultMode(cloudsite.Works, 0)
				c.after = 1 << 40
				r.operate(threads.OpContinue)
				r.await(threads.PhaseCompleted)
				r.check(records, mappings, nil, nil)
			})
		})
	}
}

// A site that is switched off answers every request with a page: its words are
// what the administrator reads, before the advice.
func TestSiteUnavailable(t *testing.T) {
	for name, after := range map[string]int64{"from the beginning": 0, "after a while": 300} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				site, target := play(t, cloudsite.Options{React: func(r cloudsite.Request) *cloudsite.Reaction {
					if r.Number <= after {
						return nil
					}
					return &cloudsite.Reaction{Status: http.StatusNotFound, Header: map[string]string{"Content-Type": "text/html"}, Body: unavailable}
				}})
				d := dbtest.SQLite(t, schema...)
				if err := d.Migrate(t.Context(), schema...); err != nil {
					t.Fatal(err)
				}
				r := newRig(t, d, site, target)
				r.work(4)
				defer r.end()
				r.load(threadstest.Many(5*200, 5))
				r.await(threads.PhaseReady)
				r.operate(threads.OpStart)
				phase := threads.PhaseFailed
				if after > 0 {
					phase = threads.PhasePaused // it may come back
				}
				m := r.await(phase)
				if m.Permanent != 0 || !strings.Contains(m.Message, "404 Not Found: Page Unavailable Your Atlassian Cloud site is currently unavailable & paused.") {
					t.Errorf("%d errors: %s", m.Permanent, m.Message)
				}
			})
		})
	}
}

// A site may take twenty seconds for an answer, and not longer than the limit.
func TestSlowAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site, target := play(t, cloudsite.Options{})
		site.SetFaultMode(cloudsite.Slow, 0)
		write(t, target, 1, many(2, 5))
		site.SetFaultMode(cloudsite.Silent, 0)
		began := time.Now()
		_, err := target.Read(t.Context(), 1)
		if took := time.Since(began); took != time.Minute || err == nil || !strings.Contains(err.Error(), "did not answer within 1m0s") {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
