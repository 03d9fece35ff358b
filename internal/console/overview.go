package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// overviewEvery is how often the overview looks for new figures: a channel that
// has just become broken shall be there within 2 s. All who see the same share
// the answer, and one that takes long is asked for less often.
const overviewEvery = time.Second

// OverviewFunc answers a wing's cards of the overview, as far as p may see
// them.
type OverviewFunc func(ctx context.Context, p *identity.Principal) ([]Card, error)

// Card is one service at a glance, or a part of the server that has figures or
// needs attention.
type Card struct {
	Title     string
	Link      string // its page, below the base URL
	Service   bool   // one of the services, which have a panel each; others have one where they have figures
	Text      string // one sentence, where figures do not say it
	Links     []Link // the pages of the service that the reader may open, where Link alone does not lead to them
	Figures   []Figure
	Plot      Plot     // the last 24 hours; none where its Text is ""
	Steps     []Step   // what is to be done before the service does anything
	Attention []Notice // what needs attention, worst first
	Pending   Link     // what waits for a later try, and needs no attention yet; the zero value where nothing does
}

// Step is one of the things to do on a fresh server, in their order.
type Step struct {
	Text string
	Link string // where it is done; "" where the reader may not do it
	Copy string // what is copied for it; "" where there is nothing
	Done bool
}

// Figure is a number with its name.
type Figure struct {
	Label, Value string
	Tone         Tone   // Bad and Warn stand out; "" is plain
	Path         string // of the page that lists what is counted; "": none does
}

// Notice is a sentence about something to act on, since when, and what helps.
type Notice struct {
	Key    string // what tells it from others where its text changes, as with counts; Link and Text by default
	Kind   string // of its cause, a word or two for figures; "other" by default
	Text   string
	Link   string // the card's by default
	Tone   Tone   // Warn by default, or Bad
	Since  time.Time
	Until  time.Time // when it ended, of what is over
	Remedy Remedy
}

// Remedy is the one action that helps most: a button that posts, or a link.
type Remedy struct {
	Label string // "" where there is none
	Of    string // what it is done to: read with the label, and not shown, since the notice says it
	Path  string
	Posts []Hidden // what is posted; nil makes it a link
	Asks  bool     // the link leads to a Confirm
}

// Post reports whether the remedy is done by a click, without another page.
func (r Remedy) Post() bool { return r.Posts != nil }

// Linked reports whether the text leads somewhere else than the remedy.
func (n Notice) Linked() bool {
	return n.Link != "" && (n.Remedy.Label == "" || n.Remedy.Post() || n.Remedy.Path != n.Link)
}

// AddOverview adds the cards of a wing to the overview.
func (c *Console) AddOverview(f OverviewFunc) { c.overview = append(c.overview, f) }

// overviewView is the overview page.
type overviewView struct {
	Attention   []Notice
	Pending     []Link
	Services    []Card
	Others      []Card      // that have figures
	FirstSteps  []stepsLeft // of the services; none once they are done
	StepsHidden bool        // the reader has dismissed them
}

func (c *Console) showOverview(x *exchange) (Response, error) {
	hidden, err := x.stepsHidden()
	if err != nil {
		return nil, err
	}
	return Page{Template: "overview", Title: "Overview", Data: c.glance(x.r.Context(), x, hidden)}, nil
}

func (c *Console) liveOverview(x *exchange) (Response, error) {
	hidden, err := x.stepsHidden()
	if err != nil {
		return nil, err
	}
	return Live{
		Template: "overview", Part: "glance", Every: overviewEvery, Topic: overviewTopic(x.principal, hidden),
		Data: func(ctx context.Context) (any, error) { return c.glance(ctx, x, hidden), nil },
	}, nil
}

// overviewTopic is the same for all who see the same: those who administer
// everything. What others see depends on their projects and accounts.
func overviewTopic(p *identity.Principal, stepsHidden bool) string {
	for _, all := range []identity.Permission{identity.SysAdmin, identity.Admin} {
		if p.May(all, identity.Resource{}) {
			return fmt.Sprintf("/overview %s %t", all, stepsHidden)
		}
	}
	return ""
}

// glance asks every wing. One that fails is a card that says so; it does not
// take the others with it.
func (c *Console) glance(ctx context.Context, x *exchange, stepsHidden bool) overviewView {
	v := overviewView{StepsHidden: stepsHidden}
	for _, cards := range c.overview {
		list, err := cards(ctx, x.principal)
		if err != nil {
			v.Attention = append(v.Attention, x.failedCard(err))
			continue
		}
		for _, card := range list {
			v.Attention = append(v.Attention, card.notices()...)
			if card.Pending.Label != "" {
				v.Pending = append(v.Pending, card.Pending)
			}
			v.FirstSteps = append(v.FirstSteps, card.stepsLeft()...)
			switch {
			case card.Service:
				v.Services = append(v.Services, card)
			case len(card.Figures) > 0:
				v.Others = append(v.Others, card)
			}
		}
	}
	return v
}

// Standing says in a sentence how things stand; its tone is that of the worst.
func (v overviewView) Standing() Badge {
	bad := 0
	for _, n := range v.Attention {
		if n.Tone == Bad {
			bad++
		}
	}
	look := len(v.Attention) - bad
	switch {
	case bad+look == 0 && len(v.Pending) > 0:
		return Badge{Good, "Nothing needs your attention."}
	case bad == 0 && look == 0:
		return Badge{Good, "Everything works. Nothing needs your attention."}
	case bad == 0 && look == 1:
		return Badge{Warn, "One thing needs your attention."}
	case bad == 0:
		return Badge{Warn, Count(look) + " things need your attention."}
	}
	text := "One thing does not work"
	if bad > 1 {
		text = Count(bad) + " things do not work"
	}
	switch {
	case look == 1:
		text += ", and one more needs your attention"
	case look > 1:
		text += ", and " + Count(look) + " more need your attention"
	}
	return Badge{Bad, text + "."}
}

// notices are what needs attention, with their defaults.
func (c *Card) notices() []Notice {
	list := make([]Notice, len(c.Attention))
	for i, n := range c.Attention {
		n.Link = cmp.Or(n.Link, c.Link)
		n.Tone = cmp.Or(n.Tone, Warn)
		n.Key = cmp.Or(n.Key, n.Link+" "+n.Text)
		n.Kind = cmp.Or(n.Kind, "other")
		list[i] = n
	}
	return list
}

// Attention lists what needs attention as p, who is also in ctx, sees it on the
// overview. With an error, that of the wings that failed is missing.
func (c *Console) Attention(ctx context.Context, p *identity.Principal) (list []Notice, err error) {
	for _, cards := range c.overview {
		found, failed := cards(ctx, p)
		err = errors.Join(err, failed)
		for i := range found {
			list = append(list, found[i].notices()...)
		}
	}
	return list, err
}

func (x *exchange) failedCard(err error) Notice {
	f := fault.As(err)
	if f.Code == fault.Internal {
		return Notice{Text: "A part of this page could not be shown. Referral number: " + x.refer(err) + ".", Tone: Bad}
	}
	return Notice{Text: f.Message, Tone: Bad}
}
