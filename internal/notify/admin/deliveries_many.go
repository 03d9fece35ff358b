package admin

import (
	"context"
	"math"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// MaxAtOnce is how many deliveries one request redelivers or cancels; it is
// repeated for more.
const MaxAtOnce = 10_000

// pageAtOnce is how many of them are looked at in one go.
const pageAtOnce = 500

// each calls do with the deliveries that f selects and the caller may do something
// with, a page at a time, and returns how many that principal may only see.
func (s *Deliveries) each(ctx context.Context, f notify.DeliveryFilter, do func([]notify.DeliveryInfo) error) (forbidden int, err error) {
	counted := int64(math.MaxInt64) // a page begins behind the last one that was found, so some are seen again
	may := func(d *notify.DeliveryInfo, who *identity.Principal) bool {
		changeable := d.ChangeableBy(who)
		if !changeable && d.ID < counted && d.VisibleTo(who) {
			forbidden, counted = forbidden+1, d.ID
		}
		return changeable
	}
	f.Limit = pageAtOnce
	for range MaxAtOnce / pageAtOnce {
		found, err := s.pick(ctx, f, may)
		if err != nil || len(found) == 0 {
			return forbidden, err
		}
		if err := do(found); err != nil {
			return forbidden, err
		}
		f.Before = found[len(found)-1].ID
	}
	return forbidden, nil
}

// changeables returns the ids of the deliveries that f selects and the caller may do
// something with, the newest first, at most MaxAtOnce.
func (s *Deliveries) changeables(ctx context.Context, f notify.DeliveryFilter) (ids []int64, forbidden int, err error) {
	forbidden, err = s.each(ctx, f, func(found []notify.DeliveryInfo) error {
		for i := range found {
			ids = append(ids, found[i].ID)
		}
		return nil
	})
	return ids, forbidden, err
}

// redeliverable are the ended deliveries that f selects.
func (s *Deliveries) redeliverable(ctx context.Context, f notify.DeliveryFilter) (ids []int64, forbidden int, err error) {
	if f.State == notify.Waiting || f.State == notify.Deciding || f.State == "" && f.IDs == nil {
		return nil, 0, fault.InvalidField("state", "Use failed, cancelled or delivered.")
	}
	return s.changeables(ctx, f)
}

// WouldRedeliver returns what RedeliverAll would do, and when that was so: the
// question before it, whose time and Queued are the AsOf and Count of the answer.
func (s *Deliveries) WouldRedeliver(ctx context.Context, f notify.DeliveryFilter) (n notify.Redelivered, at time.Time, err error) {
	if _, at, err = s.Store.WouldRedeliver(ctx, nil); err != nil {
		return n, at, err
	}
	if f.AsOf.IsZero() {
		f.AsOf = at
	}
	ids, forbidden, err := s.redeliverable(ctx, f)
	if err != nil {
		return n, at, err
	}
	n, _, err = s.Store.WouldRedeliver(ctx, ids)
	n.Forbidden = forbidden
	return n, at, err
}

// RedeliverAll puts the deliveries that f selects back into the queue, at most
// MaxAtOnce; f must name a state that is an end, or ids. It is fault.Conflict
// where they are more than those of the question that f answers.
func (s *Deliveries) RedeliverAll(ctx context.Context, f notify.DeliveryFilter) (notify.Redelivered, error) {
	if !f.AsOf.IsZero() {
		now, _, err := s.WouldRedeliver(ctx, f)
		if err != nil {
			return notify.Redelivered{}, err
		}
		if now.Queued > f.Count {
			return notify.Redelivered{}, fault.New(fault.Conflict, "%d deliveries can be redelivered now, more than the %d of the question. Nothing was done; ask again.", now.Queued, f.Count)
		}
	}
	ids, forbidden, err := s.redeliverable(ctx, f)
	if err != nil {
		return notify.Redelivered{}, err
	}
	done, err := s.Store.Redeliver(ctx, actor(ctx), ids)
	done.Forbidden = forbidden
	return done, err
}

// Cancellation is the result of a request to cancel.
type Cancellation struct {
	Cancelled int
	Forbidden int // who asked sees them, and does not administer all their rules
}

// WouldCancel returns what CancelAll would do.
func (s *Deliveries) WouldCancel(ctx context.Context, f notify.DeliveryFilter) (n Cancellation, err error) {
	n.Forbidden, err = s.each(ctx, f, func(found []notify.DeliveryInfo) error {
		for i := range found {
			if found[i].State == notify.Waiting || found[i].State == notify.Deciding {
				n.Cancelled++
			}
		}
		return nil
	})
	return n, err
}

// CancelAll cancels the waiting deliveries that f selects, at most MaxAtOnce.
func (s *Deliveries) CancelAll(ctx context.Context, f notify.DeliveryFilter) (n Cancellation, err error) {
	if f.IDs == nil {
		f.State = notify.Waiting
	}
	ids, forbidden, err := s.changeables(ctx, f)
	if err != nil {
		return n, err
	}
	n.Forbidden = forbidden
	n.Cancelled, err = s.Store.Cancel(ctx, actor(ctx), ids)
	return n, err
}
