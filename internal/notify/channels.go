package notify

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Channels has the operations on channels, each with its permission check.
type Channels struct {
	Store ChannelStore
	Tests *TestMessages
}

// List gives one page of the channels that who asks may see.
func (s *Channels) List(ctx context.Context, p ChannelPage) ([]ChannelInfo, error) {
	who := identity.From(ctx)
	p.Visible = func(c *ChannelInfo) bool { return c.visibleTo(who) }
	return s.Store.ListChannels(ctx, p)
}

// Get gives the channel with a fingerprint: fault.NotFound for a
// SYS_ADMIN, else fault.Forbidden as for a channel of others.
func (s *Channels) Get(ctx context.Context, fingerprint string) (ChannelInfo, error) {
	info, err := s.Store.ChannelOf(ctx, fingerprint)
	if fault.Is(err, fault.NotFound) || err == nil && !info.visibleTo(identity.From(ctx)) {
		return ChannelInfo{}, identity.Missing(ctx, "There is no channel %q.", fingerprint)
	}
	return info, err
}

func (s *Channels) changeable(ctx context.Context, fingerprint string) (ChannelInfo, error) {
	info, err := s.Get(ctx, fingerprint)
	if err == nil && !info.ChangeableBy(identity.From(ctx)) {
		err = fault.New(fault.Forbidden, "You do not administer all rules of this channel. Ask someone who does.")
	}
	return info, err
}

// Retry tries a channel again at once, whatever closed it, and gives how many
// waiting messages were left out.
func (s *Channels) Retry(ctx context.Context, fingerprint string, which RetryMode) (cancelled int, err error) {
	if !slices.Contains(RetryModes(), which) {
		return 0, fault.InvalidField("which", "Choose which waiting messages to send: all, recent (the last 24 hours) or none.")
	}
	c, err := s.changeable(ctx, fingerprint)
	if err != nil {
		return 0, err
	}
	return s.Store.RetryChannel(ctx, actor(ctx), c.ID, which)
}

// Rename has all rules of a channel call it so; "" leaves it its host's name.
func (s *Channels) Rename(ctx context.Context, fingerprint, name string) error {
	name = strings.TrimSpace(name)
	if utf8.RuneCountInString(name) > MaxName {
		return fault.InvalidField("name", "At most 255 characters are allowed.")
	}
	c, err := s.changeable(ctx, fingerprint)
	if err != nil {
		return err
	}
	return s.Store.RenameChannel(ctx, actor(ctx), c.ID, name)
}

// Which says what becomes of the messages that wait on a channel that is tried
// again.
type RetryMode string

const (
	RetryAll    RetryMode = "all"    // all go out, as digests where they are many
	RetryRecent RetryMode = "recent" // those of the last 24 h go out
	RetryNone   RetryMode = "none"   // only what comes from now on
)

// Whiches lists them, in the order in which people are asked.
func RetryModes() []RetryMode { return []RetryMode{RetryAll, RetryRecent, RetryNone} }
