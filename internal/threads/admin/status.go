package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Status is how the migration stands.
type Status struct {
	Status            threads.Status      `json:"status"`
	Phase             threads.Phase       `json:"phase"`
	Progress          Progress            `json:"progress"` // in distinct records, errors included
	Chunks            Chunks              `json:"chunks"`
	IssuesProcessed   int64               `json:"issuesProcessed"`
	ParentMapsCreated int64               `json:"parentMapsCreated"`
	Errors            Errors              `json:"errors"`
	Rate              float64             `json:"rate,omitzero"`        // records a second, while they are processed
	SecondsLeft       int64               `json:"secondsLeft,omitzero"` // at that rate
	WaitUntil         time.Time           `json:"waitUntil,omitzero"`
	StartedAt         time.Time           `json:"startedAt,omitzero"`
	UpdatedAt         time.Time           `json:"updatedAt,omitzero"`
	Undo              *Undo               `json:"undo,omitempty"` // nil where nothing was undone
	Message           string              `json:"message,omitempty"`
	Allowed           []threads.Operation `json:"allowed"`

	// Incomplete says what is wrong with the files of the data that is loaded.
	Incomplete []string `json:"incomplete,omitempty"`

	// Verified is the last comparison of the data with the target; nil where there
	// was none.
	Verified *threads.Verified `json:"verified,omitempty"`

	// Data are the files that are loaded or being loaded; nil where there are none.
	Data *threads.Drafts `json:"data,omitempty"`
}

// Undo is how far the migration is undone.
type Undo struct {
	Active bool  `json:"active"` // it is not over: while it goes on, the counts above go down
	Issues int64 `json:"issues"` // undone
	Kept   int64 `json:"kept"`   // those of them with threads that others changed since, which stay

	// Left are the first issues that were left, in whole or in part, and why.
	Left []threads.UndoLeft `json:"left,omitempty"`
}

func undoOf(m *threads.Migration) *Undo {
	if !m.Undoing && m.Undone == 0 {
		return nil
	}
	return &Undo{Active: m.Undoing, Issues: m.Undone, Kept: m.Kept}
}

// Undoing reports whether the migration is being undone, or that has paused.
func (s *Status) Undoing() bool { return s.Undo != nil && s.Undo.Active }

// Progress is how much of something is done.
type Progress struct {
	Processed int64 `json:"processed"`
	Total     int64 `json:"total"`
	Percent   int   `json:"percent"` // rounded down, 100 only at the end
}

// Chunks is how many chunks are done.
type Chunks struct {
	Processed int64 `json:"processed"`
	Total     int64 `json:"total"`
}

// Errors is how many records are errors.
type Errors struct {
	Permanent int64 `json:"permanent"`
	Retryable int64 `json:"retryable"`

	// Groups are the permanent errors by reason and by what the target said.
	Groups []threads.ErrorGroup `json:"groups,omitempty"`
}

// Status returns how the migration stands.
func (t *Tool) Status(ctx context.Context) (Status, error) {
	m, err := t.Store.Migration(ctx)
	if err != nil {
		return Status{}, err
	}
	return t.StatusOf(ctx, &m)
}

// StatusOf returns how m stands.
func (t *Tool) StatusOf(ctx context.Context, m *threads.Migration) (Status, error) {
	s := Status{
		Status: m.Phase.Status(), Phase: m.Phase,
		Progress:        Progress{m.RecordsDone, m.Records, m.Percent()},
		Chunks:          Chunks{m.ChunksDone, m.Chunks},
		IssuesProcessed: m.Issues, ParentMapsCreated: m.ParentMaps,
		Errors:    Errors{m.Permanent, m.Retryable, m.Groups.Counted()},
		StartedAt: m.StartedAt, UpdatedAt: m.UpdatedAt, Undo: undoOf(m), Message: m.Message, Allowed: m.Allowed(),
		Incomplete: lines(m.Incomplete),
	}
	now := t.Clock()
	s.Rate = t.rate.see(now, m)
	s.SecondsLeft = secondsLeft(m, s.Rate)
	if m.Pace.WaitUntil.After(now) {
		s.WaitUntil = m.Pace.WaitUntil
	}
	var err error
	if s.Undo != nil {
		if s.Undo.Left, err = t.Store.UndoLeft(ctx, threads.MaxListed); err != nil {
			return s, err
		}
	}
	if m.Stage == 0 {
		return s, nil
	}
	if s.Verified, err = t.outcomeOf(ctx, m); err != nil {
		return s, err
	}
	st, err := t.Store.Stage(ctx, m.Stage)
	if fault.Is(err, fault.NotFound) {
		return s, nil // it is over just now
	}
	if err != nil {
		return s, err
	}
	data := st.Drafts()
	s.Data = &data
	if m.Phase == threads.PhaseLoading {
		s.Message = stageSentence(st)
	}
	return s, nil
}

// lines are those of a text; none where there is no text.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// stageSentence says how far files are read.
func stageSentence(st *threads.StageState) string {
	if st.Step == "" {
		return "Waiting to read the files."
	}
	return fmt.Sprintf("%s: %d%%.", st.Step, st.Percent())
}
