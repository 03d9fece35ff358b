package api

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// newChannel is a channel to make.
type newChannel struct {
	rest.Ignored[Channel]
	Name       string          `json:"name,omitempty" max:"255" doc:"What it is called."`
	Format     notify.Format   `json:"format,omitempty" enum:"auto,teams,slack" default:"auto" doc:"Of messages of what has auto itself."`
	SharedWith *notify.Sharing `json:"sharedWith,omitempty" doc:"Who else may have rules and reports send here; needs ADMIN."`
	WebhookURL string          `json:"webhookUrl" doc:"Where its messages go; it is read back masked."`
	Wrong      fault.Fields    `json:"-"`
}

// savedChannel is a change of a channel.
type savedChannel struct {
	ofChannel
	rest.Ignored[Channel]
	notify.ChannelEdit
	Match rest.Match   `json:"-"`
	Wrong fault.Fields `json:"-"`
}

// MemberWords are those of the members that need more than a few.
func (savedChannel) MemberWords() map[string]string {
	return map[string]string{
		"webhookUrl": "Replaces the webhook URL, for all rules and reports and for what waits. The channel's own mask, or none, keeps " +
			"the stored one.",
		"sharedWith": "Needs `ADMIN`. An empty object ends the sharing.",
		"which": "Which waiting messages go out to a new webhook URL: all of them (the default), those of the last 24 hours, or none. " +
			"The others are cancelled, and can be redelivered.",
	}
}

type deletedChannel struct {
	ofChannel
	Match rest.Match
}

func (a *API) registerChannelSaves(r *rest.Router) {
	one := ChannelsPath + "/{channel}"
	rest.Add(r, rest.Route{Method: "POST", Path: ChannelsPath}, rest.Words{
		ID: "createChannel", Tag: "rules", Summary: "Makes a channel.", Status: http.StatusCreated,
		Text: "For users who administer anything. Such a channel stays when nothing sends to it; a user may have 100 of those. A rule or " +
			"report that is saved with a webhook URL makes its channel by itself.",
		Answer: "The channel is there.", Headers: []string{"ETag", "Location"},
		Refused: []int{http.StatusForbidden, http.StatusConflict}, RefusedFor: urlTaken,
	}, a.createChannel, newChannels...)
	rest.Add(r, rest.Route{Method: "PUT", Path: one}, rest.Words{
		ID: "saveChannel", Tag: "rules", Summary: "Names or shares a channel, or replaces its webhook URL.", Headers: []string{"ETag"},
		Text: "Members that are left out stay. For users who administer all rules and reports that send to the channel; the 403 says " +
			"how many are others'. One that is or was shared is changed by who made it, and by `ADMIN`. With its `version` (409), or " +
			"`If-Match` (412), a save overwrites nothing that was saved meanwhile; without either it goes through.\n\n" +
			"A replaced webhook URL holds for all rules and reports of the channel and for what waits, on every node; the channel is " +
			"open then.",
		Answer: "The channel as it is now.", Refused: []int{http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests},
		RefusedFor: map[int]string{http.StatusNotFound: noChannel[http.StatusNotFound], http.StatusConflict: urlTaken[http.StatusConflict]},
	}, a.saveChannel, rest.Example[savedChannel, rest.Answer[Channel]]{Name: "fresh",
		In: savedChannel{ChannelEdit: notify.ChannelEdit{Name: new("Releases")}}, Err: errNoChannel})
	rest.Add(r, rest.Route{Method: "DELETE", Path: one}, rest.Words{
		ID: "deleteChannel", Tag: "rules", Summary: "Deletes a channel to which nothing sends.",
		Text:   "For who made it, and for `ADMIN`. What waits on it is cancelled.",
		Answer: "The channel is gone.", Refused: []int{http.StatusForbidden, http.StatusConflict},
		RefusedFor: map[int]string{
			http.StatusNotFound: noChannel[http.StatusNotFound], http.StatusConflict: "A rule or report sends to it.",
		},
	}, rest.Done(a.deleteChannel), rest.Example[deletedChannel, rest.None]{Name: "fresh", Err: errNoChannel})
}

var urlTaken = map[int]string{http.StatusConflict: "Another channel has this webhook URL, or the channel was changed in the meantime."}

var newChannels = []rest.Example[newChannel, rest.Answer[Channel]]{
	{
		Name: "slack", In: newChannel{Name: "Builds", WebhookURL: "https://hooks.slack.com/services/T0000/B0001/c2VjcmV0"},
		Out: &rest.Answer[Channel]{Body: Channel{
			ID: 5, Channel: "90ab12cd34ef5678", Version: 2, Name: "Builds", Format: notify.Auto, WebhookURL: "https://hooks.slack.com/…",
			Rules: []int64{}, State: string(notify.Open), UpdatedBy: "admin", UpdatedAt: exampleTime,
		}},
	},
	{
		Name: "masked", In: newChannel{WebhookURL: "https://hooks.slack.com/services/••••"},
		Err: fault.InvalidField("webhookUrl", "Give the whole webhook URL of the channel."),
	},
}

func (a *API) createChannel(ctx context.Context, in newChannel) (out rest.Answer[Channel], err error) {
	draft := notify.ChannelDraft{Name: in.Name, Format: formatOf(in.Format)}
	if in.SharedWith != nil {
		draft.SharedWith = *in.SharedWith
	}
	c, err := a.Channels.Create(ctx, draft, in.WebhookURL, in.Wrong)
	out = a.answerChannel(ctx, &c)
	out.Location = rest.Link(ctx, ChannelsPath+"/"+strconv.FormatInt(c.ID, 10))
	return out, err
}

func (a *API) saveChannel(ctx context.Context, in savedChannel) (rest.Answer[Channel], error) {
	edit := in.ChannelEdit
	edit.Which = rest.Spelled(in.Which, notify.RetryModes()...)
	if in.Format != nil {
		edit.Format = new(formatOf(*in.Format))
	}
	c, err := held(in.Match, in.Version, a.channelNow(ctx, in.Channel), func(version int64) (notify.ChannelInfo, error) {
		edit.Version = version
		return a.Channels.Save(ctx, in.Channel, edit, in.Wrong)
	})
	return a.answerChannel(ctx, &c), err
}

func (a *API) deleteChannel(ctx context.Context, in deletedChannel) error {
	return heldDo(in.Match, a.channelNow(ctx, in.Channel), func(version int64) error { return a.Channels.Delete(ctx, in.Channel, version) })
}
