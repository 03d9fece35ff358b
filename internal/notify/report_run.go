package notify

import (
	"fmt"
	"time"

	"outrigger/internal/fault"
)

// ReportRun is what a turn of a report that was due led to, ready to be kept.
type ReportRun struct {
	// Report is the report as it was when the turn began: the run is void if it was
	// saved since.
	Report ReportInfo
	At     time.Time // of the turn

	Due   time.Time // the due time that has been run for; zero: none
	Event *Event    // what is sent; nil: nothing
	Error string    // why nothing is; "" where something is, or nothing was due

	Next         time.Time // the next due time; zero: it cannot be told
	AskAt        time.Time // when the report has its next turn
	FailingSince time.Time // since when the platform has not answered for Next; zero: it has

	Lease string // under which the platform was asked
	Fence int64  // of that lease
}

// Ended reports whether the due time is through, with a message or an error.
func (run *ReportRun) Ended() bool { return run.Event != nil || run.Error != "" }

// Receipt returns what the run's event is stored under. Its digest is made of the report
// and the due time, because there is no body that tells runs apart.
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

// LastOutcome returns what became of the last run, or "" if the report never ran or that
// is no longer known.
func (r *ReportInfo) LastOutcome() RunOutcome {
	if r.LastError != "" {
		return RunFailed
	}
	return RunOutcome(r.LastDelivery.State)
}

// LastFailure returns why the channel has no message of the last run and since when that
// is known; why is "" if the channel has one, or will have it.
func (r *ReportInfo) LastFailure() (why string, at time.Time) {
	switch {
	case r.LastError != "":
		return r.LastError, r.LastErrorAt
	case r.LastDelivery.State == Failed:
		return r.LastDelivery.Reason, r.LastDelivery.EndedAt
	}
	return "", time.Time{}
}

// Outcomes lists what became of the due times that the turn ends without a message; none
// if the platform is to be asked again. Due times that passed while Outrigger was down
// count as one.
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

// BeginRun begins a turn of the report at now. If the run has a Due time, the platform is
// to be asked and Conclude called with the answer; else the run can be kept as it is.
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

// Conclude ends a run with the platform's answer: the event to send, or why there is
// none.
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
