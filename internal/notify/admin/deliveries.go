package admin

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Deliveries has the operations on deliveries, each with its permission check:
// the REST API and the console both go through it.
type Deliveries struct {
	Store *store.Store
}

// maxPassedOver limits how many deliveries of others one page reads for
// a caller who sees few of them.
const maxPassedOver = 5000

// maxPlaced is among how many deliveries a page looks for those of a project, a
// repository, or the places that its reader administers: some thousandths of a second.
const maxPlaced = 20_000

// List returns the newest deliveries that f lets through, as far as the caller may
// see them. It looks through at most some thousand others.
func (s *Deliveries) List(ctx context.Context, f notify.DeliveryFilter) ([]notify.DeliveryInfo, error) {
	who, inside := identity.From(ctx), notify.ReadsInside(ctx)
	var out []notify.DeliveryInfo
	want := f.Limit
	f.Among = maxPlaced
	if who != nil && !SeesAll(ctx) {
		f.Places = administered(who)
	}
	for passed := 0; len(out) < want && passed < maxPassedOver; {
		found, err := s.Store.ListDeliveries(ctx, f)
		if err != nil {
			return nil, err
		}
		infos, err := s.Store.Describe(ctx, found)
		if err != nil {
			return nil, err
		}
		for _, d := range infos {
			if len(out) < want && d.Matches(f) && d.VisibleTo(who) {
				d.Show(inside)
				out = append(out, d)
			} else {
				passed++
			}
			f.Before = d.ID
		}
		if len(found) < f.Limit {
			break
		}
	}
	return out, nil
}

// Summary counts what happened since a time, and what is wrong now, for an
// ADMIN.
func (s *Deliveries) Summary(ctx context.Context, since time.Time) (notify.Summary, error) {
	if err := identity.Require(ctx, identity.Admin, identity.Resource{}); err != nil {
		return notify.Summary{}, err
	}
	sum, err := s.Store.Summary(ctx, since)
	sum.Troubled = forReader(ctx, sum.Troubled)
	return sum, err
}

// History returns the outcomes of messages since a time, for an ADMIN: a sample for
// every step in which some node took one, in the order of time.
func (s *Deliveries) History(ctx context.Context, since time.Time, step time.Duration) ([]notify.Sample, error) {
	if err := identity.Require(ctx, identity.Admin, identity.Resource{}); err != nil {
		return nil, err
	}
	return s.Store.History(ctx, since, step)
}

// Get returns one delivery with its attempts: fault.NotFound for
// a SYS_ADMIN, else fault.Forbidden as for a delivery of others.
func (s *Deliveries) Get(ctx context.Context, id int64) (notify.DeliveryInfo, []notify.Attempt, error) {
	d, attempts, err := s.Store.Delivery(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return notify.DeliveryInfo{}, nil, err
	}
	if err == nil {
		infos, err := s.Store.Describe(ctx, []*notify.Delivery{d})
		if err != nil {
			return notify.DeliveryInfo{}, nil, err
		}
		if infos[0].VisibleTo(identity.From(ctx)) {
			administers := identity.From(ctx).May(identity.Admin, identity.Resource{})
			for i := range attempts {
				attempts[i].Show(notify.ReadsInside(ctx), administers)
			}
			return forReader(ctx, infos)[0], attempts, nil
		}
	}
	return notify.DeliveryInfo{}, nil, identity.Missing(ctx, "There is no delivery with id %d.", id)
}

// changeable returns a delivery that the caller may redeliver or cancel.
func (s *Deliveries) changeable(ctx context.Context, id int64) (notify.DeliveryInfo, error) {
	d, _, err := s.Get(ctx, id)
	if err == nil && !d.ChangeableBy(identity.From(ctx)) {
		err = fault.New(fault.Forbidden, "You do not administer all rules of this message. Ask someone who does.")
	}
	return d, err
}

// Redeliver puts a delivery that ended back into the queue: fault.Conflict
// where it waits already, or no enabled rule wants it.
func (s *Deliveries) Redeliver(ctx context.Context, id int64) error {
	d, err := s.changeable(ctx, id)
	if err != nil {
		return err
	}
	if waits(d.State) {
		return fault.New(fault.Conflict, "Delivery %d is already waiting.", id)
	}
	done, err := s.Store.Redeliver(ctx, actor(ctx), []int64{id})
	if err == nil && done.Done == 0 {
		if len(d.Rules)+len(d.Reports) == 0 {
			return fault.New(fault.Conflict, "What delivery %d was for is deleted, and nothing else uses its channel. Create a rule or report "+
				"with its webhook URL first.", id)
		}
		return fault.New(fault.Conflict, "No enabled rule takes delivery %d any more. Enable the rule first.", id)
	}
	return err
}

// TryNow has a waiting delivery tried at once: fault.Conflict where it does not
// wait.
func (s *Deliveries) TryNow(ctx context.Context, id int64) error {
	if _, err := s.changeable(ctx, id); err != nil {
		return err
	}
	return s.Store.TryNow(ctx, actor(ctx), id)
}

// Cancel ends a waiting delivery: fault.Conflict where it does not wait.
func (s *Deliveries) Cancel(ctx context.Context, id int64) error {
	if _, err := s.changeable(ctx, id); err != nil {
		return err
	}
	n, err := s.Store.Cancel(ctx, actor(ctx), []int64{id})
	if err == nil && n.Done == 0 {
		return fault.New(fault.Conflict, "Delivery %d is no longer waiting.", id)
	}
	return err
}

// Version returns a text that is another one when what List returns for f may be. It
// is cheap for a caller who SeesAll and names no project, and costs as much as
// List for others.
func (s *Deliveries) Version(ctx context.Context, f notify.DeliveryFilter) (string, error) {
	if SeesAll(ctx) && f.Project == "" {
		return s.Store.DeliveriesVersion(ctx, f)
	}
	found, err := s.List(ctx, f)
	version := notify.NewListVersion()
	for i := range found {
		d := &found[i]
		version.Add(d.ID, d.State, d.Reason, d.Attempts, d.DueAt.UnixMicro(), d.HeldUntil.UnixMicro(), d.FinishedAt.UnixMicro())
		for k := range d.Rules {
			version.Add(d.Rules[k].ID, d.Rules[k].Version)
		}
	}
	return version.Text(), err
}

// Digest returns what went out, or goes out, in one message with a delivery that
// Get returned: nothing where it has a message of its own.
func (s *Deliveries) Digest(ctx context.Context, d notify.DeliveryInfo) (notify.Digest, error) {
	if d.Batch == 0 {
		return notify.Digest{}, nil
	}
	found, err := s.Store.DigestMembers(ctx, d.Delivery, notify.MaxDigest)
	if err != nil {
		return notify.Digest{}, err
	}
	infos, err := s.Store.Describe(ctx, found)
	if err != nil {
		return notify.Digest{}, err
	}
	var digest notify.Digest
	who := identity.From(ctx)
	for i := range infos {
		if infos[i].VisibleTo(who) {
			digest.Members = append(digest.Members, infos[i])
		} else {
			digest.Others++
		}
	}
	forReader(ctx, digest.Members)
	return digest, nil
}
