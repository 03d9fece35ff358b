package admin

import (
	"testing"
	"time"

	"outrigger/internal/threads"
)

// The rate follows the last half minute, says nothing before it can, and begins
// anew with other data and after a pause.
func TestRate(t *testing.T) {
	var r rateMeter
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := threads.Migration{Phase: threads.PhaseProcessing, Stage: 1, Records: 100_000}
	at := func(seconds int, done int64, want float64, left int64) {
		t.Helper()
		m.RecordsDone = done
		rate := r.see(began.Add(time.Duration(seconds)*time.Second), &m)
		if rate != want || secondsLeft(&m, rate) != left {
			t.Errorf("after %d s, at %d records: %g a second, %d s left; want %g and %d", seconds, done, rate, secondsLeft(&m, rate), want, left)
		}
	}
	at(0, 0, 0, 0)
	at(1, 1000, 0, 0)
	at(2, 2000, 1000, 98)
	for s := 3; s <= 60; s++ {
		at(s, int64(s)*1000, 1000, 100-int64(s))
	}
	for s := 61; s < 90; s++ {
		m.RecordsDone = 60_000 + int64(s-60)*100
		r.see(began.Add(time.Duration(s)*time.Second), &m)
	}
	at(90, 63_000, 100, 370)
	at(500, 63_000, 0, 0) // nothing moves
	m.Phase = threads.PhasePaused
	at(501, 63_000, 0, 0)
	m.Phase = threads.PhaseProcessing
	at(502, 63_000, 0, 0)
	at(504, 63_200, 100, 368)
	m.Stage = 2
	at(505, 10, 0, 0)
}
