package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// courseStep is one thing in the course of a delivery: an attempt, or what is said
// in one line.
type courseStep struct {
	At       time.Time // zero: of what is not kept
	Says     string    // "": an attempt
	Number   int
	Attempt  *notify.Attempt
	Tone     console.Tone
	Result   string // what came back, in a few words
	Open     bool
	NotTaken bool // it did not deliver
	Drawn    notify.Format
}

// Curl is what was sent as a shell command.
func (s courseStep) Curl() string { return curlOf(s.Attempt.Request) }

// Request is what was sent, for reading.
func (s courseStep) Request() string { return indented(s.Attempt.Request) }

// Answer is the body that came back, for reading.
func (s courseStep) Answer() string { return indented(s.Attempt.Answer) }

// courseOf is what happened to a delivery, the last first.
func courseOf(view *deliveryView, attempts []notify.Attempt) []courseStep {
	begun := "Received"
	if view.OfReport {
		begun = "Created"
	}
	steps := []courseStep{{At: view.CreatedAt, Says: begun}}
	kept := len(attempts)
	for i := range attempts {
		if i == notify.FirstAttempts && view.Attempts > kept {
			steps = append(steps, courseStep{Says: console.Count(int64(view.Attempts-kept)) + " attempts between, which are not kept"})
		}
		number := i + 1
		if i >= notify.FirstAttempts && view.Attempts > kept {
			number += view.Attempts - kept
		}
		steps = append(steps, attemptStep(&attempts[i], number, cmp.Or(attempts[i].Format, view.Format)))
	}
	if kept > 0 {
		steps[len(steps)-1].Open = true
	}
	if !view.QueuedAt.IsZero() {
		at := slices.IndexFunc(steps, func(s courseStep) bool { return s.At.After(view.QueuedAt) })
		if at < 0 {
			at = len(steps)
		}
		steps = slices.Insert(steps, at, courseStep{At: view.QueuedAt, Says: "Put back into the queue"})
	}
	switch view.State {
	case notify.Cancelled:
		steps = append(steps, courseStep{At: view.FinishedAt, Says: "Cancelled"})
	case notify.Failed:
		steps = append(steps, courseStep{At: view.FinishedAt, Says: "Failed"})
	}
	slices.Reverse(steps)
	return steps
}

func attemptStep(a *notify.Attempt, number int, format notify.Format) courseStep {
	s := courseStep{At: a.At, Number: number, Attempt: a, Drawn: format, Tone: console.Bad, NotTaken: true}
	switch {
	case a.Status == 0:
		s.Result = "no answer"
	case a.Status >= 200 && a.Status < 300:
		s.Tone, s.NotTaken = console.Good, false
		fallthrough
	default:
		s.Result = statusText(a.Status)
	}
	return s
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return strconv.Itoa(status) + " " + text
	}
	return strconv.Itoa(status)
}
