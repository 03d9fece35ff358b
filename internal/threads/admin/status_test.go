package admin

import (
	"testing"

	"outrigger/internal/threads"
)

// How far loading is comes as a sentence, and is never 100% too early.
func TestLoadingIsSaid(t *testing.T) {
	for _, c := range []struct {
		st      threads.StageState
		says    string
		percent int
	}{
		{threads.StageState{State: threads.StageWanted}, "Waiting to read the files.", 0},
		{threads.StageState{State: threads.StageRunning, Step: "Reading the hierarchy", Done: 0.129}, "Reading the hierarchy: 12%.", 12},
		{threads.StageState{State: threads.StageRunning, Step: "Building chunks", Done: 1}, "Building chunks: 99%.", 99},
		{threads.StageState{State: threads.StageDone, Step: "Building chunks", Done: 1}, "Building chunks: 100%.", 100},
	} {
		if got, percent := stageSentence(&c.st), c.st.Percent(); got != c.says || percent != c.percent {
			t.Errorf("%+v: %s, %d", c.st, got, percent)
		}
	}
}
