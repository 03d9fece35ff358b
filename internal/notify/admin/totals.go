package admin

import (
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Total counts what List returns for f on all pages, to most, where that is known.
func (s *Deliveries) Total(ctx context.Context, f notify.DeliveryFilter, most int) (n int, known bool, err error) {
	if SeesAll(ctx) {
		return s.Store.CountDeliveries(ctx, f, most)
	}
	who := identity.From(ctx)
	f.Places = administered(who)
	return s.Store.CountVisibleDeliveries(ctx, f, most, func(d *notify.DeliveryInfo) bool { return d.VisibleTo(who) })
}

// Total counts what List returns for f on all pages, to most, where that is known.
func (s *Events) Total(ctx context.Context, f notify.EventFilter, most int) (n int, known bool, err error) {
	if err := s.narrow(&f, identity.From(ctx)); err != nil {
		return 0, false, err
	}
	return s.Store.CountEvents(ctx, f, most)
}

// Total counts the rules of all pages, to most, where that is known.
func (s *Rules) Total(ctx context.Context, p notify.RulePage, most int) (n int, known bool, err error) {
	p.Visible = s.visible(ctx, p.Edition)
	return s.Store.CountRules(ctx, p, most)
}

// Total counts the reports of all pages, to most, where that is known.
func (s *Reports) Total(ctx context.Context, p notify.ReportPage, most int) (n int, known bool, err error) {
	who := identity.From(ctx)
	p.Visible = func(r *notify.Report) bool { return who.May(r.Access()) }
	return s.Store.CountReports(ctx, p, most)
}

// Total counts the channels that the caller may see, to most, where that is known.
func (s *Channels) Total(ctx context.Context, most int) (n int, known bool, err error) {
	if SeesAll(ctx) {
		n, err = s.Store.CountChannels(ctx, most)
		return n, true, err
	}
	who := identity.From(ctx)
	n, known, err = s.Store.CountVisibleChannels(ctx, func(c *notify.ChannelInfo) bool { return c.VisibleTo(who) })
	return min(n, most), known, err
}
