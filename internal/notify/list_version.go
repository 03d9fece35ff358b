package notify

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"

	"outrigger/internal/identity"
)

// ListVersion becomes a text that is another one when any of what was added to it
// is. The text tells no more, and holds for one process.
type ListVersion struct{ sum hash.Hash64 }

// NewListVersion is one with these values added.
func NewListVersion(values ...any) *ListVersion {
	v := &ListVersion{fnv.New64a()}
	v.Add(values...)
	return v
}

// Add adds a row.
func (v *ListVersion) Add(values ...any) { fmt.Fprintln(v.sum, values...) }

// Text is the version of what was added.
func (v *ListVersion) Text() string { return fmt.Sprintf("%x", v.sum.Sum64()) }

// SeesAll reports whether who asks may see every delivery and event: what is true of
// such a list is true for all of them.
func SeesAll(ctx context.Context) bool {
	return identity.From(ctx).May(identity.Admin, identity.Resource{})
}

// Version returns a text that is another one when what List gives for f may be. It
// is cheap for a caller who SeesAll and names no project, and costs as much as
// List for others.
func (s *Deliveries) Version(ctx context.Context, f DeliveryFilter) (string, error) {
	if SeesAll(ctx) && f.Project == "" {
		return s.Store.DeliveriesVersion(ctx, f)
	}
	found, err := s.List(ctx, f)
	version := NewListVersion()
	for i := range found {
		d := &found[i]
		version.Add(d.ID, d.State, d.Reason, d.Attempts, d.DueAt.UnixMicro(), d.HeldUntil.UnixMicro(), d.FinishedAt.UnixMicro())
		for k := range d.Rules {
			version.Add(d.Rules[k].ID, d.Rules[k].Version)
		}
	}
	return version.Text(), err
}

// Version returns a text that is another one when what List gives for f may be, as
// that of Deliveries does; a filter by types costs as much as List too.
func (s *Events) Version(ctx context.Context, f EventFilter) (string, error) {
	if SeesAll(ctx) && f.Types == 0 {
		return s.Store.EventsVersion(ctx, f)
	}
	page, err := s.List(ctx, f)
	version := NewListVersion(page.Next)
	for i := range page.Events {
		e := &page.Events[i]
		version.Add(e.ID, e.Outcome, e.Reason, e.Rules, e.Deliveries)
	}
	return version.Text(), err
}
