package processing

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/db"
	"outrigger/internal/threads"
)

// logbook is a log that may be read while others write.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// count counts the lines with all of the words.
func (l *logbook) count(words ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for line := range strings.Lines(l.text.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		n++
	}
	return n
}

// How processing ends, and that it waits for its target, is one line in the log
// each, with counts and the reason, and in the metrics.
func TestTheLogOfAMigration(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []error
		phase   threads.Phase
		undone  bool // after that
		lines   [][]string
	}{
		{"completed after a wait", repeated(limited(20*time.Second), 4), threads.PhaseCompleted, false, [][]string{
			{"level=WARN", "the target is waited for", "until=", `reason="too often."`, "records=0", "of=60"},
			{"level=INFO", "the migration is completed", "data=1", "issues=20", "errors=0"},
		}},
		{"paused", repeated(limited(20*time.Second), 13), threads.PhasePaused, false, [][]string{
			{"level=WARN", "the migration has paused", "records=0", `reason="The target answered 10 times in a row`},
		}},
		{"failed", repeated(&threads.TargetError{Kind: threads.TargetRefusesUs, Message: "401 Unauthorized"}, 8), threads.PhaseFailed, false, [][]string{
			{"level=ERROR", "the migration failed", "records=0", "reason=", "401 Unauthorized"},
		}},
		{"undone", nil, threads.PhaseCompleted, true, [][]string{
			{"level=INFO", "the migration is completed", "issues=20"},
			{"level=INFO", "the migration is undone", "issues=20", "kept=0"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			quick(t, func(t *testing.T, d *db.DB) {
				var log logbook
				registry := prometheus.NewPedanticRegistry()
				r := beginWith(t, d, newScripted(c.answers...), 20, func(o *Options) {
					o.Log, o.Metrics = slog.New(slog.NewTextHandler(&log, nil)), registry
				})
				defer r.end()
				r.await(c.phase)
				phase, ended := c.phase, map[string]int{strings.ToLower(string(c.phase)): 1}
				if c.undone {
					r.operate(threads.OpUndo)
					r.await(threads.PhaseEmpty)
					phase, ended["undone"] = threads.PhaseEmpty, 1
				}
				synctest.Wait()
				for _, words := range c.lines {
					if got := log.count(words...); got != 1 {
						t.Errorf("%d lines have %q in\n%s", got, words, log.text.String())
					}
				}
				want := `# HELP outrigger_threads_migration 1 for the phase that the migration is in, 0 for the others.
# TYPE outrigger_threads_migration gauge
`
				for _, name := range []string{"cancelled", "completed", "empty", "failed", "loading", "paused", "processing", "ready"} {
					in := "0"
					if name == strings.ToLower(string(phase)) {
						in = "1"
					}
					want += `outrigger_threads_migration{phase="` + name + `"} ` + in + "\n"
				}
				if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "outrigger_threads_migration"); err != nil {
					t.Error(err)
				}
				want = `# HELP outrigger_threads_migrations_total How often processing ended on this node, by how: completed, failed, paused, undone.
# TYPE outrigger_threads_migrations_total counter
`
				for outcome, n := range ended {
					want += fmt.Sprintf("outrigger_threads_migrations_total{outcome=%q} %d\n", outcome, n)
				}
				if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "outrigger_threads_migrations_total"); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func repeated(err error, n int) []error {
	list := make([]error, n)
	for i := range list {
		list[i] = err
	}
	return list
}
