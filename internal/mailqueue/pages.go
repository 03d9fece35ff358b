package mailqueue

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/console"
	"outrigger/internal/identity"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Pages is the wing's part of the console.
type Pages struct {
	Board *Board
	Relay Relay
}

const (
	pageSize = 50 // rows of a list

	queuesPath   = "/mail"
	messagesPath = "/mail/messages"

	// liveEvery follows samples closely enough; the relay's sizes change
	// between them.
	liveEvery = 5 * time.Second
)

// Register adds the pages.
func (p *Pages) Register(c *console.Console) {
	c.AddPages(console.Sub(pageFiles, "pages"))
	c.AddAssets(console.Sub(assetFiles, "assets"))
	c.AddNav(console.Nav{Section: "Mail", Label: "Mail queues", Path: queuesPath, Visible: administers})
	c.AddNav(console.Nav{Section: "Mail", Label: "Messages", Path: messagesPath, Visible: administers})
	may := console.Needs(identity.Admin)
	c.Handle("GET "+queuesPath, may, p.showQueues, "mail-queues")
	c.Handle("GET "+queuesPath+"/live", may, p.liveQueues, "mail-queues")
	c.Handle("POST "+queuesPath+"/flush", may, p.flush)
	c.Handle("POST "+queuesPath+"/resend", may, p.resendAll)
	c.Handle("POST "+queuesPath+"/pause", may, p.pause)
	c.Handle("POST "+queuesPath+"/resume", may, p.resume)
	c.Handle("GET "+messagesPath, may, p.listMessages, "mail-messages")
	c.Handle("POST "+messagesPath+"/resend", may, p.resendSelected)
	c.Handle("POST "+messagesPath+"/flush", may, p.flushSelected)
	c.Handle("GET "+messagesPath+"/delete", may, p.confirmDeleteSelected, "mail-messages")
	c.Handle("POST "+messagesPath+"/delete", may, p.deleteSelected)
	c.Handle("GET "+messagesPath+"/{id}", may, p.showMessage, "mail-message")
	c.Handle("GET "+messagesPath+"/{id}/content", may, p.look, "mail-content")
	c.Handle("POST "+messagesPath+"/{id}/resend", may, p.resend)
	c.Handle("GET "+messagesPath+"/{id}/delete", may, p.confirmDelete)
	c.Handle("POST "+messagesPath+"/{id}/delete", may, p.delete)
	p.registerNodes(c)
	c.AddOverview(p.overview)
}

// administers tells whether somebody may look at mail.
func administers(p *identity.Principal) bool { return p.May(identity.Admin, identity.Where{}) }

// queueRow is a node in the table.
type queueRow struct {
	Standing
	Badge   console.Badge
	Verdict console.Badge
	Reason  string
	Plot    Plot
	Stopped string // why its relay sends nothing now
}

type queuesView struct {
	Rows  []queueRow
	Relay bool // whether there is a queue that something can be done with
}

func (p *Pages) showQueues(r *http.Request) (console.Response, error) {
	view, err := p.queues(r.Context())
	if err != nil {
		return nil, err
	}
	return console.Page{
		Template: "mail-queues", Title: "Mail queues", Data: view,
		Actions: []console.Action{{Label: "Messages", Path: messagesPath}},
	}, nil
}

func (p *Pages) liveQueues(*http.Request) (console.Response, error) {
	return console.Live{
		Template: "mail-queues", Part: "mail-table", Every: liveEvery,
		Data: func(ctx context.Context) (any, error) { return p.queues(ctx) },
	}, nil
}

func (p *Pages) queues(ctx context.Context) (queuesView, error) {
	var view queuesView
	list, err := p.Board.Standings(ctx)
	if err != nil || len(list) == 0 {
		return view, err
	}
	from := list[0].Now.Add(-plotSpan).Truncate(plotStep)
	course, err := p.Board.Store.History(ctx, from, plotStep)
	if err != nil {
		return view, err
	}
	for _, s := range list {
		row := queueRow{Standing: s, Badge: stateBadge(s.State), Plot: NewPlot(course[s.ID], from)}
		row.Verdict, row.Reason = verdictBadge(&s)
		row.Stopped = stopped(s.Queue, s.Now)
		view.Relay = view.Relay || s.Queue != nil
		view.Rows = append(view.Rows, row)
	}
	return view, nil
}

// stopped says why a node's relay sends nothing now: "" when it does.
func stopped(q *Queue, now time.Time) string {
	switch {
	case q == nil:
		return ""
	case q.Paused:
		return "Sending is paused by an administrator."
	case q.HeldUntil.After(now):
		return "Sending pauses after a failure: " + q.HeldFor
	}
	return ""
}

func stateBadge(s cluster.State) console.Badge {
	tone := console.Busy
	switch s {
	case cluster.Active:
		tone = console.Good
	case cluster.Passive:
		tone = console.Quiet
	case cluster.Offline:
		tone = console.Bad
	}
	return console.Badge{Tone: tone, Text: string(s)}
}

func verdictBadge(s *Standing) (console.Badge, string) {
	verdict, reason := s.Judge()
	tone := map[Verdict]console.Tone{Fine: console.Good, Attention: console.Warn, Act: console.Bad, Unknown: console.Quiet}[verdict]
	return console.Badge{Tone: tone, Text: string(verdict)}, reason
}

func (p *Pages) flush(r *http.Request) (console.Response, error) {
	return p.toQueue(r, p.Relay.Flush, "due now")
}

func (p *Pages) resendAll(r *http.Request) (console.Response, error) {
	return p.toQueue(r, p.Relay.ResendAll, "back in the mail queue")
}

func (p *Pages) toQueue(r *http.Request, do func(context.Context, MessageFilter) (int64, error), outcome string) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	n, err := do(r.Context(), MessageFilter{NodeID: form.Get("node")})
	if err != nil {
		return nil, err
	}
	return console.Redirect{To: queuesPath, Flash: messages(n) + " " + outcome + "."}, nil
}

func (p *Pages) pause(r *http.Request) (console.Response, error) {
	return p.setPaused(r, true, "Sending is paused. New messages are still taken, and wait.")
}

func (p *Pages) resume(r *http.Request) (console.Response, error) {
	return p.setPaused(r, false, "Sending goes on.")
}

func (p *Pages) setPaused(r *http.Request, paused bool, flash string) (console.Response, error) {
	form, err := console.ReadForm(r)
	if err != nil {
		return nil, err
	}
	if err := p.Relay.SetPaused(r.Context(), form.Get("node"), paused); err != nil {
		return nil, err
	}
	return console.Redirect{To: queuesPath, Flash: flash}, nil
}

// query writes pairs of names and values, leaving out what is empty.
func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// overview is the wing's card: every node's queue, and what needs attention.
func (p *Pages) overview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	if !administers(who) {
		return nil, nil
	}
	list, err := p.Board.Standings(ctx)
	if err != nil {
		return nil, err
	}
	card := console.Card{Title: "Mail queues", Link: queuesPath}
	var total Sizes
	for i := range list {
		s := &list[i]
		total.Size, total.ErrorSize = total.Size+s.Size, total.ErrorSize+s.ErrorSize
		card.Attention = append(card.Attention, notices(s)...)
	}
	slices.SortStableFunc(card.Attention, func(x, y console.Notice) int {
		return strings.Compare(string(x.Tone), string(y.Tone)) // "bad" before "warn"
	})
	card.Figures = []console.Figure{
		{Label: "waiting", Value: strconv.FormatInt(total.Size, 10)},
		{Label: "in the error queue", Value: strconv.FormatInt(total.ErrorSize, 10), Tone: badIf(total.ErrorSize > 0)},
	}
	if len(list) < 2 {
		return []console.Card{card}, nil
	}
	for i := range list {
		s := &list[i]
		card.Figures = append(card.Figures, console.Figure{
			Label: "on " + s.ID, Value: strconv.FormatInt(s.Size+s.ErrorSize, 10), Tone: badIf(s.ErrorSize > 0),
		})
	}
	return []console.Card{card}, nil
}

// notices are what somebody should do something about at a node's queue.
func notices(s *Standing) []console.Notice {
	var list []console.Notice
	if verdict, reason := s.Judge(); verdict == Act || verdict == Attention {
		tone := console.Warn
		if verdict == Act {
			tone = console.Bad
		}
		list = append(list, console.Notice{Text: "Mail on " + s.ID + ": " + reason, Tone: tone})
	}
	if s.Error != "" {
		list = append(list, console.Notice{Text: "The mail queue of " + s.ID + " cannot be read: " + s.Error, Tone: console.Warn})
	}
	if why := stopped(s.Queue, s.Now); why != "" && s.Size > 0 {
		list = append(list, console.Notice{Text: "Mail on " + s.ID + ": " + why, Tone: console.Warn})
	}
	return list
}

func badIf(on bool) console.Tone {
	if on {
		return console.Bad
	}
	return ""
}
