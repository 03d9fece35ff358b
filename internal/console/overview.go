package console

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// overviewEvery is how often the overview looks for new figures: often enough
// to watch something drain, seldom enough that forgotten tabs cost nothing.
const overviewEvery = 5 * time.Second

// OverviewFunc answers a wing's cards of the overview, as far as p may see
// them.
type OverviewFunc func(ctx context.Context, p *identity.Principal) ([]Card, error)

// Card is one service at a glance.
type Card struct {
	Title     string
	Link      string // its page, below the base URL
	Text      string // one sentence, where figures do not say it
	Figures   []Figure
	Steps     []Step   // what is to be done before the service does anything
	Attention []Notice // what needs attention, worst first
}

// Step is one of the things to do on a fresh server, in their order.
type Step struct {
	Text string
	Link string // where it is done; "" where the reader may not do it
	Done bool
}

// Figure is a number with its name.
type Figure struct {
	Label, Value string
	Tone         Tone // Bad and Warn stand out; "" is plain
}

// Notice is a sentence about something to act on, and where.
type Notice struct {
	Text string
	Link string // the card's by default
	Tone Tone   // Warn by default, or Bad
}

// AddOverview adds the cards of a wing to the overview.
func (c *Console) AddOverview(f OverviewFunc) { c.overview = append(c.overview, f) }

// overviewView is the overview page.
type overviewView struct {
	Attention []Notice
	Cards     []Card
}

func (c *Console) showOverview(x *exchange) (Response, error) {
	return Page{Template: "overview", Title: "Overview", Data: c.glance(x)}, nil
}

func (c *Console) liveOverview(x *exchange) (Response, error) {
	return Live{Template: "overview", Part: "glance", Every: overviewEvery, Data: func(context.Context) (any, error) {
		return c.glance(x), nil
	}}, nil
}

// glance asks every wing. One that fails is a card that says so; it does not
// take the others with it.
func (c *Console) glance(x *exchange) overviewView {
	var v overviewView
	for _, cards := range c.overview {
		list, err := cards(x.r.Context(), x.principal)
		if err != nil {
			v.Attention = append(v.Attention, x.failedCard(err))
			continue
		}
		for _, card := range list {
			for _, n := range card.Attention {
				if n.Link == "" {
					n.Link = card.Link
				}
				if n.Tone == "" {
					n.Tone = Warn
				}
				v.Attention = append(v.Attention, n)
			}
			v.Cards = append(v.Cards, card)
		}
	}
	return v
}

func (x *exchange) failedCard(err error) Notice {
	f := fault.As(err)
	if f.Code == fault.Internal {
		return Notice{Text: "A part of this page could not be shown. Referral number: " + x.refer(err) + ".", Tone: Bad}
	}
	return Notice{Text: f.Message, Tone: Bad}
}
