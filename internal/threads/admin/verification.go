package admin

import (
	"context"

	"outrigger/internal/threads"
)

// outcomeOf is the last comparison of m's data in short; nil when there was none.
func (t *Tool) outcomeOf(ctx context.Context, m *threads.Migration) (*threads.Verified, error) {
	v, err := t.verificationAbout(ctx, m)
	if v == nil || err != nil {
		return nil, err
	}
	return &threads.Verified{
		State: v.State, Complete: v.State == threads.JobDone && v.Complete(), Compared: v.Compared, NotCompared: v.NotCompared,
	}, nil
}

func (t *Tool) verificationOf(j threads.Job, m *threads.Migration) (*threads.Verification, error) {
	var v threads.VerifyJob
	if err := j.Read(&v); err != nil {
		return nil, err
	}
	out := &threads.Verification{
		State: j.State, Done: share(v.Chunk, v.Chunks, j.State), Comparison: v.Comparison, UpdatedAt: j.UpdatedAt, Message: j.Message,
		Incomplete: lines(m.Incomplete),
	}
	if len(v.Projects) == 1 && v.Projects[""] != (threads.ProjectCount{}) {
		out.Projects = nil // none is known
	}
	if j.State == threads.JobRunning && v.Pace.WaitUntil.After(t.Clock()) {
		out.WaitUntil = v.Pace.WaitUntil
	}
	return out, nil
}

// Verification returns the last comparison of the data that is loaded; nil when
// there was none.
func (t *Tool) Verification(ctx context.Context) (*threads.Verification, error) {
	m, err := t.Store.Migration(ctx)
	if err != nil {
		return nil, err
	}
	return t.verificationAbout(ctx, &m)
}

func (t *Tool) verificationAbout(ctx context.Context, m *threads.Migration) (*threads.Verification, error) {
	j, err := t.Store.Job(ctx, threads.JobVerify)
	if err != nil || j.State == "" {
		return nil, err
	}
	var v threads.VerifyJob
	if err := j.Read(&v); err != nil || m.Stage != v.Stage {
		return nil, err
	}
	return t.verificationOf(j, m)
}

// Verify begins a comparison, unless one runs.
func (t *Tool) Verify(ctx context.Context) (*threads.Verification, error) {
	if _, err := t.Store.Verify(ctx, true); err != nil {
		return nil, err
	}
	j, err := t.Store.Job(ctx, threads.JobVerify)
	if err != nil {
		return nil, err
	}
	m, err := t.Store.Migration(ctx)
	if err != nil {
		return nil, err
	}
	return t.verificationOf(j, &m)
}

// share is how much of a job is done, 1 only when it is over.
func share(done, all int64, state string) float64 {
	switch {
	case state == threads.JobDone:
		return 1
	case all == 0:
		return 0
	}
	return min(float64(done)/float64(all), 0.99)
}
