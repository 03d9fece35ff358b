package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

// selection says which messages a request is about.
type selection struct {
	Node      string `query:"node" json:"node,omitempty" doc:"In that node's queue; without it every node's."`
	State     string `query:"state" json:"state,omitempty" enum:"waiting,error" doc:"In the mail queue, or in the error queue."`
	Sender    string `query:"sender" json:"sender,omitempty" doc:"A part of the envelope sender, in any case."`
	Recipient string `query:"recipient" json:"recipient,omitempty" doc:"A part of the address of a recipient in that state, in any case."`
	Subject   string `query:"subject" json:"subject,omitempty" doc:"A part of the subject, in any case."`
	Age       string `query:"age" json:"age,omitempty" doc:"Queued at least so long ago, such as 90m, 12h or 3d."`
}

// filter reads the selection, with its state in any case.
func (s *selection) filter() (mailqueue.MessageFilter, error) {
	return mailqueue.ParseFilter(func(name string) string {
		return map[string]string{
			"node": s.Node, "sender": s.Sender, "recipient": s.Recipient, "subject": s.Subject, "age": s.Age,
			"state": rest.Spelled(s.State, string(mailqueue.Waiting), string(mailqueue.Failed)),
		}[name]
	})
}

// selected is a request to do something to all messages that it selects, and the
// question that it answers, as countMessages gave it.
type selected struct {
	selection
	All   bool         `json:"all,omitempty" doc:"Every message of every node, where nothing else selects."`
	AsOf  time.Time    `json:"asOf,omitzero" doc:"As GET /rest/outrigger/1.0/mail/count answered: what is newer is left alone. With count."`
	Count *int64       `json:"count,omitempty" min:"0" doc:"The number counted. If more are selected, nothing is done and the answer is 409."`
	Wrong fault.Fields `json:"-"`
}

// read returns the filter and notes every member that is wrong.
func (s *selected) read() (mailqueue.MessageFilter, fault.Fields, error) {
	f, err := s.filter()
	wrong := s.Wrong
	if s.AsOf.IsZero() != (s.Count == nil) || s.Count != nil && *s.Count < 0 {
		wrong.Add("count", "Send asOf and count together, as GET %s/count answered them.", MailPath)
	} else if s.Count != nil {
		f.AsOf, f.Count = s.AsOf, *s.Count
	}
	return f, wrong, wrong.Join(err)
}

// Messages says how many messages something was done to.
type Messages struct {
	Messages int64 `json:"messages" doc:"How many."`
}

// Counted is what a person is asked before something is done to many messages.
type Counted struct {
	Messages int64     `json:"messages" doc:"How many."`
	AsOf     time.Time `json:"asOf" doc:"When."`
}

func (a *API) registerSelections(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: MailPath + "/count", Access: rest.Admins}, rest.Words{
		ID: "countMessages", Tag: "mail", Summary: "Counts messages, for the question before something is done to all of them.",
		Text: "Needs `ADMIN`. Put `messages` and `asOf` into the body of `resend`, `delete` or `flush` as `count` and `asOf`: then it " +
			"is done to these messages at most. `resend` is about those with `state` `error` and `flush` about those with `waiting`.",
		Answer: "How many messages are selected, and when they were counted.",
	}, a.countMessages, rest.Example[selection, Counted]{Name: "some", Out: &Counted{26, day.Add(16 * time.Hour)}})
	for _, one := range []struct {
		path     string
		words    rest.Words
		examples []rest.Example[selected, Messages]
		do       func(context.Context, mailqueue.MessageFilter) (int64, error)
		all      bool // everything is meant only where that is said
	}{
		{"/resend", rest.Words{
			ID: "resendMessages", Summary: "Puts all that is selected in the error queue back into the mail queue.",
			Answer: "How many messages wait to be sent again.",
			Text:   "Needs `ADMIN`. Only recipients that are selected and were given up.",
		}, []rest.Example[selected, Messages]{{Name: "everywhere", Out: &Messages{2}}}, a.Relay.ResendAll, false},
		{"/flush", rest.Words{
			ID: "flushMail", Summary: "Makes what waits of all that is selected due now, and ends a pause after failures.",
			Answer: "How many messages are due.",
			Text:   "Needs `ADMIN`. An administrator's pause stays.",
		}, []rest.Example[selected, Messages]{{Name: "everywhere", Out: &Messages{26}}}, a.Relay.Flush, false},
		{"/delete", rest.Words{
			ID: "deleteMessages", Summary: "Deletes all messages that are selected.", Answer: "How many messages had recipients taken away.",
			Text: "Needs `ADMIN`. With `state` or `recipient` it takes away the recipients that are selected and leaves the others of a " +
				"message: emptying the error queue leaves those that wait. What the smarthost is being given at this moment may still " +
				"arrive. Everything is deleted only where `all` says so.",
		}, deletions, a.Relay.DeleteAll, true},
	} {
		one.words.Tag, one.words.Refused = "mail", []int{http.StatusConflict}
		do := func(ctx context.Context, in selected) (Messages, error) { return in.do(ctx, one.do, one.all) }
		rest.Add(r, rest.Route{Method: "POST", Path: MailPath + one.path, Access: rest.Admins}, one.words, do, one.examples...)
	}
}

var deletions = []rest.Example[selected, Messages]{
	{Name: "errors", In: selected{selection: selection{State: "error", Recipient: "@old.example"}}},
	{Name: "asked", In: selected{selection: selection{State: "error"}, AsOf: day.Add(16 * time.Hour), Count: new(int64)}},
}

func (s *selected) do(
	ctx context.Context, do func(context.Context, mailqueue.MessageFilter) (int64, error), sayAll bool,
) (Messages, error) {
	f, wrong, err := s.read()
	if err != nil {
		return Messages{}, err
	}
	if sayAll && f.IsEverything() && !s.All {
		wrong.Add("all", "Select the messages to delete, or set all: true for every message of every node.")
	}
	if err := wrong.Err(); err != nil {
		return Messages{}, err
	}
	n, err := do(ctx, f)
	return Messages{n}, err
}

func (a *API) countMessages(ctx context.Context, in selection) (Counted, error) {
	f, err := in.filter()
	if err != nil {
		return Counted{}, err
	}
	n, at, err := a.Relay.Count(ctx, f)
	return Counted{n, at.UTC()}, err
}
