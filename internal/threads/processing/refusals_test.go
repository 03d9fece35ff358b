package processing

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

func nothing() error {
	return &threads.TargetError{Kind: threads.TargetMissing, Status: 404, Message: "There is no issue", Said: "Issue does not exist or you do not have permission to see it."}
}

func mayNot() error {
	return &threads.TargetError{Kind: threads.TargetForbids, Status: 403, Message: "It may not be edited", Said: "You do not have permission to edit issues in this project."}
}

// playing is a target whose answer to every issue can be changed.
type playing struct {
	*memory
	refuse atomic.Pointer[func(issue int64, write bool) error]
}

func play(refuse func(issue int64, write bool) error) *playing {
	p := &playing{}
	p.set(refuse)
	p.memory = newMemory(func(_ int, issue int64) error {
		<-time.After(time.Millisecond)
		return (*p.refuse.Load())(issue, true)
	})
	p.reading = func(issue int64) error { return (*p.refuse.Load())(issue, false) }
	p.probe = func(issue int64, what threads.Probe) error {
		return (*p.refuse.Load())(issue, what != threads.ProbeRead)
	}
	return p
}

func (p *playing) set(refuse func(issue int64, write bool) error) { p.refuse.Store(&refuse) }

func nobody(int64, bool) error { return nil }

// refuseFrom has everything be refused from one of the issues on. Its write is
// answered once as many as go on at once have begun: all before it have been
// answered then, and none after it.
func (p *playing) refuseFrom(first int64, refuse func(issue int64, write bool) error) {
	later, refused := make(chan struct{}, atOnce-1), make(chan struct{})
	p.answer = func(_ int, issue int64) error {
		switch {
		case issue < first:
			return nil
		case issue == first:
			for range atOnce - 1 {
				<-later
			}
			p.set(refuse)
			close(refused)
		default:
			select {
			case later <- struct{}{}:
			default:
			}
			<-refused
		}
		return refuse(issue, true)
	}
	p.set(nobody)
}

// A target that gives none of the issues that it is asked for first fails the
// migration before anything is an error.
func TestPreflight(t *testing.T) {
	for name, c := range map[string]struct {
		refuse  func(int64, bool) error
		message string
	}{
		"there is nothing": {func(int64, bool) error { return nothing() }, "None of the 20 issues that were asked for can be read. The last answer: There is no issue: " +
			"Issue does not exist or you do not have permission to see it. Check the target's URL and that its account may see the issues, then continue. Nothing was written."},
		"nothing may be edited": {func(_ int64, write bool) error {
			if write {
				return mayNot()
			}
			return nil
		}, "None of the 20 issues that were asked for can be edited. The last answer: It may not be edited: " +
			"You do not have permission to edit issues in this project. Give the account the permission to edit issues, then continue. Nothing was written."},
		"we are unknown": {func(int64, bool) error {
			return &threads.TargetError{Kind: threads.TargetRefusesUs, Message: "The token is refused.", Said: "Expired."}
		}, "The token is refused. It said: Expired."},
	} {
		t.Run(name, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				target := play(c.refuse)
				records, mappings := threadstest.Many(3*60, 3)
				r := newRig(t, d, target.memory)
				r.patience = time.Hour
				defer r.end()
				r.work()
				r.load(records, mappings)
				r.await(threads.PhaseReady)
				r.operate(threads.OpStart)
				m := r.await(threads.PhaseFailed)
				if m.Message != c.message || m.Permanent != 0 || m.RecordsDone != 0 || target.asked != 0 {
					t.Errorf("%d writes: %+v", target.asked, m)
				}
				target.set(nobody)
				r.operate(threads.OpContinue)
				r.await(threads.PhaseCompleted)
				r.check(records, mappings, nil)
			})
		})
	}
}

// A permission that is lost in the middle fails the migration and makes no
// errors; a project that is gone or closed makes errors of its issues.
func TestManyRefusals(t *testing.T) {
	records, mappings := threadstest.Many(3*200, 3)
	issues := sortedIssues(records, mappings)
	for name, c := range map[string]struct {
		refuse func(issue int64, write bool) error
		from   int // the first issue that is refused
		to     int
		reason threads.Reason // "" where it fails
		says   string
	}{
		"nothing can be seen any more": {func(int64, bool) error { return nothing() }, 90, 200, "", "The target did not have 23 issues in a row and 20 others elsewhere in the data. The last answer: There is no issue: Issue does not exist"},
		"nothing can be edited any more": {func(_ int64, write bool) error {
			if write {
				return mayNot()
			}
			return nil
		}, 90, 200, "", "The target forbade 23 issues in a row and 20 others elsewhere in the data. The last answer: It may not be edited: You do not have"},
		"a project is gone":          {nil, 50, 130, threads.TargetNotFound, ""},
		"a project is closed":        {nil, 50, 130, threads.TargetForbidden, ""},
		"the last project is closed": {nil, 120, 200, threads.TargetForbidden, ""},
		"the first project is gone":  {nil, 0, 80, threads.TargetNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				refused := map[int64]threads.Reason{}
				for _, issue := range issues[c.from:c.to] {
					refused[issue] = c.reason
				}
				of := func(issue int64, write bool) error {
					switch refused[issue] {
					case threads.TargetNotFound:
						return nothing()
					case threads.TargetForbidden:
						if write {
							return mayNot()
						}
					}
					return nil
				}
				target := play(of)
				if c.reason == "" {
					target.refuseFrom(issues[c.from], c.refuse)
				}
				r := newRig(t, d, target.memory)
				r.patience, r.options.ChunkSize = time.Hour, 10
				defer r.end()
				r.work()
				r.load(records, mappings)
				r.await(threads.PhaseReady)
				r.operate(threads.OpStart)
				if c.reason != "" {
					r.await(threads.PhaseCompleted)
					r.check(records, mappings, refused)
					return
				}
				m := r.await(threads.PhaseFailed)
				if !strings.HasPrefix(m.Message, c.says) || m.Permanent != 0 || m.Issues > int64(c.from) || target.asked > c.from+maxRefused+4 {
					t.Errorf("after %d requests: %+v", target.asked, m)
				}
				if errors := r.errors(); len(errors) != 0 {
					t.Error(len(errors), "errors are listed")
				}
				target.answers(nil)
				target.set(nobody)
				r.operate(threads.OpContinue)
				r.await(threads.PhaseCompleted)
				r.check(records, mappings, nil)
			})
		})
	}
}
