package admin

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Events has the operations on the log of what came in, each with its
// permission check: the REST API and the console both go through it.
type Events struct {
	Store *store.Store
}

// maxEventReads limits how often one page reads on for a filter that few events
// pass: with the store's bound on each it makes 50,000 events, or half a second.
const maxEventReads = 5

// List returns the newest events that f lets through: those of the project or
// repository that f names for its administrators, everything for an ADMIN, and
// for others where f names no project, what they administer.
func (s *Events) List(ctx context.Context, f notify.EventFilter) (notify.EventPage, error) {
	who := identity.From(ctx)
	if err := s.narrow(&f, who); err != nil {
		return notify.EventPage{}, err
	}
	var page notify.EventPage
	limit := f.Limit
	for range maxEventReads {
		f.Limit = limit + 1 - len(page.Events) // one more says whether there is a next page
		read, err := s.Store.ListEvents(ctx, f)
		if err != nil {
			return notify.EventPage{}, err
		}
		page.Events = append(page.Events, read.Events...)
		page.Next, f.Before = read.Next, read.Next
		if len(page.Events) > limit {
			page.Events = page.Events[:limit]
			page.Next = page.Events[limit-1].ID
			break
		}
		if read.Next == 0 {
			break
		}
	}
	return page, nil
}

// narrow holds the filter to what the principal may see.
func (s *Events) narrow(f *notify.EventFilter, who *identity.Principal) error {
	if f.Project == "" && f.Repository != "" {
		return fault.InvalidField("projectKey", "A repositoryKey needs its projectKey too.")
	}
	if who.May(identity.Admin, identity.Resource{}) {
		return nil
	}
	if f.Project != "" {
		name, err := s.Store.Platforms().Connections.Resolve(f.Connection)
		if err != nil {
			return err
		}
		f.Connection = name
		return who.Require(notify.AccessOf(name, f.Project, f.Repository))
	}
	if who == nil {
		return identity.ErrUnauthenticated()
	}
	f.Places = administered(who)
	return nil
}

// Get returns one event: fault.NotFound for a SYS_ADMIN, else fault.Forbidden as
// for an event of others.
func (s *Events) Get(ctx context.Context, id int64) (notify.LoggedEvent, error) {
	e, err := s.Store.LoggedEvent(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return notify.LoggedEvent{}, err
	}
	if err == nil && e.VisibleTo(identity.From(ctx)) {
		return e, nil
	}
	return notify.LoggedEvent{}, identity.Missing(ctx, "There is no event with id %d.", id)
}

// maxShownBody is how much of a body that was not understood is shown: more
// than any platform sends but for pushes of many refs.
const maxShownBody = 256 << 10

// Body returns the beginning of the body of an event that was not understood, as
// for Get; nil where none is kept.
func (s *Events) Body(ctx context.Context, e *notify.LoggedEvent) ([]byte, error) {
	if e.BodySize == 0 {
		return nil, nil
	}
	return s.Store.EventBody(ctx, e.ID, maxShownBody)
}

// Version returns a text that is another one when what List returns for f may be, as
// that of Deliveries does; a filter by types costs as much as List too.
func (s *Events) Version(ctx context.Context, f notify.EventFilter) (string, error) {
	if SeesAll(ctx) && f.Types == 0 {
		return s.Store.EventsVersion(ctx, f)
	}
	page, err := s.List(ctx, f)
	version := notify.NewListVersion(page.Next)
	for i := range page.Events {
		e := &page.Events[i]
		version.Add(e.ID, e.Outcome, e.Reason, e.Rules, e.Deliveries)
	}
	return version.Text(), err
}
