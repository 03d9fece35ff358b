package pages

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
)

// overview is the wing's card: every node's queue, and what needs attention.
func (p *Pages) overview(ctx context.Context, who *identity.Principal) ([]console.Card, error) {
	if !administers(who) {
		return nil, nil
	}
	list, err := p.Service.NodeStatuses(ctx)
	if err != nil {
		return nil, err
	}
	card := console.Card{Title: "Mail", Link: queuesPath, Service: true, Steps: p.firstSteps(list)}
	var total mailqueue.Sizes
	for i := range list {
		s := &list[i]
		total.Size, total.ErrorSize = total.Size+s.Size, total.ErrorSize+s.ErrorSize
		found, err := p.notices(ctx, s)
		if err != nil {
			return nil, err
		}
		card.Attention = append(card.Attention, found...)
	}
	slices.SortStableFunc(card.Attention, func(x, y console.Notice) int {
		return strings.Compare(string(x.Tone), string(y.Tone)) // "bad" before "warn"
	})
	card.Figures = []console.Figure{
		{Label: "waiting", Value: console.Count(total.Size), Path: messagesPath + "?state=waiting"},
		{Label: "in the error queue", Value: console.Count(total.ErrorSize), Tone: badIf(total.ErrorSize > 0),
			Path: messagesPath + "?state=error"},
	}
	if card.Plot, err = p.nodesPlot(ctx, list); err != nil {
		return nil, err
	}
	if card.Plot.Text == "" && total.Size+total.ErrorSize > 0 { // it is newer than the last sample
		card.Plot.None = noSampleYet
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

// firstSteps are the way to the first message through the relay of this node, until
// one has come.
func (p *Pages) firstSteps(list []mailqueue.NodeStatus) []console.Step {
	i := slices.IndexFunc(list, func(s mailqueue.NodeStatus) bool { return s.ID == p.Service.NodeID && s.Queue != nil })
	if p.Listener == "" || i < 0 || list[i].Queue.Used {
		return nil
	}
	return []console.Step{
		{
			Text: "Set the mail server that takes your mail, in the configuration of Outrigger, and restart it", Link: "/docs/mail",
			Copy: "mail: {smarthost: smtp.example.com}", Done: !list[i].Queue.NoSmarthost,
		},
		{Text: "Have your application send its mail to this server", Link: "/docs/mail", Copy: p.Listener},
	}
}

// notices are what needs attention at a node's queue.
func (p *Pages) notices(ctx context.Context, s *mailqueue.NodeStatus) (list []console.Notice, err error) {
	if verdict, reason := s.Judge(); verdict == mailqueue.Act || verdict == mailqueue.Attention {
		tone := console.Warn
		if verdict == mailqueue.Act {
			tone = console.Bad
		}
		since, err := p.Service.VerdictSince(ctx, s)
		if err != nil {
			return nil, err
		}
		list = append(list, console.Notice{
			Kind: "mail", Key: "mail " + s.ID, Text: "Mail on " + s.ID + ": " + reason, Tone: tone, Since: since, Remedy: remedy(s),
		})
	}
	if s.Error != "" {
		list = append(list, console.Notice{Kind: "mail_unread", Key: "mail unread " + s.ID,
			Text: "The mail queue of " + s.ID + " cannot be read: " + s.Error, Tone: console.Warn, Since: s.FailingAt})
	}
	if why := stopped(s.Queue, s.Now).Why; why != "" && s.Size > 0 {
		list = append(list, console.Notice{Kind: "mail_stopped", Key: "mail stopped " + s.ID, Text: "Mail on " + s.ID + ": " + why,
			Tone: console.Warn, Since: s.Oldest(), Remedy: sendAgain(s)})
	}
	return list, nil
}

// remedy is what helps against a verdict. Failed messages are looked at before they
// are sent again; waiting ones are tried now. Queues elsewhere are only watched.
func remedy(s *mailqueue.NodeStatus) console.Remedy {
	switch {
	case s.Queue == nil:
		return console.Remedy{}
	case s.Queue.Nowhere() != "":
		return console.Remedy{Label: "Show the waiting messages", Of: s.ID, Path: console.Path(messagesPath+"?state=waiting&node=%s", s.ID)}
	case s.ErrorSize > 0:
		return console.Remedy{Label: "Show the error queue", Of: s.ID, Path: console.Path(messagesPath+"?state=error&node=%s", s.ID)}
	}
	return sendAgain(s)
}

// sendAgain ends what keeps a queue from sending: an administrator's pause, else
// the pause after a failure.
func sendAgain(s *mailqueue.NodeStatus) console.Remedy {
	posts := []console.Hidden{{Name: "node", Value: s.ID}}
	switch {
	case s.Queue.Paused:
		return console.Remedy{Label: "Resume", Of: s.ID, Path: queuesPath + "/resume", Posts: posts}
	case s.Size > 1:
		return console.Remedy{Label: "Flush", Of: s.ID, Path: console.Path(queuesPath+"/flush?node=%s", s.ID), Asks: true}
	}
	return console.Remedy{Label: "Flush", Of: s.ID, Path: queuesPath + "/flush", Posts: posts}
}

func badIf(on bool) console.Tone {
	if on {
		return console.Bad
	}
	return ""
}
