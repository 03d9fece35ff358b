package pages

import (
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

// words are what people read for the phases; the codes are for programs.
var words = map[threads.Phase]string{
	threads.PhaseEmpty:      "nothing loaded",
	threads.PhaseLoading:    "loading",
	threads.PhaseReady:      "ready to process",
	threads.PhaseProcessing: "processing",
	threads.PhasePaused:     "paused",
	threads.PhaseCompleted:  "completed",
	threads.PhaseFailed:     "stopped by an error",
	threads.PhaseCancelled:  "cancelled",
}

// undoingWords are for a migration that is being undone.
var undoingWords = map[threads.Phase]string{
	threads.PhaseProcessing: "undoing",
	threads.PhasePaused:     "undoing is paused",
	threads.PhaseFailed:     "undoing was stopped by an error",
	threads.PhaseCancelled:  "undoing was cancelled",
}

// statusWord says how a migration stands.
func statusWord(s *admin.Status) string {
	if word := undoingWords[s.Phase]; s.Undoing() && word != "" {
		return word
	}
	return words[s.Phase]
}
