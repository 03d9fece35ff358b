package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// ChannelsPath is where channels are.
const ChannelsPath = basePath + "/channels"

// Channel is a place in a chat to which rules and reports send.
type Channel struct {
	ID         int64           `json:"id" doc:"Stays the same when the webhook URL is replaced."`
	Channel    string          `json:"channel" doc:"The fingerprint of the current webhook URL."`
	Version    int64           `json:"version" doc:"Counts saves. A stale one is answered with 409; without it, every save is accepted."`
	Name       string          `json:"name" max:"255"`
	Format     notify.Format   `json:"format" enum:"auto,teams,slack" default:"auto"`
	SharedWith *notify.Sharing `json:"sharedWith,omitempty"`
	WebhookURL string          `json:"webhookUrl"`
	Rules      []int64         `json:"rules" doc:"Ids of the rules that send here, as far as the caller administers them."`
	Reports    []int64         `json:"reports,omitempty" doc:"Ids of the activity reports that send here, likewise."`
	Others     int             `json:"others,omitempty" doc:"How many other rules and reports send here."`
	State      string          `json:"state" enum:"open,waiting,unreachable,broken"`
	Reason     string          `json:"reason,omitempty" doc:"Why it is not open; absent where it is."`
	Since      time.Time       `json:"since,omitzero" doc:"When it began to fail."`
	Until      time.Time       `json:"until,omitzero" doc:"When it is tried again."`
	LastOKAt   time.Time       `json:"lastOkAt,omitzero" doc:"When it last took a message; absent: never."`
	Waiting    int             `json:"waiting"`
	Held       int             `json:"held,omitempty"`
	HeldUntil  time.Time       `json:"heldUntil,omitzero" doc:"When the first of these quiet hours ends."`
	UpdatedBy  string          `json:"updatedBy,omitempty" doc:"Who saved it last."`
	UpdatedAt  time.Time       `json:"updatedAt,omitzero" doc:"When that was."`
}

// MemberWords are those of the members that need more than a few.
func (Channel) MemberWords() map[string]string {
	return map[string]string{
		"name": "What it is called; where it was never named, as its rules and reports call it, else its host.",
		"format": "Of messages for rules and reports whose own `format` is `auto`. `auto` is `slack` for hooks.slack.com, else " +
			"`teams`.",
		"sharedWith": "Who else may have rules and reports send here, besides those who administer one that does. Only an `ADMIN` " +
			"changes it.",
		"webhookUrl": "It is read back masked.",
		"state":      howChannelsFare,
		"waiting":    "How many messages wait. A list counts to 100, which is that many or more; the channel itself has all counted.",
		"held":       "How many of these wait for the end of quiet hours; absent where none do.",
	}
}

const howChannelsFare = "`open`: it takes messages; `waiting`: it failed and is tried again by itself; `unreachable`: so for 24 hours; " +
	"`broken`: the chat platform refuses its messages, which wait, while one is tried from time to time."

func (a *API) channelOf(ctx context.Context, c notify.ChannelInfo) Channel {
	s, who := c.Status(a.Clock()), identity.From(ctx)
	out := Channel{
		ID: c.ID, Channel: c.Fingerprint, Version: c.Version, Name: c.Name(), Format: c.Format,
		WebhookURL: c.Mask, Rules: []int64{}, Others: c.Others(who), State: s.State, Reason: s.Reason,
		Since: s.Since, Until: s.Until, LastOKAt: c.LastOKAt, Waiting: c.Waiting, Held: c.Held, HeldUntil: c.HeldUntil,
		UpdatedBy: c.UpdatedBy, UpdatedAt: c.UpdatedAt,
	}
	if c.SharedWith.String() != "" {
		out.SharedWith = &c.SharedWith
	}
	for i := range c.Rules {
		if who.May(c.Rules[i].Access()) {
			out.Rules = append(out.Rules, c.Rules[i].ID)
		}
	}
	for i := range c.Reports {
		if who.May(c.Reports[i].Access()) {
			out.Reports = append(out.Reports, c.Reports[i].ID)
		}
	}
	return out
}

type ofChannel struct {
	Channel string `path:"channel" json:"-" doc:"Its id, or the fingerprint of its webhook URL or an old one." example:"5f1c2a9be04d7731"`
}

func (a *API) registerChannels(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: ChannelsPath}, rest.Words{
		ID: "listChannels", Tag: "rules", Summary: "Lists the channels, those in trouble first.",
		Text: "Only channels that the caller may choose: those of rules and reports that the caller administers, those that the caller " +
			"made, and shared ones.",
		Answer: "A page of channels.",
	}, a.listChannels, channelExample...)
	rest.Add(r, rest.Route{Method: "GET", Path: ChannelsPath + "/{channel}"}, rest.Words{
		ID: "getChannel", Tag: "rules", Summary: "Returns a channel.", Text: "For users who may choose it.", Answer: "The channel.",
		Headers: []string{"ETag"}, Refused: []int{http.StatusForbidden}, RefusedFor: noChannel,
	}, a.channel, rest.Example[ofChannel, rest.Answer[Channel]]{Name: "fresh", Err: errNoChannel})
	a.registerChannelSaves(r)
	a.registerChannelTrials(r)
}

var (
	errNoChannel = fault.New(fault.NotFound, `There is no channel "5f1c2a9be04d7731".`)
	noChannel    = map[int]string{http.StatusNotFound: "There is no such channel. Users without `SYS_ADMIN` get 403 instead."}
)

var channelExample = []rest.Example[paged, rest.List[Channel]]{{Name: "page", Out: &rest.List[Channel]{Items: []Channel{{
	ID: 4, Channel: "5f1c2a9be04d7731", Version: 2, Name: "Release announcements", Format: notify.Auto,
	WebhookURL: "https://example.westeurope.logic.azure.com/…/invoke?…sig=••••",
	Rules:      []int64{7}, State: string(notify.Broken),
	Reason: "The chat platform answered 404 Not Found: WorkflowNotFound: The workflow could not be found.",
	Since:  exampleTime.Add(time.Minute), Until: exampleTime.Add(time.Hour), LastOKAt: exampleTime, Waiting: 3, UpdatedBy: "admin",
	UpdatedAt: exampleTime,
}}}}}

func (a *API) listChannels(ctx context.Context, in paged) (list rest.List[Channel], err error) {
	ask := notify.ChannelPage{Limit: in.Page.Limit + 1}
	if in.Page.After != "" {
		if _, err := fmt.Sscanf(in.Page.After, "%d/%d", &ask.AfterRank, &ask.AfterID); err != nil {
			return list, rest.ErrAfter()
		}
	}
	found, err := a.Channels.List(ctx, ask)
	key := func(c notify.ChannelInfo) string { return fmt.Sprintf("%d/%d", c.Rank(), c.ID) }
	return rest.NewList(in.Page, found, err, key, func(c notify.ChannelInfo) Channel { return a.channelOf(ctx, c) })
}

// channel is the channel as it is now.
func (a *API) channel(ctx context.Context, in ofChannel) (rest.Answer[Channel], error) {
	c, err := a.Channels.Get(ctx, in.Channel)
	return a.answerChannel(ctx, &c), err
}

func (a *API) answerChannel(ctx context.Context, c *notify.ChannelInfo) rest.Answer[Channel] {
	return rest.Answer[Channel]{Body: a.channelOf(ctx, *c), ETag: rest.ETag(c.ID, c.Version)}
}
