package pages

import (
	"context"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/cluster"
	"outrigger/internal/console"
	"outrigger/internal/mailqueue"
)

// queueRow is a node.
type queueRow struct {
	mailqueue.NodeStatus
	Badge   console.Badge
	Verdict console.Badge
	Reason  string
	Plot    console.Plot
	Stopped hold
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
		Actions: []console.Action{{Label: "Messages", Path: messagesPath}, {Label: "Check the smarthost", Path: queuesPath + "/check"}},
	}, nil
}

func (p *Pages) liveQueues(*http.Request) (console.Response, error) {
	return console.Live{
		Template: "mail-queues", Part: "mail-nodes-now", Every: liveEvery, Topic: queuesPath,
		Data: func(ctx context.Context) (any, error) { return p.queues(ctx) },
	}, nil
}

func (p *Pages) queues(ctx context.Context) (queuesView, error) {
	var view queuesView
	list, err := p.Service.NodeStatuses(ctx)
	if err != nil || len(list) == 0 {
		return view, err
	}
	from := console.PlotFrom(list[0].Now)
	course, err := p.Service.Store.History(ctx, from, console.PlotStep)
	if err != nil {
		return view, err
	}
	held, err := p.Held(ctx)
	if err != nil {
		return view, err
	}
	for _, s := range list {
		row := queueRow{NodeStatus: s, Badge: stateBadge(s.State), Plot: newPlot(course[s.ID], from)}
		if row.Plot.Text == "" && s.Size+s.ErrorSize > 0 { // it is newer than the last sample
			row.Plot.None = noSampleYet
		}
		row.Verdict, row.Reason = verdictBadge(&s)
		if s.ID == p.Deaf {
			row.notListening()
		}
		if row.Stopped = stopped(s.Queue, s.Now); held && s.Queue != nil {
			row.Stopped = hold{Why: unconfirmed}
		}
		view.Relay = view.Relay || s.Queue != nil
		view.Rows = append(view.Rows, row)
	}
	return view, nil
}

// notListening says that no mail can come in. A queue that is fine is so only
// because nothing does.
func (row *queueRow) notListening() {
	const why = "No listener is open for mail (mail.listen is off), so the host application cannot deliver mail to this node."
	if row.Verdict.Tone == console.Good {
		row.Verdict = console.Badge{Tone: console.Quiet, Text: "not listening"}
	}
	row.Reason = strings.TrimSpace(row.Reason + " " + why)
}

// unconfirmed is why every relay sends nothing after a restore.
const unconfirmed = "Nothing is sent until a system administrator confirms it on the overview."

// hold is why a relay sends nothing now, and until when; zero where it sends.
type hold struct {
	Why   string
	Until time.Time // zero: until somebody ends it
}

// next is when what is due at a time is tried; zero where nobody knows.
func (h hold) next(due time.Time) time.Time {
	if h.Why == "" || due.IsZero() || !h.Until.IsZero() && h.Until.Before(due) {
		return due
	}
	return h.Until
}

func stopped(q *mailqueue.RelayQueue, now time.Time) hold {
	switch {
	case q == nil:
		return hold{}
	case q.Paused:
		return hold{Why: "An administrator paused sending."}
	case q.HeldUntil.After(now):
		return hold{"Sending is paused: " + q.HeldFor, q.HeldUntil}
	}
	return hold{}
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

var verdictWords = map[mailqueue.Verdict]string{
	mailqueue.Fine: "fine", mailqueue.Attention: "needs attention", mailqueue.Act: "needs action", mailqueue.Unknown: "not known",
}

func verdictBadge(s *mailqueue.NodeStatus) (console.Badge, string) {
	verdict, reason := s.Judge()
	tone := map[mailqueue.Verdict]console.Tone{mailqueue.Fine: console.Good, mailqueue.Attention: console.Warn, mailqueue.Act: console.Bad,
		mailqueue.Unknown: console.Quiet}[verdict]
	return console.Badge{Tone: tone, Text: verdictWords[verdict]}, reason
}

func (p *Pages) pause(r *http.Request, form *console.Form) (console.Response, error) {
	return p.setPaused(r, form, true, "Sending is paused. New messages are still accepted and wait.")
}

func (p *Pages) resume(r *http.Request, form *console.Form) (console.Response, error) {
	return p.setPaused(r, form, false, "Sending was resumed.")
}

func (p *Pages) setPaused(r *http.Request, form *console.Form, paused bool, flash string) (console.Response, error) {
	err := p.Relay.SetPaused(r.Context(), form.Get("node"), paused)
	return console.Redirect{To: queuesPath, Flash: flash}, err
}
