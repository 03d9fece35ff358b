package admin

import (
	"context"
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
)

// Channels has the operations on channels, each with its permission check.
type Channels struct {
	Store *store.Store
	Tests *TestMessages
	// CheckURL is as for Rules.
	CheckURL func(string) error
	Clock    func() time.Time

	retries limit.PerMinute[int64]
}

// retriesAMinute is how often a channel may be tried again in a minute, on each
// node: each sends a message at once, whatever pause the chat platform asked for.
const retriesAMinute = 12

// List returns one page of the channels that the user may see.
func (s *Channels) List(ctx context.Context, p notify.ChannelPage) ([]notify.ChannelInfo, error) {
	who := identity.From(ctx)
	p.Visible = func(c *notify.ChannelInfo) bool { return c.VisibleTo(who) && (p.Search == "" || c.Matches(p.Search)) }
	list, err := s.Store.ListChannels(ctx, p)
	return forReader(ctx, list), err
}

// Troubled returns the channels that the user may see and that are broken, or have
// failed for TroubleAfter, the broken ones first, at most limit; and, where these are
// fewer, what waits on those that failed since.
func (s *Channels) Troubled(
	ctx context.Context, now time.Time, limit int,
) (list []notify.ChannelInfo, retrying notify.Retrying, err error) {
	who := identity.From(ctx)
	list, err = s.Store.ListChannels(ctx, notify.ChannelPage{Limit: limit, InTrouble: true, Visible: func(c *notify.ChannelInfo) bool {
		if c.Status(now).State == string(notify.Open) || !c.VisibleTo(who) {
			return false
		}
		troubled := c.State == notify.Broken || now.Sub(c.FailingSince) >= notify.TroubleAfter
		if !troubled {
			retrying.Add(c, now)
		}
		return troubled
	}})
	return forReader(ctx, list), retrying, err
}

// Get returns the channel with an id or a fingerprint, as findChannel does.
func (s *Channels) Get(ctx context.Context, channel string) (notify.ChannelInfo, error) {
	info, err := findChannel(ctx, s.Store, channel)
	info.Show(notify.ReadsInside(ctx))
	return info, err
}

func (s *Channels) changeable(ctx context.Context, channel string) (notify.ChannelInfo, error) {
	info, err := s.Get(ctx, channel)
	if err == nil {
		err = mayChange(ctx, &info)
	}
	return info, err
}

// mayChange returns fault.Forbidden, with the number of others', if the user does not
// administer all rules and reports of a channel, nor made one that is shared.
func mayChange(ctx context.Context, info *notify.ChannelInfo) error {
	who := identity.From(ctx)
	if info.ChangeableBy(who) {
		return nil
	}
	all, others := len(info.Rules)+len(info.Reports), info.Others(who)
	if others == 0 {
		return fault.New(fault.Forbidden, "Only the user who made this channel and administrators can change it.")
	}
	return fault.New(fault.Forbidden, "%d of the %d rules and reports of this channel are not yours to administer. Ask an administrator, "+
		"or move your own to another channel or a new webhook URL.", others, all)
}

// Retried is the result of a retry of a channel.
type Retried struct {
	Cancelled int                  // waiting messages that were left out
	Waiting   int                  // messages that wait now
	Answered  bool                 // the chat platform has answered since
	Status    notify.ChannelStatus // as it is now
}

const (
	// answerWithin is how long a retry waits for the answer of the chat platform,
	// which usually comes at once. A later answer is shown as any other.
	answerWithin = 3 * time.Second
	// answerEvery is how often it looks for that.
	answerEvery = 50 * time.Millisecond
)

// Retry tries a channel again at once, whatever closed it, and returns the result
// if the chat platform answers within 3 s. fault.RateLimited: it was tried
// retriesAMinute times.
func (s *Channels) Retry(ctx context.Context, channel string, which notify.RetryMode) (done Retried, err error) {
	if !slices.Contains(notify.RetryModes(), which) {
		return done, wrongWhich()
	}
	before, err := s.changeable(ctx, channel)
	if err != nil {
		return done, err
	}
	if wait := s.retries.Take(before.ID, retriesAMinute, s.Clock()); wait > 0 {
		return done, fault.TooOften(wait, "This channel was tried again %d times within a minute. Wait a moment.", retriesAMinute)
	}
	if done.Cancelled, err = s.Store.RetryChannel(ctx, actor(ctx), before.ID, which); err != nil {
		return done, err
	}
	for until := time.After(answerWithin); ; {
		now, err := s.Store.ChannelOf(ctx, before.UnderID())
		if err != nil {
			return done, err
		}
		now.Show(notify.ReadsInside(ctx))
		done.Waiting, done.Status = now.Waiting, now.Status(s.Clock())
		done.Answered = now.GateStep+now.Refused+now.Rejected > 0 || !now.LastOKAt.Equal(before.LastOKAt)
		if done.Answered || now.Waiting <= now.Held {
			return done, nil
		}
		select {
		case <-until:
			return done, nil
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(answerEvery):
		}
	}
}

func wrongWhich() error {
	return fault.InvalidField("which", "Choose which waiting messages to send: all, recent (the last 24 hours) or none.")
}
