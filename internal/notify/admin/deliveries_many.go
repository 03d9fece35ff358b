package admin

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// MaxAtOnce is how many deliveries one request redelivers or cancels; it is
// repeated for more.
const MaxAtOnce = 10_000

// maxLookedThrough is how many deliveries one request looks through for those: some
// seconds.
const maxLookedThrough = 100_000

// pageAtOnce is how many of them are read in one go.
const pageAtOnce = 500

// Action is what is done to deliveries.
type Action struct {
	Done    string               // what is said of them then
	can     string               // what can be done to them, said of more than were asked about
	waiting bool                 // it is done to those that wait, else to those that have ended
	states  string               // of which a filter may name one
	meant   notify.DeliveryState // the one where it names neither that nor ids; "": none

	would func(s *store.Store, ctx context.Context, ids []int64) (notify.Affected, error)
	do    func(s *store.Store, ctx context.Context, who notify.Actor, ids []int64) (notify.Affected, error)
}

// Redelivery puts ended deliveries back into the queue.
var Redelivery = &Action{
	Done: "sent again", can: "redelivered", states: "failed, cancelled or delivered",
	would: (*store.Store).WouldRedeliver, do: (*store.Store).Redeliver,
}

// Cancellation ends waiting deliveries.
var Cancellation = &Action{
	Done: "cancelled", can: "cancelled", waiting: true, states: "waiting or deciding", meant: notify.Waiting,
	would: func(_ *store.Store, _ context.Context, ids []int64) (notify.Affected, error) {
		return notify.Affected{Done: len(ids)}, nil
	},
	do: (*store.Store).Cancel,
}

// choice is what a filter selects of what the caller may do something with.
type choice struct {
	ids       []int64 // the newest first, at most MaxAtOnce
	forbidden int     // how many the caller may only see
	more      bool    // there may be more than ids
}

// choose returns the deliveries that f selects, that the caller may change and to which the
// action is done.
func (s *Deliveries) choose(ctx context.Context, a *Action, f notify.DeliveryFilter) (c choice, err error) {
	if f.State == "" && f.IDs == nil {
		f.State = a.meant
	}
	if f.State == "" && f.IDs == nil || f.State != "" && waits(f.State) != a.waiting {
		return c, fault.InvalidField("state", "Use %s.", a.states)
	}
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
			case waits(d.State) != a.waiting || !d.Matches(f):
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

func waits(in notify.DeliveryState) bool { return in == notify.Waiting || in == notify.Deciding }

// Would returns what DoAll would do, and when that was so: the question before it, whose time
// and Done are the AsOf and Count of the answer.
func (s *Deliveries) Would(ctx context.Context, a *Action, f notify.DeliveryFilter) (n notify.Affected, at time.Time, err error) {
	if at, err = s.Store.Now(ctx); err != nil {
		return n, at, err
	}
	if f.AsOf.IsZero() {
		f.AsOf = at
	}
	c, err := s.choose(ctx, a, f)
	if err != nil {
		return n, at, err
	}
	n, err = a.would(s.Store, ctx, c.ids)
	n.Forbidden, n.More = c.forbidden, c.more
	return n, at, err
}

// DoAll does it to the deliveries that f selects, at most MaxAtOnce. It is fault.Conflict
// where they are more than those of the question that f answers. An error that comes after
// some were changed says how many those are.
func (s *Deliveries) DoAll(ctx context.Context, a *Action, f notify.DeliveryFilter) (n notify.Affected, err error) {
	c, err := s.choose(ctx, a, f)
	if err == nil && !f.AsOf.IsZero() {
		var now notify.Affected
		if now, err = a.would(s.Store, ctx, c.ids); err == nil && now.Done > f.Count {
			err = fault.New(fault.Conflict, "%d deliveries can be %s now, more than the %d of the question. Nothing was done; ask again.",
				now.Done, a.can, f.Count)
		}
	}
	if err != nil {
		return n, err
	}
	n, err = a.do(s.Store, ctx, actor(ctx), c.ids)
	n.Forbidden, n.More = c.forbidden, c.more
	if err != nil && n.Done > 0 {
		f := fault.As(err)
		err = fault.Wrap(err, f.Code, "%d deliveries are %s, the others are as before: %s", n.Done, a.Done, f.Message)
	}
	return n, err
}
