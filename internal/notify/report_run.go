package notify

import (
	"fmt"
	"time"

	"outrigger/internal/fault"
)

// ReportRun is what a turn of a report that was due led to, ready to be kept.
type ReportRun struct {
	// Report is the report as it was when it was taken up: what a person saved
	// since makes the run void.
	Report ReportInfo
	At     time.Time // of the turn

	Due   time.Time // the due time that has been run for; zero: none
	Event *Event    // what is sent; nil: nothing
	Error string    // why nothing is; "" where something is, or nothing was due

	Next         time.Time // the next due time; zero: it cannot be told
	AskAt        time.Time // when the report has its next turn
	FailingSince time.Time // since when the platform has not answered for Next; zero: it has

	Lease string // that under which the platform was asked, and its fence
	Fence int64
}

// Ended reports whether the due time is through, with a message or an error.
func (run *ReportRun) Ended() bool { return run.Event != nil || run.Error != "" }

// Receipt is what the run's event is stored under. It has the fingerprint of a
// report at a due time: no body came in that could tell runs apart.
func (run *ReportRun) Receipt(now time.Time, generation int64) *Receipt {
	return &Receipt{
		Connection: run.Event.Connection, Key: ReportKey, ReceivedAt: now, Outcome: Reported, Generation: generation,
		Events: []Event{{At: run.Due}}, Digest: fmt.Appendf(nil, "report %d due %d", run.Report.ID, run.Due.UnixMicro()),
	}
}

// RunOutcome is what became of a due time: what became of its message, where it
// has one.
type RunOutcome string

const (
	RunDelivered RunOutcome = RunOutcome(Delivered)
	RunWaiting   RunOutcome = RunOutcome(Waiting)
	RunFailed    RunOutcome = RunOutcome(Failed)    // the chat refused it; or the platform did not answer, or there is no such time zone
	RunCancelled RunOutcome = RunOutcome(Cancelled) // by a newer report, or by a person
	RunMissed    RunOutcome = "missed"              // it passed while nothing could run it, and was too long ago to catch up
)

// ReportDelivery is the message of a run, as far as its report tells of it.
type ReportDelivery struct {
	ID      int64 // 0: there was none, or it is too old to be kept
	State   DeliveryState
	Reason  string // in the chat's words, where that refused it and everyone may read them
	Inside  string // as of a Delivery
	EndedAt time.Time
}

// LastOutcome is what became of the last run; "" where it never ran, or that is
// not known any more.
func (r *ReportInfo) LastOutcome() RunOutcome {
	if r.LastError != "" {
		return RunFailed
	}
	return RunOutcome(r.LastDelivery.State)
}

// LastFailure says why the channel has no message of the last run, and since when
// that is known; "" where it has one, or will.
func (r *ReportInfo) LastFailure() (why string, at time.Time) {
	switch {
	case r.LastError != "":
		return r.LastError, r.LastErrorAt
	case r.LastDelivery.State == Failed:
		return r.LastDelivery.Reason, r.LastDelivery.EndedAt
	}
	return "", time.Time{}
}

// Outcomes are those of the due times that the turn ends without a message; none
// where the platform is asked again. Due times that pass while Outrigger is down
// are one.
func (run *ReportRun) Outcomes() (all []RunOutcome) {
	if waited := run.Report.NextRunAt; !waited.IsZero() && !waited.Equal(run.Due) && !waited.After(run.At) {
		if run.Due.IsZero() && run.Error != "" {
			return []RunOutcome{RunFailed}
		}
		all = append(all, RunMissed)
	}
	if !run.Due.IsZero() && run.Error != "" {
		all = append(all, RunFailed)
	}
	return all
}

const (
	// retryReport is how often a platform is asked again that did not answer, and
	// retryReportFor for how long: after that a person is told.
	retryReport    = time.Minute
	retryReportFor = time.Hour
	// retryZone is how often a report is looked at again whose time zone is not
	// known here: the next release may know it.
	retryZone = time.Hour
)

// BeginRun begins the turn of a report at a moment. Where the run has a Due time,
// the platform is to be asked, and Conclude told of the answer; else it can be
// kept as it is.
func (r *ReportInfo) BeginRun(now time.Time) *ReportRun {
	run := &ReportRun{Report: *r, At: now}
	turn, err := r.turn(now)
	switch {
	case err != nil:
		run.Error, run.AskAt = "The report has no due time: "+err.Error()+".", now.Add(retryZone)
		return run
	case r.NextRunAt.IsZero(): // it was not known what it waits for
	case turn.Due.Before(r.NextRunAt): // too late for it
		if !r.RetryingSince.IsZero() {
			run.Error = "The platform did not answer when the report was due, and Outrigger was not running to ask it again."
		}
	default:
		run.Due = turn.Due
	}
	run.Next, run.AskAt = turn.Next, turn.Next
	return run
}

// Conclude tells what came of asking the platform: what the report says, or why
// it did not answer.
func (run *ReportRun) Conclude(e *Event, err error) {
	if err == nil {
		run.Event = e
		return
	}
	since := run.Report.RetryingSince
	if since.IsZero() || !run.Due.Equal(run.Report.NextRunAt) {
		since = run.At
	}
	if run.At.Sub(since) >= retryReportFor {
		run.Error = fault.As(err).Message
		return
	}
	pause := min(max(retryReport, fault.As(err).RetryAfter), max(retryReport, since.Add(retryReportFor).Sub(run.At)))
	run.Next, run.AskAt, run.FailingSince = run.Due, run.At.Add(pause), since
}
