package pages

import (
	"context"
	"html/template"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/cardhtml"
)

// digestView is the digest that a delivery goes out in.
type digestView struct {
	Members []deliveryRow
	Others  int           // those that the reader may not see
	Card    template.HTML // of the members that are shown
}

// digestOf returns the digest of a delivery: nil where it has a message of its own,
// as one has that was left alone when the others were cancelled.
func (p *Pages) digestOf(ctx context.Context, d notify.DeliveryInfo) (*digestView, error) {
	digest, err := p.Deliveries.Digest(ctx, d)
	if err != nil || len(digest.Members)+digest.Others < 2 {
		return nil, err
	}
	view := &digestView{Others: digest.Others}
	var events []*notify.Event
	for _, m := range digest.Members {
		view.Members = append(view.Members, p.rowOf(m))
		if m.Event != nil {
			events = append(events, m.Event)
		}
	}
	view.Card, err = cardhtml.Digest(card.NewDigest(events), d.Format)
	return view, err
}
