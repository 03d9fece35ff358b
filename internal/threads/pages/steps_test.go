package pages

import (
	"testing"
	"time"

	"outrigger/internal/threads"
)

// One step is open, and those before it are done.
func TestSteps(t *testing.T) {
	whole := fileView{Draft: &draftView{Upload: threads.Upload{Length: 3, Received: 3}}}
	half := fileView{Draft: &draftView{Upload: threads.Upload{Length: 3, Received: 1}}}
	verified := &threads.Verification{}
	verified.State = threads.JobDone
	for _, c := range []struct {
		phase     threads.Phase
		hierarchy fileView
		mappings  fileView
		result    *threads.Verification
		open      string
	}{
		{threads.PhaseEmpty, fileView{}, fileView{}, nil, "Files"},
		{threads.PhaseEmpty, whole, half, nil, "Files"},
		{threads.PhaseEmpty, whole, whole, nil, "Preview"},
		{threads.PhaseLoading, fileView{}, fileView{}, nil, "Load"},
		{threads.PhaseReady, fileView{}, fileView{}, nil, "Process"},
		{threads.PhaseProcessing, fileView{}, fileView{}, nil, "Process"},
		{threads.PhasePaused, fileView{}, fileView{}, nil, "Process"},
		{threads.PhaseFailed, fileView{}, fileView{}, nil, "Process"},
		{threads.PhaseCancelled, fileView{}, fileView{}, nil, "Process"},
		{threads.PhaseCompleted, fileView{}, fileView{}, nil, "Verify and report"},
		{threads.PhaseCompleted, fileView{}, fileView{}, verified, "Verify and report"},
	} {
		view := &migrationView{Hierarchy: c.hierarchy, Mappings: c.mappings, Result: c.result}
		view.Status.Phase = c.phase
		open := ""
		for _, s := range stepsOf(view) {
			if s.Open {
				open += s.Label
			}
			last := s.Label == "Verify and report" && c.result != nil // which is done, and open
			if s.Done == (open != "") && !last {
				t.Errorf("%s, open %q: %q is done: %t", c.phase, c.open, s.Label, s.Done)
			}
		}
		if open != c.open {
			t.Errorf("%s: %q is open, want %q", c.phase, open, c.open)
		}
	}
}

func TestPace(t *testing.T) {
	for want, c := range map[string]struct {
		rate float64
		left time.Duration
	}{
		"": {0, 0},
		"1,235 records a second, less than a minute left": {1234.5, 10 * time.Second},
		"12 records a second, about 2 minutes left":       {12, 61 * time.Second},
		"12 records a second, about 3 hours left":         {12, 121 * time.Minute},
		"less than 1 record a second, about 3 days left":  {0.4, 49 * time.Hour},
	} {
		view := &migrationView{}
		view.Status.Rate, view.Status.SecondsLeft = c.rate, int64(c.left.Seconds())
		if got := view.Pace(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
