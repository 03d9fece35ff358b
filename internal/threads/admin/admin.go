// Package admin is what administrators see of a migration and do to it; the
// packages api and pages show it. The work itself is done by the package
// processing.
package admin

import (
	"context"
	"time"

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

// Begin begins an upload, in the place of another one of its kind where replace says so.
func Begin(ctx context.Context, s *store.Uploads, u threads.Upload, replace bool) (threads.Upload, error) {
	if replace {
		return s.Replace(ctx, u)
	}
	return s.Create(ctx, u)
}
