package processing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// eachTarget runs a test on both databases, with the database as the target and
// with another one.
func eachTarget(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, kind := range []string{"embedded", "target"} {
			t.Run(kind, func(t *testing.T) {
				var target *memory
				if kind == "target" {
					target = newMemory(nil)
				}
				r := newRig(t, d, target)
				r.options.ChunkSize = 10
				defer r.end()
				test(t, r)
			})
		}
	}, schema...)
}

// count is how many rows a table has.
func (r *rig) count(table string) (n int64) {
	r.t.Helper()
	err := r.db.Read(r.t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(r.t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// had are maps that a target has before a migration of some data: of a third of
// its issues the first relation with another parent, of a third the very same
// map, and of an issue that the data does not name; all with a relation more.
func had(records []threads.Record, mappings []threads.IDMapping) map[int64]threads.ParentMap {
	before := map[int64]threads.ParentMap{1: {{CommentID: 5, ParentID: 4}}}
	model := threadstest.NewModel(records, mappings).Maps
	for n, issue := range sortedIssues(records, mappings) {
		other := threads.ParentMap{{CommentID: 1_000_000_007, ParentID: 1_000_000_006}}
		switch m := model[issue]; n % 3 {
		case 0:
			before[issue] = other.Merge(threads.ParentMap{{CommentID: m[0].CommentID, ParentID: 1_000_000_006}})
		case 1:
			before[issue] = other.Merge(m)
		}
	}
	return before
}

// What is undone leaves each issue as it was before, and nothing of the
// migration; the same data can be migrated again.
func TestUndo(t *testing.T) {
	eachTarget(t, func(t *testing.T, r *rig) {
		records, mappings := threadstest.Many(60, 3)
		before := had(records, mappings)
		r.work()
		r.holding(maps.Clone(before))
		for range 2 {
			if m := r.do(records, mappings); !slices.Contains(m.Allowed(), threads.OpUndo) {
				t.Fatal("allowed are ", m.Allowed())
			}
			after := maps.Clone(before)
			for issue, m := range threadstest.NewModel(records, mappings).Maps {
				after[issue] = after[issue].Merge(m)
			}
			r.holds(after)
			r.operate(threads.OpUndo)
			m := r.await(threads.PhaseEmpty)
			r.holds(before)
			want := "The migration was undone: 20 issues as before."
			if r.target != nil {
				want = "The migration was undone: 13 issues as before." // a third was never written
			}
			if m.Message != want || m.Records != 0 || m.Stage != 0 || m.Undoing {
				t.Errorf("%+v", m)
			}
		}
		for until := time.Now().Add(r.patience); r.count(`threads_before`)+r.count(`threads_chunks`) > 0; <-time.After(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("rows are left")
			}
		}
	})
}

// What others changed after a migration stays as they have it.
func TestUndoKeepsWhatOthersChanged(t *testing.T) {
	eachTarget(t, func(t *testing.T, r *rig) {
		records, mappings := threadstest.Many(60, 3)
		before := had(records, mappings)
		r.work()
		r.holding(maps.Clone(before))
		r.do(records, mappings)
		issue := sortedIssues(records, mappings)[2] // it had nothing
		list := r.stored()
		written := list[issue]
		changed := threads.ParentMap{{CommentID: written[0].CommentID, ParentID: 77}}
		list[issue] = written.Merge(changed)
		r.compared()
		r.holding(maps.Clone(list))
		r.operate(threads.OpUndo)
		m := r.await(threads.PhaseEmpty)
		before[issue] = changed
		r.holds(before)
		if !strings.HasSuffix(m.Message, " In 1 issue, threads that others changed since were left as they are.") {
			t.Error(m.Message)
		}
		if left, err := r.store.UndoLeft(t.Context(), 0); err != nil || len(left) != 1 || left[0].CloudIssueID != issue || left[0].Reason != threads.ChangedByOthers {
			t.Errorf("listed as left: %+v, %v", left, err)
		}
	})
}

// What the target forbids to undo, or does not show, is said, and undone when it can be.
func TestUndoOfWhatIsForbidden(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(60, 3)
		before, issues := had(records, mappings), sortedIssues(records, mappings)
		r := newRig(t, d, newMemory(nil))
		r.options.ChunkSize = 10
		defer r.end()
		r.work()
		r.holding(maps.Clone(before))
		r.do(records, mappings)
		r.target.answers(func(_ int, issue int64) error {
			switch issue {
			case issues[0], issues[11]:
				return &threads.TargetError{Kind: threads.TargetForbids}
			case issues[5]:
				return &threads.TargetError{Kind: threads.TargetMissing}
			}
			return nil
		})
		r.operate(threads.OpUndo)
		m := r.await(threads.PhaseFailed)
		if !strings.HasPrefix(m.Message, "10 issues were undone. The target forbids writing to 2 issues. Give the account the permission to edit issues. The target does not show 1 issue, which may come back.") || m.RecordsDone != 0 {
			t.Errorf("%+v", m)
		}
		if got, want := fmt.Sprint(m.Allowed()), "[continue cancel reset undo]"; got != want {
			t.Error("allowed are ", got)
		}
		if list := r.stored(); len(list[issues[5]]) == 0 {
			t.Error("what an issue that cannot be seen has is forgotten")
		}
		r.target.answers(nil)
		r.operate(threads.OpContinue)
		r.await(threads.PhaseEmpty)
		r.holds(before)
	}, schema...)
}

// A write that was given up on and is carried out after processing was stopped is
// undone too.
func TestUndoWaitsForLateWrites(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(60, 3)
		before := had(records, mappings)
		target := &late{memory: newMemory(nil), issue: sortedIssues(records, mappings)[3]}
		r := newRig(t, d, target.memory)
		r.options.Target, r.options.Linger, r.options.Stall = target, time.Hour, 1000*time.Hour
		var shift atomic.Int64
		r.options.Clock = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
		defer r.end()
		r.work()
		r.holding(maps.Clone(before))
		target.set(true)
		r.load(records, mappings)
		r.await(threads.PhaseReady)
		r.operate(threads.OpStart)
		for until := time.Now().Add(r.patience); r.count(`threads_before`) < 13; <-time.After(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("not everything is tried")
			}
		}
		r.operate(threads.OpStop)
		target.set(false)
		r.operate(threads.OpUndo)
		for until := time.Now().Add(r.patience); r.migration().Pace.WaitUntil.IsZero(); <-time.After(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("nothing is waited for")
			}
		}
		target.lands()
		shift.Store(int64(2 * time.Hour))
		r.await(threads.PhaseEmpty)
		r.holds(before)
	}, schema...)
}

// late is a target that does not answer about one issue, and does what it was
// asked to later.
type late struct {
	*memory
	issue int64
	mu    sync.Mutex
	last  threads.ParentMap
	slow  bool // it does not answer
}

func (l *late) Write(ctx context.Context, issue int64, change threads.Change) (threads.ParentMap, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if issue != l.issue || !l.slow {
		return l.memory.Write(ctx, issue, change)
	}
	m, err := change(l.get(issue))
	if err == nil {
		l.last = m
		err = &threads.TargetError{Message: "no answer", Cause: errors.New("a timeout")}
	}
	return nil, err
}

func (l *late) set(slow bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = slow
}

func (l *late) lands() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.maps[l.issue] = l.last
}
