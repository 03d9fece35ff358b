package pages

import (
	"cmp"
	"context"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// anyChannels reports whether there are channels to choose from.
func (p *Pages) anyChannels(ctx context.Context) (bool, error) {
	some, err := p.Channels.List(ctx, notify.ChannelPage{Limit: 1, Uncounted: true})
	return len(some) > 0, err
}

func channelOfRule(r *notify.RuleInfo) *notify.Channel {
	if r == nil {
		return nil
	}
	return &r.Channel
}

func channelOfReport(r *notify.ReportInfo) *notify.Channel {
	if r == nil {
		return nil
	}
	return &r.Channel
}

// keeps reports whether a form names the channel that is stored, or none.
func keeps(chosen string, stored *notify.Channel) bool {
	_, number := notify.CutChannel(chosen)
	return stored != nil && (chosen == "" || number == stored.UnderID())
}

// aimOf reads where the rule or report of a form is to send. A whole webhook URL makes
// or finds a channel, which gets the name and the format of the form where it is made.
// Another channel is chosen with its own. own is what the form has of the draft, and
// becomes the draft's.
func aimOf(form *console.Form, stored *notify.Channel, name *string, format *notify.Format) *notify.ChannelChoice {
	url, chosen := form.Get("webhookUrl"), form.Get("channel")
	switch {
	case url != "" && !secret.IsMask(url):
		choice := &notify.ChannelChoice{Name: *name, Format: cmp.Or(*format, notify.Auto)}
		*name, *format = "", notify.Auto
		return choice
	case chosen == "" || keeps(chosen, stored):
		return nil
	}
	*name, *format = "", notify.Auto
	return &notify.ChannelChoice{Called: chosen}
}
