package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// maxChoices is how many channels a form has to choose from.
const maxChoices = 500

// channelChoices are the channels that a form has to choose from: those that who asks
// may choose, by name, behind the one that is stored.
func (p *Pages) channelChoices(ctx context.Context, stored *notify.Channel) ([]console.Option, error) {
	found, err := p.Channels.List(ctx, notify.ChannelPage{Limit: maxChoices, Uncounted: true})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b notify.ChannelInfo) int {
		return cmp.Or(strings.Compare(notify.Fold(a.Name()), notify.Fold(b.Name())), cmp.Compare(a.ID, b.ID))
	})
	var options []console.Option
	if stored == nil {
		options = append(options, console.Option{Value: "", Label: "A new channel, below"})
	}
	has := false
	for i := range found {
		c := &found[i]
		has = has || stored != nil && c.ID == stored.ID
		options = append(options, console.Option{Value: c.UnderID(), Label: c.Name() + ", " + c.Mask})
	}
	if stored != nil && !has {
		options = append(options, console.Option{Value: stored.UnderID(), Label: cmp.Or(stored.Named, stored.Host) + ", " + stored.Mask})
	}
	if len(found) == 0 && stored == nil {
		return nil, nil
	}
	return options, nil
}

// withChannels has the form of a rule or report that a page answers offer the channels
// to choose from.
func (p *Pages) withChannels(answer func(*http.Request) (console.Response, error)) func(*http.Request) (console.Response, error) {
	return func(r *http.Request) (console.Response, error) {
		response, err := answer(r)
		page, ok := response.(console.Page)
		if !ok {
			return response, err
		}
		var failed error
		var form *console.Form
		var channels []console.Option
		switch data := page.Data.(type) {
		case ruleForm:
			channels, failed = p.channelChoices(r.Context(), channelOfRule(data.Stored))
			data.Channels, form = channels, data.Form
			page.Data = data
		case reportForm:
			channels, failed = p.channelChoices(r.Context(), channelOfReport(data.Stored))
			data.Channels, form = channels, data.Form
			page.Data = data
		default:
			return page, err
		}
		if failed != nil {
			return nil, failed
		}
		if fault.Is(err, fault.Forbidden) || fault.Is(err, fault.NotFound) {
			err = atChannel(form, channels, err)
		}
		return page, err
	}
}

// atChannel has a refusal said at the field of the channel, where the one that was
// chosen is none to choose from any more.
func atChannel(form *console.Form, channels []console.Option, err error) error {
	chosen := form.Get("channel")
	if chosen == "" || slices.ContainsFunc(channels, func(o console.Option) bool { return o.Value == chosen }) {
		return err
	}
	return fault.InvalidField("channel", "This channel was deleted, or you may not choose it any more. Choose another one.")
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
	case chosen == "" || stored != nil && chosen == stored.UnderID():
		return nil
	}
	*name, *format = "", notify.Auto
	return &notify.ChannelChoice{Channel: chosen}
}
