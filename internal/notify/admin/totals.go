package admin

import (
	"context"

	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Total counts what List returns for f on all pages, to most. It is not known of a
// project's deliveries, nor to callers who see those of some places only: which these
// are is in the events.
func (s *Deliveries) Total(ctx context.Context, f notify.DeliveryFilter, most int) (n int, known bool, err error) {
	if !SeesAll(ctx) || f.Project != "" || f.Repository != "" {
		return 0, false, nil
	}
	return s.Store.CountDeliveries(ctx, f, most)
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

// Total counts all channels, to most. It is not known to callers who see some of them.
func (s *Channels) Total(ctx context.Context, most int) (n int, known bool, err error) {
	if !SeesAll(ctx) {
		return 0, false, nil
	}
	n, err = s.Store.CountChannels(ctx, most)
	return n, true, err
}
