// Package admin is what administrators see of a migration and do to it; the
// packages api and pages show it. The work itself is done by the package
// processing.
package admin

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

// Tool is the admin tool of the cloud side.
type Tool struct {
	Store  *store.Store
	Target threads.Target // where parent maps are; nil is the store's own database

	// Dir is for files whose length is not known before their end; they are
	// there for as long as they come in.
	Dir       string
	MaxUpload int64 // bytes of a file
	Clock     func() time.Time

	rate rateMeter
}

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

// Begin begins an upload, in the place of another one of its kind where replace says so.
func Begin(ctx context.Context, s *store.Uploads, u threads.Upload, replace bool) (threads.Upload, error) {
	if replace {
		return s.Replace(ctx, u)
	}
	return s.Create(ctx, u)
}
