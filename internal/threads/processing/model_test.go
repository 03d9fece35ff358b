package processing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// TestModel migrates files with everything wrong with them while processes
// die, lose their leases, are stopped and continued, the target limits and
// refuses, and the database goes away; in the end the target has what the model
// says, and the errors are those of the model.
func TestModel(t *testing.T) { histories(t, (*history).play) }

// TestUndoModel does the same, and undoes it at any moment, while the same goes
// on; in the end the target has what it had before.
func TestUndoModel(t *testing.T) { histories(t, (*history).playUndo) }

func histories(t *testing.T, one func(*history)) {
	t.Parallel() // with others that mostly wait
	play := func(d *db.DB, proxy *dbtest.Proxy) func(t *testing.T) {
		return func(t *testing.T) {
			if err := d.Migrate(t.Context(), schema...); err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{"embedded", "target"} {
				t.Run(kind, func(t *testing.T) {
					rapid.Check(t, func(r *rapid.T) { one(newHistory(r, d, proxy, kind == "target")) })
				})
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		play(dbtest.SQLite(t), nil)(t)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		proxy, url := dbtest.NewProxy(t, dbtest.PostgresURL(t))
		play(dbtest.Open(t, db.Options{URL: url, NodeID: "node_1"}), proxy)(t)
	})
}

// history is one migration and what happens to it.
type history struct {
	*rig
	r        *rapid.T
	proxy    *dbtest.Proxy // before the database, where it is PostgreSQL
	records  []threads.Record
	mappings []threads.IDMapping
	refused  map[int64]threads.Reason // by cloud issue
	limits   int                      // one in so many requests is one too many; 0 for none
	ticks    atomic.Int64             // how often workers looked at the clock
	undoing  bool                     // the administrator wants it undone
}

func newHistory(r *rapid.T, d *db.DB, proxy *dbtest.Proxy, target bool) *history {
	h := &history{r: r, proxy: proxy, refused: map[int64]threads.Reason{}}
	h.records = threadstest.Records(r)
	h.mappings = threadstest.Collide(r, threadstest.Mappings(r, h.records))
	if !target {
		h.rig = newRig(r, d, nil)
	} else {
		for _, issue := range slices.Sorted(maps.Keys(threadstest.NewModel(h.records, h.mappings).Maps)) {
			if reason := rapid.SampledFrom([]threads.Reason{"", "", "", threads.TargetNotFound, threads.TargetForbidden}).Draw(r, "refused"); reason != "" {
				h.refused[issue] = reason
			}
		}
		h.limits = rapid.SampledFrom([]int{0, 2, 5}).Draw(r, "limits")
		h.rig = newRig(r, d, newMemory(h.answer))
	}
	h.options.ChunkSize = rapid.Int64Range(1, 5).Draw(r, "chunk size")
	h.options.Clock = h.clock
	return h
}

// clock is the workers'. They look at it at every step, and looking takes them
// a moment, so that something can happen between two steps.
func (h *history) clock() time.Time {
	h.ticks.Add(1)
	<-time.After(rand.N(500 * time.Microsecond))
	return time.Now()
}

// answer is the target's.
func (h *history) answer(n int, issue int64) error {
	<-time.After(rand.N(300 * time.Microsecond))
	switch h.refused[issue] {
	case threads.TargetNotFound:
		return &threads.TargetError{Kind: threads.TargetMissing}
	case threads.TargetForbidden:
		return &threads.TargetError{Kind: threads.TargetForbids}
	}
	if h.limits > 0 && n%h.limits == 0 {
		return limited(time.Millisecond)
	}
	if h.limits > 0 && n%7 == 0 {
		return &threads.TargetError{Kind: threads.TargetRefusesUs, Message: "The token is not accepted."}
	}
	return nil
}

func (h *history) play() {
	defer h.end()
	h.work()
	h.load(h.records, h.mappings)
	steps := 6 // that the whole takes, or a few more
	if h.target != nil {
		steps = 30
	}
	for _, event := range rapid.SliceOfN(rapid.SampledFrom(h.events()), 0, 4).Draw(h.r, "events") {
		h.wait(rapid.Bool().Draw(h.r, "while it is processed"), rapid.IntRange(0, steps).Draw(h.r, "steps"))
		h.happens(event)
	}
	h.until(threads.PhaseCompleted)
	for h.proxy != nil && h.db.Write(h.t.Context(), func(*db.Tx) error { return nil }) != nil {
		// An answer that was to be lost still was; here it does no harm.
	}
	h.check(h.records, h.mappings, h.refused)
	h.operate(threads.OpReset)
}

func (h *history) playUndo() {
	defer h.end()
	h.work()
	before := had(h.records, h.mappings)
	if h.target != nil {
		h.target.answers(nil)
	}
	h.holding(maps.Clone(before))
	if h.target != nil {
		h.target.answers(h.answer)
	}
	h.load(h.records, h.mappings)
	for _, event := range rapid.SliceOfN(rapid.SampledFrom(append(h.events(), "undo")), 0, 6).Draw(h.r, "events") {
		h.wait(rapid.Bool().Draw(h.r, "while it is processed"), rapid.IntRange(0, 30).Draw(h.r, "steps"))
		h.happens(event)
	}
	h.undoing = true
	h.until(threads.PhaseEmpty)
	for h.proxy != nil && h.db.Write(h.t.Context(), func(*db.Tx) error { return nil }) != nil {
		// As in play.
	}
	h.holds(before)
}

// firstTurn is how long a worker has, at the end of a history, before another takes its
// place.
const firstTurn = time.Second

// until goes on until the migration is in a phase. A lease whose answer was lost has no
// holder until it lapses, which takes a day here, so that a new worker is needed then.
// Each is alone and has twice the time of the one before: workers that took the leases
// from each other sooner than one of them gets anywhere would never end.
func (h *history) until(phase threads.Phase) {
	turn, last, end := firstTurn, time.Now(), time.Now().Add(5*h.patience)
	for h.goOn() != phase {
		if now := time.Now(); now.After(end) {
			h.t.Fatal(fmt.Sprintf("it does not come to be %s: %+v", phase, h.migration()))
		} else if h.proxy != nil && now.Sub(last) > turn {
			h.end()
			h.work()
			turn, last = 2*turn, time.Now()
		}
		<-time.After(time.Millisecond)
	}
}

// wait waits for some steps of the workers, perhaps only of those that process,
// or for a while if there is none.
func (h *history) wait(processing bool, steps int) {
	until := time.Now().Add(50 * time.Millisecond)
	for processing && h.goOn() != threads.PhaseProcessing && time.Now().Before(until) {
		<-time.After(100 * time.Microsecond)
	}
	for at := h.ticks.Load() + int64(steps); h.ticks.Load() < at && time.Now().Before(until); {
		<-time.After(100 * time.Microsecond)
	}
}

func (h *history) events() []string {
	events := []string{"stop", "kill", "lose", "restart", "nothing"}
	if h.proxy != nil { // rarely, since each takes a second
		events = append(slices.Repeat(events, 3), "database away", "answer lost")
	}
	return events
}

// happens has something happen, whatever goes on.
func (h *history) happens(event string) {
	last := h.workers[len(h.workers)-1]
	switch event {
	case "stop":
		if h.goOn() == threads.PhaseProcessing {
			// It may be over by now.
			_, _ = h.store.Operate(h.t.Context(), threads.OpStop, threads.Wish{})
		}
	case "undo":
		h.undoing = true
	case "kill": // nothing that it has in memory is stored any more
		last.settled(h.t, h.patience)
		h.work()
		last.Stop()
	case "lose": // and it goes on, not knowing
		h.work()
	case "restart":
		last.Stop()
		h.work()
	case "database away":
		h.proxy.Restart()
	case "answer lost":
		h.proxy.LoseAnswer("\x0bcommit") // the statement; a new connection names synchronous_commit
	}
	h.goOn()
}

// goOn does what an administrator would do next, and returns the phase.
func (h *history) goOn() threads.Phase {
	m, err := h.store.Migration(h.t.Context())
	if err != nil {
		return "" // the database is away
	}
	op := map[threads.Phase]threads.Operation{
		threads.PhaseReady: threads.OpStart, threads.PhasePaused: threads.OpContinue, threads.PhaseFailed: threads.OpContinue,
	}[m.Phase]
	if h.undoing {
		op = undoes(&m, op)
	}
	switch {
	case op != "":
		_, _ = h.store.Operate(h.t.Context(), op, threads.Wish{})
	case m.Phase == threads.PhaseEmpty && !h.undoing:
		h.t.Fatal("the data is gone: ", m.Message)
	case m.Phase == threads.PhaseCancelled:
		h.t.Fatal(fmt.Sprintf("nobody cancelled it: %+v", m))
	}
	return m.Phase
}

// undoes is what an administrator would do next who wants a migration undone, or
// otherwise another operation.
func undoes(m *threads.Migration, otherwise threads.Operation) threads.Operation {
	allowed := m.Allowed()
	switch {
	case slices.Contains(allowed, threads.OpUndo):
		return threads.OpUndo
	case m.Phase == threads.PhaseProcessing && !m.Undoing && (m.Checked || m.ParentMaps > 0): // else there would be nothing to undo
		return threads.OpStop
	case m.Phase == threads.PhaseCompleted: // nothing was written
		return threads.OpReset
	}
	return otherwise
}
