package pages

import (
	"fmt"
	"math"
	"time"

	"outrigger/internal/threads"
)

// step is one of those that a migration consists of.
type step struct {
	Label string
	Done  bool
	Open  bool // what is to be done, or runs, now
}

// stepsOf are the steps of a migration: at most one is open, and those before it
// are done.
func stepsOf(view *migrationView) []step {
	list := []step{{Label: "Files"}, {Label: "Preview"}, {Label: "Load"}, {Label: "Process"}, {Label: "Verify and report"}}
	done := 0
	switch view.Status.Phase {
	case threads.PhaseEmpty:
		if view.Hierarchy.Here() && view.Mappings.Here() {
			done = 1
		}
	case threads.PhaseLoading:
		done = 2
	case threads.PhaseCompleted:
		done = 4
		if view.Result != nil && view.Result.State == threads.JobDone {
			done = 5
		}
	default:
		done = 3
	}
	for i := range list {
		list[i].Done, list[i].Open = i < done, i == done
	}
	return list
}

// Pace says how fast records are processed and how long the rest takes; "" where
// that is not known.
func (v *migrationView) Pace() string {
	if v.Status.Rate == 0 {
		return ""
	}
	rate := "less than 1 record a second"
	if v.Status.Rate >= 1 {
		rate = threads.Thousands(int64(math.Round(v.Status.Rate))) + " records a second"
	}
	return rate + ", " + left(time.Duration(v.Status.SecondsLeft)*time.Second) + " left"
}

// left is a length of time in words, in its largest unit.
func left(d time.Duration) string {
	switch {
	case d <= time.Minute:
		return "less than a minute"
	case d <= 2*time.Hour:
		return fmt.Sprintf("about %d minutes", int(math.Ceil(d.Minutes())))
	case d <= 48*time.Hour:
		return fmt.Sprintf("about %d hours", int(math.Ceil(d.Hours())))
	}
	return fmt.Sprintf("about %d days", int(math.Ceil(d.Hours()/24)))
}
