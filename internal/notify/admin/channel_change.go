package admin

import (
	"context"
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/answer"
	"outrigger/internal/secret"
)

// Create creates a channel that no rule or report uses yet. Errors: fault.Forbidden for
// users who administer nothing, or share it without ADMIN; fault.Conflict if a channel
// has the webhook URL. wrong has the errors that the caller found in the members.
func (s *Channels) Create(
	ctx context.Context, draft notify.ChannelDraft, webhookURL string, wrong fault.Fields,
) (notify.ChannelInfo, error) {
	who := identity.From(ctx)
	if !notify.AdministersAny(who) {
		return notify.ChannelInfo{}, who.Require(identity.Admin, identity.Resource{})
	}
	if err := mayShare(ctx, notify.Sharing{}, draft.SharedWith); err != nil {
		return notify.ChannelInfo{}, err
	}
	draft.Validate(s.Store.Platforms().Connections, &wrong)
	webhookURL = strings.TrimSpace(webhookURL)
	if webhookURL == "" || secret.IsMask(webhookURL) {
		wrong.Add("webhookUrl", "Give the whole webhook URL of the channel.")
	} else if err := s.CheckURL(webhookURL); err != nil {
		wrong.Add("webhookUrl", "%s", fault.As(err).Message)
	}
	if err := wrong.Err(); err != nil {
		return notify.ChannelInfo{}, err
	}
	info, err := s.Store.CreateChannel(ctx, actor(ctx), notify.ChannelChange{ChannelDraft: draft, URL: secret.New(webhookURL)})
	info.Show(notify.ReadsInside(ctx))
	return info, err
}

// mayShare returns fault.Forbidden if a user without ADMIN changes with whom a channel is
// shared.
func mayShare(ctx context.Context, before, after notify.Sharing) error {
	if before.String() == after.String() || identity.From(ctx).May(identity.Admin, identity.Resource{}) {
		return nil
	}
	return fault.New(fault.Forbidden, "Only administrators (ADMIN) change with whom a channel is shared.")
}

// Save changes a channel. A new webhook URL is used for all its rules and
// reports and for waiting messages. Errors: fault.Forbidden for users who do not administer all
// of these, or share the channel without ADMIN; fault.Conflict for a version that
// is not the current one and for a URL that another channel has. wrong is as for
// Create.
func (s *Channels) Save(ctx context.Context, channel string, edit notify.ChannelEdit, wrong fault.Fields) (notify.ChannelInfo, error) {
	given := edit.Onto(notify.ChannelDraft{})
	given.Validate(s.Store.Platforms().Connections, &wrong)
	s.checkReplacement(strings.TrimSpace(edit.WebhookURL), edit.Which, &wrong)
	if err := wrong.Err(); err != nil {
		return notify.ChannelInfo{}, err
	}
	before, err := s.Get(ctx, channel)
	if err != nil {
		return before, err
	}
	change := notify.ChannelChange{ChannelDraft: edit.Onto(before.Draft())}
	change.Validate(s.Store.Platforms().Connections, &wrong)
	change.Version, change.Which = edit.Version, edit.Which
	if url := strings.TrimSpace(edit.WebhookURL); url != "" && url != before.Mask {
		change.URL = secret.New(url)
	}
	allow := func(now *notify.ChannelInfo) error { return mayMake(ctx, &change, now) }
	if err := allow(&before); err != nil {
		return before, err
	}
	if secret.IsMask(change.URL.Reveal()) {
		return before, fault.InvalidField("webhookUrl", "This is the mask of another webhook URL; give the whole URL, or none to keep "+
			"the stored one.")
	}
	if !change.URL.IsZero() {
		if err := s.prepareReplacement(ctx, &before, &change, edit); err != nil {
			return before, err
		}
	}
	info, err := s.Store.SaveChannel(ctx, actor(ctx), before.ID, change, allow)
	info.Show(notify.ReadsInside(ctx))
	return info, err
}

// mayMake returns an error if the user may not make a change of a channel as it is now.
func mayMake(ctx context.Context, c *notify.ChannelChange, now *notify.ChannelInfo) error {
	if c.Name != now.Named || c.Format != now.Format || !c.URL.IsZero() {
		if err := mayChange(ctx, now); err != nil {
			return err
		}
	}
	return mayShare(ctx, now.SharedWith, c.SharedWith)
}

// checkReplacement adds the errors of a new webhook URL, and of what is
// to happen to waiting messages.
func (s *Channels) checkReplacement(url string, which notify.RetryMode, wrong *fault.Fields) {
	if which != "" && !slices.Contains(notify.RetryModes(), which) {
		*wrong = append(*wrong, fault.As(wrongWhich()).Fields...)
	}
	if url == "" || secret.IsMask(url) {
		return
	}
	if err := s.CheckURL(url); err != nil {
		wrong.Add("webhookUrl", "%s", fault.As(err).Message)
	}
}

// prepareReplacement refuses what would be refused anyway, and tries the new webhook URL
// where that is asked for.
func (s *Channels) prepareReplacement(
	ctx context.Context, before *notify.ChannelInfo, change *notify.ChannelChange, edit notify.ChannelEdit,
) error {
	if err := s.Store.CheckChannelVersion(ctx, before, edit.Version); err != nil {
		return err
	}
	switch other, err := s.Store.ChannelOfURL(ctx, change.URL); {
	case err == nil && other.ID != before.ID:
		return notify.TakenURL(other.ID)
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	}
	if edit.Test {
		change.Tested = true
		return s.tryURL(ctx, before, change)
	}
	return nil
}

// tryURL posts a test message to a webhook URL that is to replace that of a channel:
// fault.Invalid with what the chat platform answered where it does not take it.
func (s *Channels) tryURL(ctx context.Context, before *notify.ChannelInfo, change *notify.ChannelChange) error {
	after := *before
	after.Format = change.Format
	done, err := s.Tests.send(ctx, tested{object: "channel", id: before.UnderID()}, change.URL, nil, after.OwnFormat())
	switch {
	case err != nil:
		return err
	case done.Err != "":
		return fault.InvalidField("webhookUrl", "The test message could not be sent, so nothing was changed: %s.",
			strings.TrimRight(done.Err, "."))
	case done.Status/100 != 2 && done.Withheld:
		return fault.InvalidField("webhookUrl", "%s Nothing was changed.", answer.Withheld(done.Status))
	case done.Status/100 != 2:
		return fault.InvalidField("webhookUrl", "%s Nothing was changed.", strings.TrimRight(answer.Sentence(done.Status, done.Answer), ".")+".")
	}
	return nil
}

// Delete deletes a channel to which nothing sends. Errors: fault.Conflict if
// something does, and for a version other than the current one; 0 is any.
func (s *Channels) Delete(ctx context.Context, channel string, version int64) error {
	info, err := s.changeable(ctx, channel)
	if err != nil {
		return err
	}
	return s.Store.DeleteChannel(ctx, actor(ctx), info.ID, version, func(now *notify.ChannelInfo) error { return mayChange(ctx, now) })
}
