// Package admin is the admin tool of the cloud side: what administrators see of
// a migration and do to it, by REST and on pages. The work itself is done by the
// package processing.
package admin

import (
	"context"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

// Tool is what REST and pages have in common.
type Tool struct {
	Store  *store.Store
	Target threads.Target // where parent maps are; nil is the store's own database

	// Dir is for files whose length is not known before their end; they are
	// there for as long as they come in.
	Dir       string
	MaxUpload int64 // bytes of a file
	Clock     func() time.Time
}

// actor is who asks, for the audit trail.
func actor(ctx context.Context) threads.Actor {
	origin := identity.OriginOf(ctx)
	a := threads.Actor{Address: origin.Address, RequestID: origin.RequestID}
	if p := identity.From(ctx); p != nil {
		a.Name, a.Source = p.Name, p.Source
	}
	return a
}
