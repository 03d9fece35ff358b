package pages

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// tookIt is a rule of a delivery, as it was when the event came, and why it took it.
type tookIt struct {
	verdictRow
	Met []reason
}

// maxExplained is how many rules of an event are looked through for those of a
// delivery.
const maxExplained = 1000

// whyTaken says why the rules of a delivery took its event; nothing where the event
// is not kept any more.
func (p *Pages) whyTaken(ctx context.Context, d notify.DeliveryInfo) ([]tookIt, error) {
	if d.OfReport() || d.Event == nil {
		return nil, nil
	}
	x, err := p.Events.Explain(ctx, d.EventID, notify.VersionCursor{}, maxExplained)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var why []tookIt
	for i := range x.Rules {
		v := &x.Rules[i]
		if v.Delivery == nil || v.Delivery.ID != d.ID {
			continue
		}
		took := tookIt{verdictRow: p.verdictRow(v, d.Event, nil)}
		for _, met := range v.Met(d.Event) {
			took.Met = append(took.Met, reasonOf(met, v.EventTypes, d.Event))
		}
		why = append(why, took)
	}
	return why, nil
}
