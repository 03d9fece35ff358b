package pages

import (
	"fmt"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/answer"
)

// channelView is a channel's page.
type channelView struct {
	*console.Form
	channelRow
	Whiches   []console.Option
	Formats   []console.Option
	Sharings  []console.Option
	Called    string // its name, its own or by its rules and reports
	Share     bool   // and with whom it is shared
	Why       string // why not
	Deletable bool
	Recent    recentMessages
}

// WaitText says how many messages wait.
func (v channelView) WaitText() string {
	if v.Waiting == 1 {
		return "1 message waits."
	}
	return console.Count(v.Waiting) + " messages wait."
}

// needsURL reports whether another webhook URL is what helps: the present one leads
// nowhere, or to a workflow that is off. Messages that are refused in a row may be what
// is wrong themselves.
func needsURL(s notify.ChannelStatus) bool {
	if s.State != string(notify.Broken) {
		return false
	}
	switch answer.Status(s.Reason) {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest:
		return answer.Brief(s.Reason) != s.Reason // one answer broke it: several in a row would have words before
	}
	return false
}

func (p *Pages) channelOfPath(r *http.Request) (notify.ChannelInfo, error) {
	return p.Channels.Get(r.Context(), r.PathValue("channel"))
}

func (p *Pages) showChannel(r *http.Request, c notify.ChannelInfo) (console.Response, error) {
	if r.PathValue("channel") != c.UnderID() { // a fingerprint, as older links have it
		return console.Redirect{To: channelPath(&c)}, nil
	}
	return p.channelPage(r, &c, channelFormOf(&c))
}

func (p *Pages) channelPage(r *http.Request, c *notify.ChannelInfo, form *console.Form) (console.Page, error) {
	who := identity.From(r.Context())
	view := channelView{
		Form: form, channelRow: p.channelRow(*c, who), Share: who.May(identity.Admin, identity.Resource{}),
		Whiches: whichOptions(), Formats: formatOptions(), Sharings: sharingOptions, Called: c.Called(),
	}
	uses := len(c.Rules) + len(c.Reports)
	view.Deletable = view.Act && uses == 0
	switch {
	case view.Act:
	case view.Others == 0:
		view.Why = "You can choose this channel for your rules and reports. Only the user who made it and administrators can change it."
	default:
		view.Why = fmt.Sprintf("%d of the %d rules and reports of this channel are not yours to administer, so you cannot test or change it. "+
			"To have your own send to a new webhook URL, enter that in each of them.", view.Others, uses)
	}
	var err error
	if view.Recent, err = p.recentOn(r.Context(), c); err != nil {
		return console.Page{}, err
	}
	return console.Page{
		Template: "channel", Title: c.Name(), Data: view,
		Up:      []console.Link{{Label: "Channels", Path: channelsPath}},
		Actions: []console.Action{{Label: "Its deliveries", Path: deliveriesPath + console.Query("channel", idText(c.ID))}},
	}, nil
}

func whichOptions() []console.Option {
	return []console.Option{
		{Value: string(notify.RetryAll), Label: "All", Hint: "many go out as digests"},
		{Value: string(notify.RetryRecent), Label: "Those of the last 24 hours", Hint: "older ones are cancelled"},
		{Value: string(notify.RetryNone), Label: "None", Hint: "all are cancelled"},
	}
}
