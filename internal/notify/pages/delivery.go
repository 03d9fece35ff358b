package pages

import (
	"fmt"
	"html/template"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/cardhtml"
)

type attempt = notify.Attempt

type deliveryView struct {
	deliveryRow
	Attempts []attempt
	NotKept  string // that there were more; empty: these are all
	Standing notify.ChannelStatus
	Mask     string
	Card     template.HTML
	Waits    bool
	Digest   *digestView // nil: it has a message of its own
}

func (p *Pages) showDelivery(r *http.Request) (console.Response, error) {
	d, attempts, err := p.ofPath(r)
	if err != nil {
		return nil, err
	}
	view := deliveryView{
		deliveryRow: p.rowOf(d), Attempts: attempts, Standing: d.Channel.Status(p.Clock()), Mask: d.Channel.Mask,
		Waits: d.FinishedAt.IsZero(),
	}
	if all := d.Attempts; all > notify.FirstAttempts+notify.LastAttempts {
		view.NotKept = fmt.Sprintf("It was tried %s times. Shown are the first %d and the last %d attempts.", console.Count(all), notify.FirstAttempts, notify.LastAttempts)
	}
	if d.Event != nil {
		if view.Card, err = p.sentCard(d); err != nil {
			return nil, err
		}
	}
	if view.Digest, err = p.digestOf(r.Context(), d); err != nil {
		return nil, err
	}
	return console.Page{
		Template: "delivery", Title: "Delivery " + idText(d.ID), Data: view,
		Up: []console.Link{{Label: "Deliveries", Path: deliveriesPath}},
	}, nil
}

// sentCard draws the delivery's card as its channel showed it, or would now.
func (p *Pages) sentCard(d notify.DeliveryInfo) (template.HTML, error) {
	e := d.Noted()
	c := card.New(e)
	sent := d.FinishedAt
	if sent.IsZero() {
		sent = p.Clock()
	}
	c.Delayed(e.At, sent)
	return cardhtml.Fragment(c, d.Format)
}
