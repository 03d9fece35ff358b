package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// ChannelsPath is where channels are.
const ChannelsPath = basePath + "/channels"

// Channel is a webhook URL that rules or reports send to.
type Channel struct {
	Channel    string    `json:"channel" doc:"The fingerprint of the webhook URL."`
	Name       string    `json:"name" doc:"What its rules call it, else its host."`
	WebhookURL string    `json:"webhookUrl" doc:"Masked."`
	Rules      []int64   `json:"rules"`
	Reports    []int64   `json:"reports,omitempty" doc:"Ids of the activity reports that send here."`
	State      string    `json:"state" enum:"open,waiting,unreachable,broken"`
	Reason     string    `json:"reason,omitempty"`
	Since      time.Time `json:"since,omitzero" doc:"When it began to fail."`
	Until      time.Time `json:"until,omitzero" doc:"When it is tried again."`
	LastOKAt   time.Time `json:"lastOkAt,omitzero"`
	Waiting    int       `json:"waiting"`
	Held       int       `json:"held,omitempty" doc:"How many of these wait for the end of quiet hours; absent where none do."`
	HeldUntil  time.Time `json:"heldUntil,omitzero" doc:"When the first of these quiet hours ends."`
}

// MemberWords are those of the members that need more than a few.
func (Channel) MemberWords() map[string]string {
	return map[string]string{
		"waiting": "How many messages wait. A list counts to 100, which is that many or more; the channel itself has all counted.",
	}
}

func (a *API) channelOf(c notify.ChannelInfo) Channel {
	s := c.Status(a.Clock())
	out := Channel{
		Channel: c.Fingerprint, Name: c.Name(), WebhookURL: c.Mask, Rules: []int64{}, State: s.State, Reason: s.Reason,
		Since: s.Since, Until: s.Until, LastOKAt: c.LastOKAt, Waiting: c.Waiting,
		Held: c.Held, HeldUntil: c.HeldUntil,
	}
	for i := range c.Rules {
		out.Rules = append(out.Rules, c.Rules[i].ID)
	}
	for i := range c.Reports {
		out.Reports = append(out.Reports, c.Reports[i].ID)
	}
	return out
}

type ofChannel struct {
	Channel string `path:"channel" json:"-" doc:"The fingerprint of its webhook URL, as rules and deliveries name it." example:"5f1c2a9be04d7731"`
}

type namedChannel struct {
	ofChannel
	Name  string       `json:"name,omitempty" max:"255" doc:"What people call it."`
	Wrong fault.Fields `json:"-"`
}

func (a *API) registerChannels(r *rest.Router) {
	rest.Add(r, rest.Operation[paged, rest.List[Channel]]{
		Route: rest.Route{Method: "GET", Path: ChannelsPath},
		Words: rest.Words{
			ID: "listChannels", Tag: "rules", Summary: "Lists the webhook URLs that rules send to, those in trouble first.",
			Text: "As far as who asks administers a rule of theirs.", Answer: "A page of channels.",
		},
		Examples: channelExample,
		Do:       a.listChannels,
	})
	one := ChannelsPath + "/{channel}"
	rest.Add(r, rest.Operation[ofChannel, Channel]{
		Route: rest.Route{Method: "GET", Path: one},
		Words: rest.Words{
			ID: "getChannel", Tag: "rules", Summary: "Returns a channel.", Text: "For users who administer a rule of it.", Answer: "The channel.",
			Refused: []int{http.StatusForbidden}, RefusedFor: noChannel,
		},
		Examples: []rest.Example[ofChannel, Channel]{{Name: "fresh", Err: errNoChannel}},
		Do:       a.channel,
	})
	rest.Add(r, rest.Operation[namedChannel, Channel]{
		Route: rest.Route{Method: "PUT", Path: one},
		Words: rest.Words{
			ID: "renameChannel", Tag: "rules", Summary: "Has all rules of a channel call it so.", Text: "For users who administer all of them.",
			Answer: "The channel.", Refused: []int{http.StatusForbidden}, RefusedFor: noChannel,
		},
		Examples: []rest.Example[namedChannel, Channel]{{Name: "fresh", In: namedChannel{Name: "Releases"}, Err: errNoChannel}},
		Do: func(ctx context.Context, in namedChannel) (Channel, error) {
			if err := a.Channels.Rename(ctx, in.Channel, in.Name, in.Wrong); err != nil {
				return Channel{}, err
			}
			return a.channel(ctx, in.ofChannel)
		},
	})
	a.registerChannelTrials(r)
}

var (
	errNoChannel = fault.New(fault.NotFound, `There is no channel "5f1c2a9be04d7731".`)
	noChannel    = map[int]string{http.StatusNotFound: "No rule uses such a channel. Who is no `SYS_ADMIN` gets 403 instead."}
)

var channelExample = []rest.Example[paged, rest.List[Channel]]{{Name: "page", Out: &rest.List[Channel]{Items: []Channel{{
	Channel: "5f1c2a9be04d7731", Name: "Release announcements",
	WebhookURL: "https://example.westeurope.logic.azure.com/…/invoke?…sig=••••",
	Rules:      []int64{7}, State: string(notify.Broken),
	Reason: "The chat platform answered 404 Not Found: WorkflowNotFound: The workflow could not be found.",
	Since:  exampleTime.Add(time.Minute), Until: exampleTime.Add(time.Hour), LastOKAt: exampleTime, Waiting: 3,
}}}}}

func (a *API) listChannels(ctx context.Context, in paged) (list rest.List[Channel], err error) {
	ask := notify.ChannelPage{Limit: in.Page.Limit + 1}
	if in.Page.After != "" {
		if _, err := fmt.Sscanf(in.Page.After, "%d/%d", &ask.AfterRank, &ask.AfterID); err != nil {
			return list, rest.ErrAfter()
		}
	}
	found, err := a.Channels.List(ctx, ask)
	if err != nil {
		return list, err
	}
	key := func(c notify.ChannelInfo) string { return fmt.Sprintf("%d/%d", c.Rank(), c.ID) }
	return rest.NewList(in.Page, found, key, a.channelOf), nil
}

// channel is the channel as it is now.
func (a *API) channel(ctx context.Context, in ofChannel) (Channel, error) {
	c, err := a.Channels.Get(ctx, in.Channel)
	if err != nil {
		return Channel{}, err
	}
	return a.channelOf(c), nil
}
