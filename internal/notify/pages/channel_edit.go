package pages

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// With whom a channel is shared, as the form has it.
const (
	shareNone     = "none"
	shareProjects = "projects"
	shareEveryone = "everyone"
)

var sharingOptions = []console.Option{
	{Value: shareNone, Label: "No one else", Hint: "those who administer a rule or report of it choose it"},
	{Value: shareProjects, Label: "The administrators of these projects"},
	{Value: shareEveryone, Label: "Everyone who administers something"},
}

func channelFormOf(c *notify.ChannelInfo) *console.Form {
	form := console.NewForm().Set("name", c.Named).Set("format", string(c.Format)).Set("which", string(notify.RetryAll)).
		Set("version", strconv.FormatInt(c.Version, 10)).Set("sharedWith", shareNone)
	var projects []string
	for _, p := range c.SharedWith.Projects {
		projects = append(projects, p.String())
	}
	switch {
	case c.SharedWith.Everyone:
		form.Set("sharedWith", shareEveryone)
	case len(projects) > 0:
		form.Set("sharedWith", shareProjects)
	}
	return form.SetLines("projects", projects)
}

// saveChannel saves a channel's name, format and sharing.
func (p *Pages) saveChannel(r *http.Request, form *console.Form, c notify.ChannelInfo) (console.Response, error) {
	page, err := p.channelPage(r, &c, form)
	if err != nil {
		return nil, err
	}
	name, format := form.Get("name"), notify.Format(form.Get("format"))
	edit := notify.ChannelEdit{Version: form.Int("version"), Name: &name, Format: &format}
	if identity.From(r.Context()).May(identity.Admin, identity.Resource{}) && form.Get("sharedWith") != "" {
		sharing := sharingOf(form)
		edit.SharedWith = &sharing
	}
	saved, err := p.Channels.Save(r.Context(), c.UnderID(), edit, nil)
	if err != nil {
		return page, late(form, err)
	}
	return console.Redirect{To: channelPath(&saved), Flash: "The channel is saved."}, nil
}

// sharingOf reads with whom a channel is shared: projects as connection/KEY, or as KEY
// where there is one connection.
func sharingOf(form *console.Form) (s notify.Sharing) {
	switch form.Get("sharedWith") {
	case shareEveryone:
		s.Everyone = true
	case shareProjects:
		for _, line := range form.Lines("projects") {
			connection, key, ok := strings.Cut(line, "/")
			if !ok {
				connection, key = "", line
			}
			s.Projects = append(s.Projects, notify.SharedProject{Connection: connection, ProjectKey: key})
		}
	}
	return s
}

// replaceView is the page that replaces a channel's webhook URL.
type replaceView struct {
	*console.Form
	Row     channelRow
	Holds   string
	Whiches []console.Option
}

func (p *Pages) askReplacement(r *http.Request, c notify.ChannelInfo) (console.Response, error) {
	if !c.ChangeableBy(identity.From(r.Context())) {
		return console.Redirect{To: channelPath(&c)}, nil
	}
	return p.replacePage(r, &c, channelFormOf(&c)), nil
}

func (p *Pages) replacePage(r *http.Request, c *notify.ChannelInfo, form *console.Form) console.Page {
	return console.Page{
		Template: "channel-replace", Title: "Replace the webhook URL of " + c.Name(),
		Data: replaceView{Form: form, Row: p.channelRow(*c, identity.From(r.Context())), Holds: replacementText(c), Whiches: whichOptions()},
		Up:   []console.Link{{Label: "Channels", Path: channelsPath}, {Label: c.Name(), Path: channelPath(c)}},
	}
}

// replacementText says for what another webhook URL is used; the rules and reports are
// listed behind it.
func replacementText(c *notify.ChannelInfo) string {
	var waiting string
	switch {
	case c.Waiting == 1:
		waiting = "the message that waits"
	case c.Waiting > 1:
		waiting = "the " + console.Count(c.Waiting) + " messages that wait"
	}
	switch used := len(c.Rules)+len(c.Reports) > 0; {
	case used && waiting != "":
		return "The new webhook URL is used for " + waiting + " and for all new messages of:"
	case used:
		return "The new webhook URL is used for all new messages of:"
	case waiting != "":
		return "The new webhook URL is used for " + waiting + ". No rule or report sends to this channel."
	}
	return "No rule or report sends to this channel yet."
}

// taken says at the field of the webhook URL which channel has it already; other errors
// stay as they are.
func (p *Pages) taken(ctx context.Context, err error) error {
	var taken *notify.URLTaken
	if !errors.As(err, &taken) {
		return err
	}
	other, err := p.Channels.Get(ctx, idText(taken.Channel))
	switch {
	case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden):
		return fault.InvalidField("webhookUrl", "Another channel that you may not choose has this webhook URL. Ask an administrator to share "+
			"it with you.")
	case err != nil:
		return err
	}
	return fault.InvalidField("webhookUrl", "The channel “%s” has this webhook URL already. Choose that channel in your rules and "+
		"reports instead.", other.Name())
}

func (p *Pages) replaceChannel(r *http.Request, form *console.Form, c notify.ChannelInfo) (console.Response, error) {
	page := p.replacePage(r, &c, form)
	edit := notify.ChannelEdit{
		Version: form.Int("version"), WebhookURL: form.Get("webhookUrl"), Which: notify.RetryMode(form.Get("which")),
		Test: form.Get("do") != "untested",
	}
	if edit.WebhookURL == "" || edit.WebhookURL == c.Mask {
		return page, fault.InvalidField("webhookUrl", "Enter the whole new webhook URL.")
	}
	saved, err := p.Channels.Save(r.Context(), c.UnderID(), edit, nil)
	if err != nil {
		return page, p.taken(r.Context(), late(form, err))
	}
	return console.Redirect{To: channelPath(&saved), Flash: "The webhook URL is replaced. Messages go to the new one from now on."}, nil
}

func (p *Pages) confirmDeleteChannel(_ *http.Request, c notify.ChannelInfo) (console.Response, error) {
	return console.Confirm{
		Title: "Delete the channel " + c.Name() + "?", Text: "Its webhook URL is deleted. Its deliveries stay in the list.",
		Verb: "Delete the channel", Keep: "Keep the channel", Back: channelPath(&c),
	}, nil
}

func (p *Pages) deleteChannel(r *http.Request, c notify.ChannelInfo) (console.Response, error) {
	err := p.Channels.Delete(r.Context(), c.UnderID(), 0)
	return console.Redirect{To: channelsPath, Flash: "The channel " + c.Name() + " is deleted."}, err
}
