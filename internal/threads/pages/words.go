package pages

import (
	"outrigger/internal/console"
	"outrigger/internal/threads"
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
func statusWord(s *threads.MigrationStatus) string {
	if word := undoingWords[s.Phase]; s.Undoing() && word != "" {
		return word
	}
	return words[s.Phase]
}

// hints say what each phase means.
var hints = map[threads.Phase]string{
	threads.PhaseEmpty:      "Both files are here, and nothing is loaded yet.",
	threads.PhaseLoading:    "The files are being loaded.",
	threads.PhaseReady:      "The data is loaded. Start processing when you are ready.",
	threads.PhaseProcessing: "Processing runs on the server. You can close this page.",
	threads.PhasePaused:     "Processing is paused.",
	threads.PhaseCompleted:  "All records are processed.",
	threads.PhaseFailed:     "Processing stopped because of an error.",
	threads.PhaseCancelled:  "The migration is cancelled. Undo it or reset the state before the next one.",
}

// undoingHints say it of a migration that is being undone.
var undoingHints = map[threads.Phase]string{
	threads.PhaseProcessing: "The migration is being undone on the server: the counts go down to 0. You can close this page.",
	threads.PhasePaused:     "Undoing is paused.",
	threads.PhaseFailed:     "Undoing stopped because of an error.",
	threads.PhaseCancelled:  "Undoing was cancelled: some of what was written is still there. Undo the rest, or reset the state.",
}

// labels are the names of the buttons, as the seed has them.
var labels = map[threads.Operation]string{
	threads.OpUpload: "Upload Data", threads.OpStart: "Start Processing", threads.OpStop: "Stop Processing",
	threads.OpContinue: "Continue Processing", threads.OpCancel: "Cancel Migration", threads.OpReset: "Reset State",
	threads.OpRetry: "Retry Refused Records", threads.OpUndo: "Undo Migration",
}

// compared says what came of comparing the data with the target after processing.
func compared(v *threads.Verification) string {
	switch {
	case v == nil || v.State == threads.JobFailed:
		return ""
	case v.State == threads.JobRunning:
		return " The target is being compared with the data."
	}
	return " " + console.Count(v.Present) + " of " + threads.Counted(v.Relations, "relationship") + " are in the target."
}
