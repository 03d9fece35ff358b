package pages

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/answer"
)

func channelPath(c *notify.ChannelInfo) string { return channelsPath + "/" + c.UnderID() }

type channelRow struct {
	notify.ChannelInfo
	Badge    console.Badge
	Standing notify.ChannelStatus
	Path     string
	Mine     []notify.ChannelRule // that who looks administers
	Reports  []notify.Report
	Others   int       // rules and reports of others
	NextTry  time.Time // zero: nothing keeps it closed
	Quiet    bool      // NextTry is the end of quiet hours
	Idle     bool      // nothing waits
	CanRetry bool      // something waits for a later try
	NeedsURL bool      // as for needsURL
	Act      bool      // who looks may change it
}

// Cause is why a channel is not well, in a row of a list.
func (r channelRow) Cause() string { return answer.Brief(r.Standing.Reason) }

// Listed says how many messages wait, as far as a list counts them.
func (r channelRow) Listed() string { return counted(r.Waiting, notify.MaxListed) }

// channelBadge says how a channel stands. REST and metrics call what works or is not
// known "open", and what fails "waiting".
func channelBadge(c *notify.Channel, now time.Time) console.Badge {
	switch standing := c.Status(now).State; {
	case standing == "broken" || standing == "unreachable":
		return console.Badge{Tone: console.Bad, Text: standing}
	case standing == "waiting":
		return console.Badge{Tone: console.Warn, Text: "fails"}
	case !c.FailingSince.IsZero():
		return console.Badge{Tone: console.Quiet, Text: "not known"}
	case c.LastOKAt.IsZero():
		return console.Badge{Tone: console.Quiet, Text: "new"}
	}
	return console.Badge{Tone: console.Good, Text: "works"}
}

func (p *Pages) channelRow(c notify.ChannelInfo, who *identity.Principal) channelRow {
	now := p.Clock()
	row := channelRow{ChannelInfo: c, Badge: channelBadge(&c.Channel, now), Standing: c.Status(now), Path: channelPath(&c),
		Act: c.ChangeableBy(who)}
	tried := false
	row.NextTry, row.Quiet, tried = c.NextTry(now)
	row.Idle, row.NeedsURL = !tried, needsURL(row.Standing)
	row.CanRetry = !row.NextTry.IsZero() && !row.Quiet || row.Standing.State != string(notify.Open) && c.Waiting > 0
	for _, rule := range c.Rules {
		if who.May(rule.Access()) {
			row.Mine = append(row.Mine, rule)
		} else {
			row.Others++
		}
	}
	for _, report := range c.Reports {
		if who.May(report.Access()) {
			row.Reports = append(row.Reports, report)
		} else {
			row.Others++
		}
	}
	return row
}

// MoreUses says how many rules and reports use the channel beside the one that the list
// names; the channel's own page names all.
func (r channelRow) MoreUses() string {
	mine := len(r.Mine) + len(r.Reports)
	switch more := max(mine-1, 0) + r.Others; {
	case more == 0:
		return ""
	case mine == 0:
		return console.Count(int64(more)) + " of other administrators"
	default:
		return "and " + console.Count(int64(more)) + " more"
	}
}

const channelsInTrouble = "trouble" // the state that the list of channels is narrowed to

type channelList struct {
	console.List
	Rows []channelRow
}

func (p *Pages) listChannels(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	form := console.NewForm().Set("search", strings.TrimSpace(q.Get("search"))).Set("state", q.Get("state"))
	ask := notify.ChannelPage{Limit: pageSize + 1, Search: form.Get("search"), InTrouble: form.Get("state") == channelsInTrouble}
	if after := q.Get("after"); after != "" {
		if _, err := fmt.Sscanf(after, "%d/%d", &ask.AfterRank, &ask.AfterID); err != nil {
			return nil, fault.New(fault.NotFound, "There is no such page of the list.")
		}
	}
	found, err := p.Channels.List(r.Context(), ask)
	if err != nil {
		return nil, err
	}
	list := channelList{List: console.NewList(channelsPath, form, []console.Filter{
		{Name: "search", Label: "Name", Placeholder: "Search by name", Search: true},
		{Name: "state", Label: "State", Options: []console.Option{{Label: "Every state"}, {Value: channelsInTrouble, Label: "in trouble"}}},
	})}
	found = console.PageOf(&list.List, found, pageSize, ask.AfterID == 0, func(last *notify.ChannelInfo) []string {
		return []string{"after", fmt.Sprintf("%d/%d", last.Rank(), last.ID)}
	})
	err = list.Count(len(found), "channel", "channels", func() (int, bool, error) {
		if list.Filtered() {
			return 0, false, nil
		}
		return p.Channels.Total(r.Context(), console.MaxTotal)
	})
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		list.Rows = append(list.Rows, p.channelRow(c, identity.From(r.Context())))
	}
	return console.Page{Template: "channels", Title: "Channels", Data: list}, nil
}

func (p *Pages) retryChannel(r *http.Request, form *console.Form) (console.Response, error) {
	channel := r.PathValue("channel")
	done, err := p.Channels.Retry(r.Context(), channel, notify.RetryMode(form.Get("which")))
	to := console.Redirect{To: channelsPath + "/" + channel}
	if err != nil {
		return to.OrSay(err, console.Warn, fault.RateLimited)
	}
	to.Flash, to.Tone = p.retriedText(r.Context(), &done)
	if done.Cancelled > 0 {
		to.Flash += " " + strconv.Itoa(done.Cancelled) + " messages were left out; they can be redelivered."
	}
	return to, nil
}

// retriedText says what came of a retry.
func (p *Pages) retriedText(ctx context.Context, done *admin.Retried) (string, console.Tone) {
	switch {
	case done.Answered && done.Status.State == string(notify.Open):
		return "The channel accepts messages again.", ""
	case done.Answered:
		return "The channel was tried, and still does not accept messages. " + done.Status.Reason, console.Bad
	case done.Waiting == 0:
		return "Nothing waits on the channel, so nothing was sent. Send a test message to see whether it works.", console.Warn
	}
	return p.triedNow(ctx, "The channel is tried again now. The chat platform has not answered yet.")
}

func (p *Pages) testChannel(r *http.Request, form *console.Form) (console.Response, error) {
	channel := r.PathValue("channel")
	a, err := p.Channels.Test(r.Context(), channel, notify.RetryMode(form.Get("which")))
	return testAnswer(channelsPath+"/"+channel, a, err)
}

// testAnswer leads to a page that says what became of a test message.
func testAnswer(path string, a *admin.Tested, err error) (console.Response, error) {
	to := console.Redirect{To: path}
	if err != nil {
		return to.OrSay(err, console.Warn, fault.RateLimited, fault.Conflict, fault.Invalid)
	}
	said := testedOf(a)
	to.Flash, to.Tone = said.Text, said.Tone
	return to, nil
}
