package api

import (
	"context"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

// newChannel is a channel to make.
type newChannel struct {
	rest.Ignored[Channel]
	Name       string        `json:"name,omitempty" max:"255" doc:"What it is called."`
	Format     notify.Format `json:"format,omitempty" enum:"auto,teams,slack" default:"auto"`
	SharedWith *Sharing      `json:"sharedWith,omitempty"`
	WebhookURL string        `json:"webhookUrl"`
	Wrong      fault.Fields  `json:"-"`
}

// ChannelChange is what is changed of a channel; what is left out stays.
type ChannelChange struct {
	Version    int64          `json:"version,omitempty"`
	Name       *string        `json:"name,omitempty" max:"255" doc:"What it is called; empty: as its rules call it."`
	Format     *notify.Format `json:"format,omitempty" enum:"auto,teams,slack"`
	SharedWith *Sharing       `json:"sharedWith,omitempty"`
	WebhookURL string         `json:"webhookUrl,omitempty"`
}

// savedChannel is a change of a channel.
type savedChannel struct {
	ofChannel
	rest.Ignored[Channel]
	ChannelChange
	Test  bool             `query:"test" json:"-" doc:"Posts a test message to a new webhook URL first, and saves only if it is taken."`
	Which notify.RetryMode `query:"which" json:"-" enum:"all,recent,none"`
	Match rest.Match       `json:"-"`
	Wrong fault.Fields     `json:"-"`
}

// MemberWords are those of the members that need more than a few.
func (savedChannel) MemberWords() map[string]string {
	return map[string]string{
		"webhookUrl": "Replaces the webhook URL, for all rules and reports and for what waits. The channel's own mask, or none, keeps " +
			"the stored one.",
		"sharedWith": "Needs `ADMIN`. An empty object ends the sharing.",
		"which": "Which waiting messages go out to a new webhook URL: all of them (the default), those of the last 24 hours, or none. The " +
			"others are cancelled, and can be redelivered.",
	}
}

type deletedChannel struct {
	ofChannel
	Match rest.Match
}

func (a *API) registerChannelSaves(r *rest.Router) {
	one := ChannelsPath + "/{channel}"
	rest.Add(r, rest.Operation[newChannel, rest.Answer[Channel]]{
		Route: rest.Route{Method: "POST", Path: ChannelsPath},
		Words: rest.Words{
			ID: "createChannel", Tag: "rules", Summary: "Makes a channel.", Status: http.StatusCreated,
			Text: "For users who administer anything. Such a channel stays when nothing sends to it; a user may have 100 of those. A rule or " +
				"report that is saved with a webhook URL makes its channel by itself.",
			Answer: "The channel is there.", Headers: []string{"ETag", "Location"},
			Refused: []int{http.StatusForbidden, http.StatusConflict}, RefusedFor: urlTaken,
		},
		Examples: newChannels,
		Do:       a.createChannel,
	})
	rest.Add(r, rest.Operation[savedChannel, rest.Answer[Channel]]{
		Route: rest.Route{Method: "PUT", Path: one},
		Words: rest.Words{
			ID: "saveChannel", Tag: "rules", Summary: "Names or shares a channel, or replaces its webhook URL.", Headers: []string{"ETag"},
			Text: "Members that are left out stay. For users who administer all rules and reports that send to the channel; the 403 says " +
				"how many are others'. One that is or was shared is changed by who made it, and by `ADMIN`. With its `version` (409), or " +
				"`If-Match` (412), a save overwrites nothing that was saved meanwhile; without either it goes through.\n\n" +
				"A replaced webhook URL holds for all rules and reports of the channel and for what waits, on every node; the channel is open then.",
			Answer: "The channel as it is now.", Refused: []int{http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests},
			RefusedFor: map[int]string{http.StatusNotFound: noChannel[http.StatusNotFound], http.StatusConflict: urlTaken[http.StatusConflict]},
		},
		Examples: []rest.Example[savedChannel, rest.Answer[Channel]]{{Name: "fresh",
			In: savedChannel{ChannelChange: ChannelChange{Name: new("Releases")}}, Err: errNoChannel}},
		Do: a.saveChannel,
	})
	rest.Add(r, rest.Operation[deletedChannel, rest.None]{
		Route: rest.Route{Method: "DELETE", Path: one},
		Words: rest.Words{
			ID: "deleteChannel", Tag: "rules", Summary: "Deletes a channel to which nothing sends.",
			Text:   "For who made it, and for `ADMIN`. What waits on it is cancelled.",
			Answer: "The channel is gone.", Refused: []int{http.StatusForbidden, http.StatusConflict},
			RefusedFor: map[int]string{
				http.StatusNotFound: noChannel[http.StatusNotFound], http.StatusConflict: "A rule or report sends to it.",
			},
		},
		Examples: []rest.Example[deletedChannel, rest.None]{{Name: "fresh", Err: errNoChannel}},
		Do:       a.deleteChannel,
	})
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
	draft := notify.ChannelDraft{Name: in.Name, Format: formatOf(in.Format), SharedWith: in.SharedWith.sharing()}
	c, err := a.Channels.Create(ctx, draft, in.WebhookURL, in.Wrong)
	if err != nil {
		return out, err
	}
	out = a.answerChannel(ctx, &c)
	out.Location = rest.Link(ctx, ChannelsPath+"/"+strconv.FormatInt(c.ID, 10))
	return out, nil
}

func (a *API) saveChannel(ctx context.Context, in savedChannel) (out rest.Answer[Channel], err error) {
	edit := admin.ChannelEdit{
		Version: in.Version, Name: in.Name, WebhookURL: in.WebhookURL, Test: in.Test, Which: rest.Spelled(in.Which, notify.RetryModes()...),
	}
	if in.Format != nil {
		edit.Format = new(formatOf(*in.Format))
	}
	if in.SharedWith != nil {
		edit.SharedWith = new(in.SharedWith.sharing())
	}
	if err := a.unchangedChannel(ctx, in.Match, in.Channel, &edit.Version); err != nil {
		return out, err
	}
	c, err := a.Channels.Save(ctx, in.Channel, edit, in.Wrong)
	if err != nil {
		return out, a.refusedChannel(ctx, in.Match, in.Channel, err)
	}
	return a.answerChannel(ctx, &c), nil
}

func (a *API) deleteChannel(ctx context.Context, in deletedChannel) (none rest.None, err error) {
	var version int64
	if err := a.unchangedChannel(ctx, in.Match, in.Channel, &version); err != nil {
		return none, err
	}
	if err := a.Channels.Delete(ctx, in.Channel, version); err != nil {
		return none, a.refusedChannel(ctx, in.Match, in.Channel, err)
	}
	return none, nil
}

// channelETag names a version of a channel.
func channelETag(c *notify.ChannelInfo) string { return rest.ETag(c.ID, c.Version) }

// unchangedChannel is unchanged for channels.
func (a *API) unchangedChannel(ctx context.Context, match rest.Match, channel string, version *int64) error {
	if !match.IsGiven() {
		return nil
	}
	c, err := a.Channels.Get(ctx, channel)
	if err != nil {
		return err
	}
	hold(match, version, c.Version)
	saved, err := a.Channels.Store.ChannelSavesSince(ctx, &c, match.Version(c.ID))
	if err != nil {
		return err
	}
	return match.Check(channelETag(&c), saved)
}

// refusedChannel is the answer to a change of a channel that failed with err.
func (a *API) refusedChannel(ctx context.Context, match rest.Match, channel string, err error) error {
	var version int64
	return refused(match, err, func() error { return a.unchangedChannel(ctx, match, channel, &version) })
}
