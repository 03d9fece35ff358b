package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

// listed is a page of the messages that a selection has.
type listed struct {
	selection
	Page  rest.Page    `json:"-"`
	Wrong fault.Fields `json:"-"`
}

// ofMessage is a request about a message. Who may not know whether there is one is
// told the same for any id, so that is for mailqueue to read.
type ofMessage struct {
	ID string `path:"id" pattern:"^[0-9]+$" doc:"The message's id, a whole number." example:"1"`
}

func (a *API) registerMessages(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: MessagesPath, Access: rest.Admins}, rest.Words{
		ID: "listMessages", Tag: "mail", Summary: "Lists messages of the relay, the oldest first.", Text: "Needs `ADMIN`.",
		Answer: "A page of messages, without their attempts.",
	}, a.listMessages, examplePage...)
	one := MailPath + "/messages/{id}"
	missing := fault.New(fault.NotFound, "There is no message with id 1: it was sent, or deleted.")
	rest.Add(r, rest.Route{Method: "GET", Path: one, Access: rest.Admins}, rest.Words{
		ID: "getMessage", Tag: "mail", Summary: "Returns a message with every attempt at sending it.",
		Text: "Needs `ADMIN`.", Answer: "The message.",
	}, a.message, rest.Example[ofMessage, mailqueue.Message]{Name: "fresh", Err: missing})
	rest.Serve[ofMessage, rest.None](r, rest.Route{Method: "GET", Path: one + "/content", Access: rest.Admins, Own: true}, rest.Words{
		ID: "getMessageContent", Tag: "mail", Summary: "Returns the bytes of a message, as they are sent.", Media: []string{"message/rfc822"},
		Text:   "Needs `ADMIN`. Who looked is in the audit trail. `Accept` does not count.",
		Answer: "The message, as RFC 5322 and its kin have it.",
	}, a.content, rest.Example[ofMessage, rest.None]{Name: "fresh", Err: missing})
	rest.Add(r, rest.Route{Method: "DELETE", Path: one, Access: rest.Admins}, rest.Words{
		ID: "deleteMessage", Tag: "mail", Summary: "Deletes a message, for all of its recipients.", Answer: "The message is deleted.",
		Text: "Needs `ADMIN`. What the smarthost is being given at this moment may still arrive.",
	}, rest.Done(func(ctx context.Context, in ofMessage) error { return in.do(ctx, a.Relay.Delete) }))
	rest.Add(r, rest.Route{Method: "POST", Path: one + "/resend", Access: rest.Admins}, rest.Words{
		ID: "resendMessage", Tag: "mail", Summary: "Puts a message of the error queue back into the mail queue.",
		Answer:  "The message waits to be sent.",
		Text:    "Needs `ADMIN`. It is due at once, and its send count starts again. Not in the error queue, it is a 409.",
		Refused: []int{http.StatusConflict},
	}, rest.Done(func(ctx context.Context, in ofMessage) error { return in.do(ctx, a.Relay.Resend) }),
		rest.Example[ofMessage, rest.None]{Name: "fresh", Err: missing})
}

type messageList = rest.List[mailqueue.Message]

var examplePage = []rest.Example[listed, messageList]{{Name: "page", Out: &messageList{Next: "gjc_KzQ3MTE", Items: []mailqueue.Message{{
	ID: 4711, NodeID: "node_1", MessageID: "<JIRA.10001.1770308411000@example.com>", Subject: "[JIRA] (ATL-7) The canoe leaks",
	Sender: "jira@example.com",
	Recipients: []mailqueue.Recipient{
		{Address: "ada@example.com", State: mailqueue.Waiting, SendCount: 1, DueAt: day.Add(17 * time.Hour),
			LastError: "451 4.3.0 try again later"},
		{Address: "bob@example.com", State: mailqueue.Failed, SendCount: 1, LastError: "550 5.1.1 no such user"},
	},
	Bytes: 4096, QueuedAt: day.Add(16 * time.Hour), SendCount: 1, States: []mailqueue.State{mailqueue.Waiting, mailqueue.Failed},
	DueAt:     day.Add(17 * time.Hour),
	LastError: "550 5.1.1 no such user",
}}}}}

func (a *API) listMessages(ctx context.Context, in listed) (list messageList, err error) {
	f, wrongFilter := in.filter()
	after, wrongAfter := in.Page.AfterID()
	if err := fault.Every(in.Wrong.Err(), wrongFilter, wrongAfter); err != nil {
		return list, err
	}
	f.Limit, f.After = in.Page.Limit+1, after
	found, err := a.Relay.Messages(ctx, f)
	return rest.ListOf(in.Page, found, err, func(m mailqueue.Message) string { return strconv.FormatInt(m.ID, 10) })
}

func (a *API) message(ctx context.Context, in ofMessage) (mailqueue.Message, error) {
	id, err := mailqueue.ParseMessageID(ctx, in.ID)
	if err != nil {
		return mailqueue.Message{}, err
	}
	m, err := a.Relay.Message(ctx, id)
	return m, mailqueue.HideMissing(ctx, err)
}

// content returns a message's bytes, as a file: a browser must not show
// foreign content as a page of ours.
func (a *API) content(w http.ResponseWriter, r *http.Request, in ofMessage) error {
	id, err := mailqueue.ParseMessageID(r.Context(), in.ID)
	if err != nil {
		return err
	}
	content, err := a.Relay.Look(r.Context(), id)
	if err != nil {
		return mailqueue.HideMissing(r.Context(), err)
	}
	h := w.Header()
	h.Set("Content-Type", "message/rfc822")
	h.Set("Content-Disposition", `attachment; filename="message-`+strconv.FormatInt(id, 10)+`.eml"`)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	// An error here is the client's going away.
	_, _ = w.Write(content)
	return nil
}

func (m ofMessage) do(ctx context.Context, do func(context.Context, int64) error) error {
	id, err := mailqueue.ParseMessageID(ctx, m.ID)
	if err != nil {
		return err
	}
	return mailqueue.HideMissing(ctx, do(ctx, id))
}
