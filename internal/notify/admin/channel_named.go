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
)

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
