package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/phrase"
)

// shownRecipients is how many recipients a row names.
const shownRecipients = 3

func rowOfMessage(m mailqueue.Message) messageRow {
	row := messageRow{Message: m}
	for _, s := range m.States {
		row.Badges = append(row.Badges, recipientBadge(s))
	}
	var names []string
	for _, r := range m.Recipients[:min(len(m.Recipients), shownRecipients)] {
		names = append(names, r.Address)
	}
	row.To = strings.Join(names, ", ")
	row.MoreTo = len(m.Recipients) - len(names)
	return row
}

func recipientBadge(s mailqueue.State) console.Badge {
	switch s {
	case mailqueue.Failed:
		return console.Badge{Tone: console.Bad, Text: "error"}
	case mailqueue.Sent:
		return console.Badge{Tone: console.Good, Text: "sent"}
	case mailqueue.Deleted:
		return console.Badge{Tone: console.Quiet, Text: "deleted"}
	}
	return console.Badge{Tone: console.Busy, Text: "waiting"}
}

type recipientRow struct {
	mailqueue.Recipient
	Badge console.Badge
	Next  time.Time // zero: never, or when it is on hold no longer
}

type messageView struct {
	messageRow
	Recipients []recipientRow
	Attempts   []attemptRow // the last first
	Tone       console.Tone
	Resend     bool      // some recipient failed
	Stopped    hold      // of its node
	Next       time.Time // as of a recipient
}

// tone is that of the state that asks for most.
func (v *messageView) tone() console.Tone {
	switch {
	case v.Resend:
		return console.Bad
	case v.Stopped.Why != "" && !v.DueAt.IsZero():
		return console.Warn
	case len(v.Badges) > 0:
		return v.Badges[0].Tone
	}
	return console.Quiet
}

type attemptRow struct {
	mailqueue.Attempt
	Tone console.Tone // "" of what is tried again
}

// Took is how long the attempt took.
func (a attemptRow) Took() time.Duration {
	return time.Duration(a.Seconds * float64(time.Second)).Round(time.Microsecond)
}

// Result is what came back; the status stands in front of an answer without one.
func (a attemptRow) Result() string {
	if a.Error != "" {
		return a.Error
	}
	status := strconv.Itoa(a.Status)
	return strings.TrimSpace(status + " " + strings.TrimPrefix(a.Answer, status))
}

// toneOfStatus is how an attempt ended by the smarthost's answer.
func toneOfStatus(status int) console.Tone {
	switch status / 100 {
	case 2:
		return console.Good
	case 5:
		return console.Bad
	}
	return ""
}

func (p *Pages) showMessage(r *http.Request) (console.Response, error) {
	m, err := p.message(r)
	if err != nil {
		return nil, err
	}
	view := messageView{messageRow: rowOfMessage(m)}
	for _, a := range slices.Backward(m.Attempts) {
		view.Attempts = append(view.Attempts, attemptRow{a, toneOfStatus(a.Status)})
	}
	if view.Stopped, err = p.stopped(r.Context(), m.NodeID); err != nil {
		return nil, err
	}
	view.Next = view.Stopped.next(m.DueAt)
	for _, recipient := range m.Recipients {
		view.Recipients = append(view.Recipients,
			recipientRow{recipient, recipientBadge(recipient.State), view.Stopped.next(recipient.DueAt)})
		view.Resend = view.Resend || recipient.State == mailqueue.Failed
	}
	view.Tone = view.tone()
	return console.Page{
		Template: "mail-message", Title: titleOf(m), Data: view,
		Up: []console.Link{{Label: "Messages", Path: messagesPath}},
	}, nil
}

func (p *Pages) stopped(ctx context.Context, node string) (hold, error) {
	if held, err := p.Held(ctx); err != nil || held {
		return hold{Why: unconfirmed}, err
	}
	queues, err := p.Relay.Queues(ctx)
	i := slices.IndexFunc(queues, func(q mailqueue.RelayQueue) bool { return q.NodeID == node })
	if err != nil || i < 0 {
		return hold{}, err
	}
	q := &queues[i]
	return cmp.Or(hold{Why: q.Nowhere()}, stopped(q, time.Now())), nil
}

func titleOf(m mailqueue.Message) string {
	if m.Subject == "" {
		return "Message " + strconv.FormatInt(m.ID, 10)
	}
	return m.Subject
}

func idOfPath(r *http.Request) (int64, error) {
	return mailqueue.ParseMessageID(r.Context(), r.PathValue("id"))
}

// message finds the message that a page is about.
func (p *Pages) message(r *http.Request) (mailqueue.Message, error) {
	id, err := idOfPath(r)
	if err != nil {
		return mailqueue.Message{}, err
	}
	m, err := p.Relay.Message(r.Context(), id)
	return m, mailqueue.HideMissing(r.Context(), err)
}

// shownContent is how much of a message a page shows; the rest is for a mail
// program.
const shownContent = 256 << 10

type contentView struct {
	ID   int64
	Text string
	Left int // bytes that are not shown
}

// look shows the bytes of a message as text. The relay records who looked.
func (p *Pages) look(r *http.Request, id int64) (console.Response, error) {
	content, err := p.Relay.Look(r.Context(), id)
	if err != nil {
		return nil, mailqueue.HideMissing(r.Context(), err)
	}
	shown := content[:min(len(content), shownContent)]
	text := strings.ReplaceAll(strings.ToValidUTF8(string(shown), "\uFFFD"), "\r\n", "\n")
	return console.Page{
		Template: "mail-content", Title: "Content of message " + strconv.FormatInt(id, 10),
		Data: contentView{id, text, len(content) - len(shown)},
		Up: []console.Link{
			{Label: "Messages", Path: messagesPath}, {Label: "Message " + strconv.FormatInt(id, 10), Path: messagePath(id)},
		},
	}, nil
}

func messagePath(id int64) string { return messagesPath + "/" + strconv.FormatInt(id, 10) }

func (p *Pages) resend(r *http.Request, id int64) (console.Response, error) {
	if err := p.Relay.Resend(r.Context(), id); err != nil {
		return nil, mailqueue.HideMissing(r.Context(), err)
	}
	return console.Redirect{To: messagePath(id), Flash: "The message was moved back to the mail queue."}, nil
}

func (p *Pages) confirmDelete(r *http.Request) (console.Response, error) {
	m, err := p.message(r)
	if err != nil {
		return nil, err
	}
	waiting := 0
	for _, recipient := range m.Recipients {
		if recipient.State != mailqueue.Sent && recipient.State != mailqueue.Deleted {
			waiting++
		}
	}
	return console.Confirm{
		Title:  "Delete the message “" + titleOf(m) + "”?",
		Text:   fmt.Sprintf("It has not reached %d of %s, who will not get it.", waiting, phrase.Count(len(m.Recipients), "recipient")),
		Losses: []string{"the message and its attempts"},
		Verb:   "Delete the message", Keep: "Keep the message", Back: messagePath(m.ID),
	}, nil
}

func (p *Pages) delete(r *http.Request, id int64) (console.Response, error) {
	// NotFound: it was sent, or another administrator deleted it.
	if err := p.Relay.Delete(r.Context(), id); err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	return console.Redirect{To: messagesPath, Flash: "The message was deleted."}, nil
}
