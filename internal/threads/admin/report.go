package admin

import (
	"context"
	"math"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Report is everything that is known of a migration, for the people who sign it
// off.
type Report struct {
	At      time.Time // when it was made
	Final   bool      // the migration and the comparison after it are over
	Target  string
	Status  threads.MigrationStatus
	EndedAt time.Time     // when it was processed last; zero while it is, and before
	Worked  time.Duration // processing took, pauses left out
	Rate    float64       // records a second of Worked; 0 where that is not known

	Sites   threads.Sites
	Inputs  []threads.Input
	Preview *threads.Preview
	// Verification is the last comparison with the target; nil where there was none.
	Verification *threads.Verification
	// UndoLeft are the issues that undoing has left.
	UndoLeft []threads.UndoLeft
	// Trail is what was done, the oldest first; Earlier says that there is more
	// than is listed.
	Trail   []audit.Stored
	Earlier bool
}

// maxTrail is how many entries of the audit trail a report lists. A migration has
// about ten; more than this is no reading on paper.
const maxTrail = 500

// Report returns the report of the data that is loaded: fault.Conflict where none is.
func (t *Tool) Report(ctx context.Context) (*Report, error) {
	m, err := t.Store.Migration(ctx)
	if err != nil {
		return nil, err
	}
	if m.Stage == 0 || m.Phase == threads.PhaseLoading {
		return nil, errNothingToReport()
	}
	st, err := t.Store.Stage(ctx, m.Stage)
	if fault.Is(err, fault.NotFound) { // it was reset just now
		return nil, errNothingToReport()
	}
	if err != nil {
		return nil, err
	}
	r := &Report{At: t.Clock(), Target: t.Store.Target(), Worked: m.Worked, Sites: threads.SitesOf(st.Site(), t.Store.Target()),
		Inputs: st.Inputs, Preview: st.Preview}
	if r.Status, err = t.StatusOf(ctx, &m); err != nil {
		return nil, err
	}
	if r.Verification, err = t.Verification(ctx); err != nil {
		return nil, err
	}
	r.Final = m.Phase == threads.PhaseCompleted && (r.Verification == nil || r.Verification.State != threads.JobRunning)
	if r.UndoLeft, err = t.Store.UndoLeft(ctx, 0); err != nil {
		return nil, err
	}
	if r.Trail, err = t.Store.Trail(ctx, st.CreatedAt, maxTrail+1); err != nil {
		return nil, err
	}
	if r.Earlier = len(r.Trail) > maxTrail; r.Earlier {
		r.Trail = r.Trail[1:]
	}
	if !m.StartedAt.IsZero() && m.Phase != threads.PhaseProcessing {
		r.EndedAt = m.UpdatedAt
	}
	if m.Worked > 0 {
		const tenth = 10
		r.Rate = math.Round(tenth*float64(m.RecordsDone)/m.Worked.Seconds()) / tenth
	}
	return r, nil
}

func errNothingToReport() error {
	return fault.New(fault.Conflict, "Nothing is loaded that could be reported on. Load a hierarchy file and an id mappings file first.")
}
