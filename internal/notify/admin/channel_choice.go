package admin

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
)

// chosen finds the channel that a draft names, where it names one and its webhook URL
// is not to count: id is 0 else. The URL that is left is to be looked at as before.
// own is the channel that the saved rule or report has.
func chosen(
	ctx context.Context, store *store.Store, c *notify.ChannelChoice, own *notify.Channel, webhookURL string,
) (id int64, url string, err error) {
	webhookURL = strings.TrimSpace(webhookURL)
	if c == nil || c.Channel+c.Called == "" || webhookURL != "" && !secret.IsMask(webhookURL) {
		return 0, webhookURL, nil
	}
	if own.ID != 0 && c.Channel == own.Fingerprint {
		return own.ID, webhookURL, nil
	}
	var info notify.ChannelInfo
	if c.Called != "" {
		info, err = namedChannel(ctx, store, c.Called)
	} else {
		info, err = findChannel(ctx, store, c.Channel)
	}
	if err != nil {
		return 0, webhookURL, err
	}
	if info.ID == own.ID || webhookURL == "" || webhookURL == info.Mask || webhookURL == own.Mask {
		return info.ID, "", nil
	}
	return 0, webhookURL, fault.InvalidField("webhookUrl", notify.OtherMask)
}

// Named returns the channel that a form names, as notify.ChannelChoice.Called says:
// fault.Invalid where there is none that the user may choose, or there are several.
func (s *Channels) Named(ctx context.Context, text string) (notify.ChannelInfo, error) {
	return namedChannel(ctx, s.Store, text)
}

// namedChannel finds a channel by its number where the name is right too, by the whole
// text as its name, else by the number alone: a channel may have been renamed since.
func namedChannel(ctx context.Context, store *store.Store, text string) (notify.ChannelInfo, error) {
	text = strings.TrimSpace(text)
	name, number := notify.CutChannel(text)
	var numbered notify.ChannelInfo
	if number != "" {
		info, err := findChannel(ctx, store, number)
		switch {
		case err == nil && (name == "" || notify.Fold(info.Name()) == notify.Fold(name)):
			return info, nil
		case err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden):
			return info, err
		}
		numbered = info
	}
	who := identity.From(ctx)
	found, err := store.ListChannels(ctx, notify.ChannelPage{Search: text, Limit: 2, Uncounted: true,
		Visible: func(c *notify.ChannelInfo) bool {
			return notify.Fold(c.Name()) == notify.Fold(text) && c.VisibleTo(who)
		}})
	switch {
	case err != nil:
		return numbered, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return numbered, fault.InvalidField("channel", "Several channels are called %s. Choose one from the list, or add its number: %s.", text,
			found[0].Text(text))
	case numbered.ID != 0:
		return numbered, nil
	case number != "":
		return numbered, fault.InvalidField("channel", "This channel was deleted, or you may not choose it any more. Choose another one.")
	}
	return numbered, fault.InvalidField("channel", "You have no channel that is called %s. Choose one from the list, or enter its number.",
		text)
}

// Found returns the channels that the user may choose and that are called as was
// searched for, by name, at most limit; more reports whether there are others.
func (s *Channels) Found(ctx context.Context, text string, limit int) (found []notify.Found, more bool, err error) {
	name, number := notify.CutChannel(strings.TrimSpace(text))
	list, err := s.List(ctx, notify.ChannelPage{Search: cmp.Or(name, number), Limit: limit + 1, Uncounted: true})
	if err != nil {
		return nil, false, err
	}
	if number != "" && name == "" {
		info, err := findChannel(ctx, s.Store, number)
		switch {
		case err == nil && !slices.ContainsFunc(list, func(c notify.ChannelInfo) bool { return c.ID == info.ID }):
			list = append([]notify.ChannelInfo{info}, list...)
		case err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Forbidden):
			return nil, false, err
		}
	}
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	slices.SortStableFunc(list, func(a, b notify.ChannelInfo) int {
		return cmp.Or(strings.Compare(notify.Fold(a.Name()), notify.Fold(b.Name())), cmp.Compare(a.ID, b.ID))
	})
	for i := range list {
		found = append(found, notify.Found{Value: list[i].Text(list[i].Name()), Label: list[i].Mask})
	}
	return found, more, nil
}

// findChannel returns a channel that the user may choose: fault.NotFound for a
// SYS_ADMIN, else fault.Forbidden as for a channel of others.
func findChannel(ctx context.Context, store *store.Store, channel string) (notify.ChannelInfo, error) {
	info, err := store.ChannelOf(ctx, channel)
	if fault.Is(err, fault.NotFound) || err == nil && !info.VisibleTo(identity.From(ctx)) {
		return notify.ChannelInfo{}, identity.Missing(ctx, "There is no channel %q.", channel)
	}
	return info, err
}

// checkURL judges the webhook URL of a rule or report. Without a whole one the draft
// must have a channel, or an id, with which it keeps the stored one.
func checkURL(judge func(string) error, webhookURL, kind string, id, channel int64) error {
	if webhookURL == "" || secret.IsMask(webhookURL) {
		if id == 0 && channel == 0 {
			return fault.InvalidField("webhookUrl", "Give the whole webhook URL; a new %s has none to keep.", kind)
		}
		return nil
	}
	if err := judge(webhookURL); err != nil {
		return fault.InvalidField("webhookUrl", "%s", fault.As(err).Message)
	}
	return nil
}
