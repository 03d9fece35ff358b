package processing

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// quick runs fn with a database and a clock that runs ahead while everybody
// waits.
func quick(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := dbtest.SQLite(t, schema...)
		if err := d.Migrate(t.Context(), schema...); err != nil {
			t.Fatal(err)
		}
		fn(t, d)
	})
}

// scripted is a target that script as it is told, request by request, and notes
// when it was asked. When nothing is left to tell, it does what it is asked.
type scripted struct {
	*memory
	mu     sync.Mutex
	script []error
	at     []time.Time
}

func newScripted(script ...error) *scripted {
	m := &scripted{script: script}
	m.memory = newMemory(func(int, int64) error {
		<-time.After(time.Millisecond) // so that several are under way
		m.mu.Lock()
		defer m.mu.Unlock()
		m.at = append(m.at, time.Now())
		if len(m.script) == 0 {
			return nil
		}
		next := m.script[0]
		m.script = m.script[1:]
		return next
	})
	return m
}

// times are those at which it was asked so far.
func (m *scripted) times() []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.at)
}

// gaps are the waits between requests that are longer than a request.
func (m *scripted) gaps() (gaps []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.at[1:] {
		if gap := m.at[i+1].Sub(m.at[i]); gap > 10*time.Millisecond {
			gaps = append(gaps, gap.Round(10*time.Millisecond))
		}
	}
	return gaps
}

func (m *scripted) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.at)
}

// begin has a migration of some issues with three records each begin.
func begin(t *testing.T, d *db.DB, target *scripted, issues int64) *rig {
	t.Helper()
	return beginWith(t, d, target, issues, nil)
}

// beginWith is begin with other options.
func beginWith(t *testing.T, d *db.DB, target *scripted, issues int64, set func(*Options)) *rig {
	t.Helper()
	r := newRig(t, d, target.memory)
	r.patience = 100 * time.Hour
	if set != nil {
		set(&r.options)
	}
	r.work()
	records, mappings := threadstest.Many(3*issues, 3)
	r.load(records, mappings)
	r.await(threads.PhaseReady)
	r.operate(threads.OpStart)
	return r
}

func (r *rig) finishes(issues int64) {
	r.t.Helper()
	r.await(threads.PhaseCompleted)
	records, mappings := threadstest.Many(3*issues, 3)
	r.check(records, mappings, nil)
}

func fails(wait time.Duration) error {
	return &threads.TargetError{Kind: threads.TargetFails, Message: "502", Wait: wait, Declared: wait > 0}
}
