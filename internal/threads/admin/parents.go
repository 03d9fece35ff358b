package admin

import (
	"context"
	"errors"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Parents returns the parent map of an issue as the target has it.
func (t *Tool) Parents(ctx context.Context, cloudIssueID int64) (threads.ParentMap, error) {
	if t.Target == nil {
		return t.Store.Map(ctx, cloudIssueID)
	}
	m, err := t.Target.Read(ctx, cloudIssueID)
	var failure *threads.TargetError
	if !errors.As(err, &failure) {
		return m, err
	}
	if failure.Kind == threads.TargetMissing {
		return nil, fault.Wrap(err, fault.NotFound, "The target has no issue %d.", cloudIssueID)
	}
	out := fault.Wrap(err, fault.Unavailable, "The target %s: %s", t.Store.Target(), failure.Message)
	out.RetryAfter = failure.Wait
	return nil, out
}
