package threads_test

import (
	"slices"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Undoing is allowed where something may have been written and nothing is being
// done, and wherever it was begun.
func TestUndoIsAllowed(t *testing.T) {
	written := map[string]threads.Migration{
		"nothing":                     {Stage: 1},
		"relations":                   {Stage: 1, ParentMaps: 1},
		"perhaps something elsewhere": {Stage: 1, Checked: true},
		"what is undone in part":      {Stage: 1, Undoing: true},
		"data that is gone":           {Checked: true, ParentMaps: 1},
	}
	for _, phase := range threads.Phases() {
		for what, m := range written {
			m.Phase = phase
			rests := slices.Contains([]threads.Phase{threads.PhaseCompleted, threads.PhaseCancelled, threads.PhaseFailed, threads.PhasePaused}, phase)
			want := rests && what != "nothing" && what != "data that is gone"
			if got := slices.Contains(m.Allowed(), threads.OpUndo); got != want {
				t.Errorf("%s, %s written: allowed is %t", phase, what, got)
			}
			if to, err := m.After(threads.OpUndo); want != (err == nil && to == threads.PhaseProcessing) || err != nil && !fault.Is(err, fault.Conflict) {
				t.Errorf("%s, %s written: it leads to %s, %v", phase, what, to, err)
			}
		}
	}
}
