package admin

import (
	"context"
	"slices"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Explain judges an event by the rules as they were when it came; see Get for
// the errors. limit is how many rules a page has.
func (s *Events) Explain(ctx context.Context, id int64, after notify.VersionCursor, limit int) (notify.Explanation, error) {
	e, err := s.Get(ctx, id)
	if err != nil {
		return notify.Explanation{}, err
	}
	x := notify.Explanation{Event: e}
	if e.Event == nil {
		return x, nil
	}
	q := notify.VersionQuery{Generation: e.Generation, Connection: e.Connection, Places: notify.PlacesOf(e.Event), After: after,
		Limit: limit + 1}
	rules, err := s.Store.RulesAt(ctx, q)
	if err != nil {
		return x, err
	}
	if len(rules) > limit {
		rules = rules[:limit]
		x.Next = q.CursorOf(&rules[limit-1])
	}
	if x.Elsewhere, err = s.Store.CountRulesElsewhere(ctx, q); err != nil {
		return x, err
	}
	deliveries, err := s.Store.EventDeliveries(ctx, &e)
	if err != nil {
		return x, err
	}
	decisions, err := s.Store.EventDecisions(ctx, e.ID)
	if err != nil {
		return x, err
	}
	x.Judge(rules, deliveries, decisions, identity.From(ctx))
	if err := s.nameAccounts(ctx, &x); err != nil {
		return x, err
	}
	return x, s.describe(ctx, &x)
}

// nameAccounts says of the rules whose account was revoked whose it was.
func (s *Events) nameAccounts(ctx context.Context, x *notify.Explanation) error {
	known := make(map[int64]*notify.Authorization)
	for i := range x.Rules {
		v := &x.Rules[i]
		if v.Outcome != notify.RuleRefused || !v.Reason.OfAccount() {
			continue
		}
		if known[v.AuthorizationID] == nil {
			a, err := s.Store.Authorization(ctx, v.AuthorizationID)
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return err
			}
			known[v.AuthorizationID] = &a
		}
		v.Reason.SayAccount(known[v.AuthorizationID])
		v.Revoked = known[v.AuthorizationID].State == notify.AuthorizationRevoked
	}
	return nil
}

// describe adds the deliveries of the rules, as far as the caller may see them.
func (s *Events) describe(ctx context.Context, x *notify.Explanation) error {
	var deliveries []*notify.Delivery
	for i := range x.Rules {
		if d := x.Rules[i].Delivery; d != nil && !slices.Contains(deliveries, d) {
			deliveries = append(deliveries, d)
		}
	}
	infos, err := s.Store.Describe(ctx, deliveries)
	if err != nil {
		return err
	}
	who := identity.From(ctx)
	for i := range infos {
		if infos[i].VisibleTo(who) {
			x.Deliveries = append(x.Deliveries, infos[i])
		}
	}
	forReader(ctx, x.Deliveries)
	return nil
}
