package admin

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// MaxAtOnce is how many deliveries one request redelivers or cancels; it is
// repeated for more.
const MaxAtOnce = 10_000

// maxLookedThrough is how many deliveries one request looks through for those: some
// seconds.
const maxLookedThrough = 100_000

// pageAtOnce is how many of them are read in one go.
const pageAtOnce = 500

// choice is what a filter selects of what the caller may do something with.
type choice struct {
	ids       []int64 // the newest first, at most MaxAtOnce
	forbidden int     // how many the caller may only see
	more      bool    // there may be more than ids
}

// choose returns the deliveries that f selects, that the caller may do something with
// and that are wanted.
func (s *Deliveries) choose(ctx context.Context, f notify.DeliveryFilter, wanted func(*notify.DeliveryInfo) bool) (c choice, err error) {
	who := identity.From(ctx)
	f.Limit = pageAtOnce
	for looked := 0; looked < maxLookedThrough; looked += pageAtOnce {
		found, err := s.Store.ListDeliveries(ctx, f)
		if err != nil {
			return c, err
		}
		infos, err := s.Store.Describe(ctx, found)
		if err != nil {
			return c, err
		}
		for i := range infos {
			d := &infos[i]
			f.Before = d.ID
			switch {
			case !wanted(d) || !d.Matches(f):
			case d.ChangeableBy(who) && len(c.ids) == MaxAtOnce:
				c.more = true
				return c, nil
			case d.ChangeableBy(who):
				c.ids = append(c.ids, d.ID)
			case d.VisibleTo(who):
				c.forbidden++
			}
		}
		if len(found) < pageAtOnce {
			return c, nil
		}
	}
	c.more = true
	return c, nil
}

func waits(d *notify.DeliveryInfo) bool {
	return d.State == notify.Waiting || d.State == notify.Deciding
}

func ended(d *notify.DeliveryInfo) bool { return !waits(d) }

// more is fault.Conflict where there are more deliveries than the question was about
// that f answers.
func more(f *notify.DeliveryFilter, now int, can string) error {
	if f.AsOf.IsZero() || now <= f.Count {
		return nil
	}
	return fault.New(fault.Conflict, "%d deliveries can be %s now, more than the %d of the question. Nothing was done; ask again.",
		now, can, f.Count)
}

// redeliverable are the ended deliveries that f selects.
func (s *Deliveries) redeliverable(ctx context.Context, f notify.DeliveryFilter) (choice, error) {
	if f.State == notify.Waiting || f.State == notify.Deciding || f.State == "" && f.IDs == nil {
		return choice{}, fault.InvalidField("state", "Use failed, cancelled or delivered.")
	}
	return s.choose(ctx, f, ended)
}

// WouldRedeliver returns what RedeliverAll would do, and when that was so: the
// question before it, whose time and Queued are the AsOf and Count of the answer.
func (s *Deliveries) WouldRedeliver(ctx context.Context, f notify.DeliveryFilter) (n notify.Redelivered, at time.Time, err error) {
	if at, err = s.Store.Now(ctx); err != nil {
		return n, at, err
	}
	if f.AsOf.IsZero() {
		f.AsOf = at
	}
	c, err := s.redeliverable(ctx, f)
	if err != nil {
		return n, at, err
	}
	n, err = s.Store.WouldRedeliver(ctx, c.ids)
	n.Forbidden, n.More = c.forbidden, c.more
	return n, at, err
}

// RedeliverAll puts the deliveries that f selects back into the queue, at most
// MaxAtOnce; f must name a state that is an end, or ids. It is fault.Conflict
// where they are more than those of the question that f answers. An error that comes
// after some were put back says how many those are.
func (s *Deliveries) RedeliverAll(ctx context.Context, f notify.DeliveryFilter) (notify.Redelivered, error) {
	c, err := s.redeliverable(ctx, f)
	if err != nil {
		return notify.Redelivered{}, err
	}
	if !f.AsOf.IsZero() {
		now, err := s.Store.WouldRedeliver(ctx, c.ids)
		if err == nil {
			err = more(&f, now.Queued, "redelivered")
		}
		if err != nil {
			return notify.Redelivered{}, err
		}
	}
	done, err := s.Store.Redeliver(ctx, actor(ctx), c.ids)
	done.Forbidden, done.More = c.forbidden, c.more
	return done, after(err, done.Queued, "sent again")
}

// after says in an error how many deliveries were changed before it came.
func after(err error, n int, what string) error {
	if err == nil || n == 0 {
		return err
	}
	f := fault.As(err)
	return fault.Wrap(err, f.Code, "%d deliveries are %s, the others are as before: %s", n, what, f.Message)
}

// Cancellation is the result of a request to cancel.
type Cancellation struct {
	Cancelled int
	Forbidden int  // who asked sees them, and does not administer all their rules
	More      bool // there may be more of them
}

// cancellable are the waiting deliveries that f selects.
func (s *Deliveries) cancellable(ctx context.Context, f notify.DeliveryFilter) (choice, error) {
	switch {
	case f.State == "" && f.IDs == nil:
		f.State = notify.Waiting
	case f.State != "" && f.State != notify.Waiting && f.State != notify.Deciding:
		return choice{}, fault.InvalidField("state", "Use waiting or deciding.")
	}
	return s.choose(ctx, f, waits)
}

// WouldCancel returns what CancelAll would do, and when that was so: the question
// before it, as WouldRedeliver.
func (s *Deliveries) WouldCancel(ctx context.Context, f notify.DeliveryFilter) (n Cancellation, at time.Time, err error) {
	if at, err = s.Store.Now(ctx); err != nil {
		return n, at, err
	}
	if f.AsOf.IsZero() {
		f.AsOf = at
	}
	c, err := s.cancellable(ctx, f)
	return Cancellation{len(c.ids), c.forbidden, c.more}, at, err
}

// CancelAll cancels the waiting deliveries that f selects, at most MaxAtOnce. Its errors
// are as those of RedeliverAll.
func (s *Deliveries) CancelAll(ctx context.Context, f notify.DeliveryFilter) (n Cancellation, err error) {
	c, err := s.cancellable(ctx, f)
	if err == nil {
		err = more(&f, len(c.ids), "cancelled")
	}
	if err != nil {
		return n, err
	}
	n.Forbidden, n.More = c.forbidden, c.more
	n.Cancelled, err = s.Store.Cancel(ctx, actor(ctx), c.ids)
	return n, after(err, n.Cancelled, "cancelled")
}
