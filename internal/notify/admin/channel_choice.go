package admin

import (
	"context"
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
