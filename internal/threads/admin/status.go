package admin

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Status returns how the migration stands.
func (t *Tool) Status(ctx context.Context) (threads.MigrationStatus, error) {
	m, err := t.Store.Migration(ctx)
	if err != nil {
		return threads.MigrationStatus{}, err
	}
	return t.StatusOf(ctx, &m)
}

// StatusOf returns how m stands.
func (t *Tool) StatusOf(ctx context.Context, m *threads.Migration) (threads.MigrationStatus, error) {
	s := threads.StatusOf(m)
	s.Incomplete = lines(m.Incomplete)
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
