package pages

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// channelView is a channel's page.
type channelView struct {
	*console.Form
	channelRow
	Whiches   []console.Option
	Formats   []console.Option
	Sharings  []console.Option
	Act       bool   // who looks may change it
	Share     bool   // and with whom it is shared
	Why       string // why not
	Deletable bool
	Recent    recentMessages
}

// recentMessages are what became of a channel's messages in the last 24 hours.
type recentMessages struct {
	Sentence string
	Last     []deliveryRow
}

// lastAnswers is how many of a channel's messages its page shows.
const lastAnswers = 5

// maxRecent is how far the messages of a day are counted.
const maxRecent = 1000

func (p *Pages) showChannel(r *http.Request) (console.Response, error) {
	c, err := p.Channels.Get(r.Context(), r.PathValue("channel"))
	if err != nil {
		return nil, err
	}
	return p.channelPage(r, &c, channelFormOf(&c))
}

func (p *Pages) channelPage(r *http.Request, c *notify.ChannelInfo, form *console.Form) (console.Page, error) {
	who := identity.From(r.Context())
	view := channelView{
		Form: form, channelRow: p.channelRow(*c, who), Act: c.ChangeableBy(who), Share: who.May(identity.Admin, identity.Resource{}),
		Whiches: whichOptions(), Formats: formatOptions(), Sharings: sharingOptions,
	}
	uses := len(c.Rules) + len(c.Reports)
	view.Deletable = view.Act && uses == 0
	switch {
	case view.Act:
	case view.Others == 0:
		view.Why = "This channel is shared with you. You can choose it for your rules and reports; only administrators and who made it change it."
	default:
		view.Why = fmt.Sprintf("%d of the %d rules and reports of this channel are not yours to administer, so you cannot test or change it. "+
			"To have your own send to a new webhook URL, enter that in each of them.", view.Others, uses)
	}
	var err error
	if view.Recent, err = p.recentOn(r.Context(), c); err != nil {
		return console.Page{}, err
	}
	return console.Page{
		Template: "channel", Title: c.Name(), Data: view,
		Up:      []console.Link{{Label: "Channels", Path: channelsPath}},
		Actions: []console.Action{{Label: "Its deliveries", Path: deliveriesPath + console.Query("channel", idText(c.ID))}},
	}, nil
}

// recentOn says what became of a channel's messages in the last 24 hours, as far as
// who asks may see them, and shows the last ones.
func (p *Pages) recentOn(ctx context.Context, c *notify.ChannelInfo) (recent recentMessages, err error) {
	found, err := p.Deliveries.List(ctx, notify.DeliveryFilter{ChannelID: c.ID, Since: p.Clock().Add(-24 * time.Hour), Limit: maxRecent})
	if err != nil {
		return recent, err
	}
	byState := make(map[notify.DeliveryState]int)
	for i := range found {
		byState[found[i].State]++
		if i < lastAnswers {
			recent.Last = append(recent.Last, p.rowOf(found[i]))
		}
	}
	if len(found) == 0 {
		recent.Sentence = "No messages in the last 24 hours."
		return recent, nil
	}
	recent.Sentence = fmt.Sprintf("In the last 24 hours: %d delivered, %d failed, %d waiting, %d cancelled.", byState[notify.Delivered],
		byState[notify.Failed], byState[notify.Waiting]+byState[notify.Deciding], byState[notify.Cancelled])
	if len(found) == maxRecent {
		recent.Sentence = fmt.Sprintf("Of the last %d messages: %s", maxRecent, recent.Sentence[len("In the last 24 hours: "):])
	}
	return recent, nil
}

func whichOptions() []console.Option {
	return []console.Option{
		{Value: string(notify.RetryAll), Label: "All", Hint: "many go out as digests"},
		{Value: string(notify.RetryRecent), Label: "Those of the last 24 hours", Hint: "older ones are cancelled"},
		{Value: string(notify.RetryNone), Label: "None", Hint: "all are cancelled"},
	}
}
