package pages

import (
	"fmt"
	"math"
	"time"

	"outrigger/internal/threads"
)

// step is one of those that a migration consists of.
type step struct {
	Number  int
	Label   string
	Done    bool
	Open    bool   // what is to be done, or runs, now
	Outcome string // of one that is done, in a few words
}

// stepsOf are the steps of a migration: one is open, and those before it are done.
// The last stays open once it is done.
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
	default:
		done = 3
	}
	for i := range list {
		list[i].Number, list[i].Done, list[i].Open = i+1, i < done, i == done
		if list[i].Done {
			list[i].Outcome = view.outcome(i + 1)
		}
	}
	list[4].Done = done == 4 && view.Result != nil && view.Result.State == threads.JobDone
	return list
}

// outcome says in a few words what came of a step that is done.
func (v *migrationView) outcome(number int) string {
	switch {
	case number == 1 && v.Hierarchy.Here() && v.Mappings.Here():
		return v.Hierarchy.Draft.named() + " and " + v.Mappings.Draft.named()
	case number == 1 && v.Stage != nil:
		return v.Stage.Files()
	case number == 2 && v.Stage != nil && v.Stage.Preview != nil:
		return v.Stage.Verdict().String()
	case number == 3:
		return threads.Counted(v.Status.Progress.Total, "record") + " in " + threads.Counted(v.Status.Chunks.Total, "chunk")
	case number == 4:
		return threads.Counted(v.Status.ParentMapsCreated, "relationship") + " written, " + threads.Counted(v.Status.Errors.Permanent, "error")
	}
	return ""
}

// First is the step that the page has beside the others: its forms stay as they are
// while the others are renewed.
func (v *migrationView) First() step { return v.Steps[0] }

// Later are the other steps.
func (v *migrationView) Later() []step { return v.Steps[1:] }

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
