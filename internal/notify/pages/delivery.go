package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/work"
)

type attempt = work.Attempt

type deliveryView struct {
	deliveryRow
	Attempts []attempt
	Standing notify.ChannelStatus
	Mask     string
	Card     *card.Card
	Tone     console.Tone
	Waits    bool
	Digest   bool
}

func (p *Pages) showDelivery(r *http.Request) (console.Response, error) {
	d, attempts, err := p.ofPath(r)
	if err != nil {
		return nil, err
	}
	view := deliveryView{
		deliveryRow: rowOf(d), Attempts: attempts, Standing: d.Channel.Status(p.Clock()), Mask: d.Channel.Mask,
		Waits: d.State == notify.Waiting, Digest: d.Batch != 0,
	}
	if d.Event != nil {
		c := card.New(d.Event)
		view.Card, view.Tone = &c, toneOf(c.Kind)
	}
	return console.Page{
		Template: "delivery", Title: "Delivery " + idText(d.ID), Data: view,
		Up: []console.Link{{Label: "Deliveries", Path: deliveriesPath}},
	}, nil
}

// toneOf is the colour of a card.
func toneOf(k card.Kind) console.Tone {
	switch k {
	case card.Info:
		return console.Busy
	case card.Good:
		return console.Good
	case card.Warning:
		return console.Warn
	case card.Bad:
		return console.Bad
	}
	return console.Quiet
}
