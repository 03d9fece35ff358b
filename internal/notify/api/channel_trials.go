package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

// Retried is the result of retrying a channel.
type Retried struct {
	Cancelled int    `json:"cancelled" doc:"How many messages were left out."`
	Waiting   int    `json:"waiting" doc:"How many messages wait now."`
	Answered  bool   `json:"answered" doc:"Whether the chat platform has answered since."`
	State     string `json:"state" enum:"open,waiting,unreachable,broken"`
	Reason    string `json:"reason,omitempty"`
}

// MemberWords are those of the members that need more than a few.
func (Retried) MemberWords() map[string]string {
	return map[string]string{
		"state": howChannelsFare,
		"reason": "Why the channel is not open, in the chat platform's words; to others than `ADMIN` without them, where " +
			"`notify.allowed_networks` opens its address.",
	}
}

type retry struct {
	ofChannel
	Which notify.RetryMode `query:"which" required:"true" enum:"all,recent,none" example:"all"`
}

// MemberWords are those of the parameters that need more than a few.
func (retry) MemberWords() map[string]string {
	return map[string]string{
		"which": "Which of the messages that wait go out: all (as digests where they are many), those of the last 24 hours, or none.",
	}
}

type channelTest struct {
	ofChannel
	Which notify.RetryMode `query:"which" enum:"all,recent,none"`
}

// MemberWords are those of the parameters that need more than a few.
func (channelTest) MemberWords() map[string]string {
	return map[string]string{
		"which": "Which waiting messages go out if that opens a broken channel: all of them (the default), those of the last 24 hours, " +
			"or none. The others are cancelled.",
	}
}

func (a *API) registerChannelTrials(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "POST", Path: ChannelsPath + "/{channel}/retry"}, rest.Words{
		ID: "retryChannel", Tag: "rules", Summary: "Tries a channel again at once, whatever closed it.",
		Text: "It opens a broken channel and ends any pause, also one that the chat platform asked for. For users who administer all " +
			"rules of the channel. What is left out is cancelled and can be redelivered. At most 12 times a minute and channel.",
		Answer:  "The result, if the chat platform answered within 3 s.",
		Refused: []int{http.StatusForbidden, http.StatusTooManyRequests}, RefusedFor: noChannel,
	}, a.retryChannel, rest.Example[retry, Retried]{Name: "fresh", Err: errNoChannel})
	rest.Add(r, rest.Route{Method: "POST", Path: ChannelsPath + "/{channel}/test"}, rest.Words{
		ID: "testChannel", Tag: "rules", Summary: "Posts a test message to a channel.",
		Text: "At once, at most 10 a minute and user, for users who administer all rules of the channel. If the chat platform takes it, " +
			"a broken channel is open again.",
		Answer:  "The result, whatever the chat platform answered.",
		Refused: []int{http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests}, RefusedFor: noChannel,
	}, func(ctx context.Context, in channelTest) (Tested, error) {
		return testedOf(a.Channels.Test(ctx, in.Channel, rest.Spelled(in.Which, notify.RetryModes()...)))
	}, rest.Example[channelTest, Tested]{Name: "fresh", Err: errNoChannel})
}

func (a *API) retryChannel(ctx context.Context, in retry) (Retried, error) {
	done, err := a.Channels.Retry(ctx, in.Channel, rest.Spelled(in.Which, notify.RetryModes()...))
	return Retried{
		Cancelled: done.Cancelled, Waiting: done.Waiting, Answered: done.Answered, State: done.Status.State, Reason: done.Status.Reason,
	}, err
}

// Tested is the result of a test message.
type Tested struct {
	At     time.Time `json:"at" doc:"When it was sent."`
	Status int       `json:"status,omitempty" doc:"Absent where no answer came."`
	Answer string    `json:"answer,omitempty" doc:"Its first 2 KiB."`

	AnswerWithheld bool    `json:"answerWithheld,omitempty"`
	Error          string  `json:"error,omitempty" doc:"Why no answer came."`
	Seconds        float64 `json:"seconds" doc:"How long it took, in seconds."`
	Opened         *Opened `json:"opened,omitempty"`
}

// MemberWords describe the members with more to say.
func (Tested) MemberWords() map[string]string {
	return map[string]string{"answerWithheld": whenWithheld}
}

const whenWithheld = "True where there is an answer that only `ADMIN` may read: it did not come from a public address, but from one that " +
	"`notify.allowed_networks` opens."

// Opened says what became of the messages that waited on a broken channel which is open
// again.
type Opened struct {
	Waiting   int `json:"waiting" doc:"Messages that go out now."`
	Cancelled int `json:"cancelled" doc:"Messages that were left out."`
}

// MemberWords describe what it is.
func (Opened) MemberWords() map[string]string {
	return map[string]string{"": "The channel was broken and is open again, since the chat platform took the message."}
}

func testedOf(t *admin.Tested, err error) (Tested, error) {
	if err != nil {
		return Tested{}, err
	}
	a := attemptOf(notify.Attempt{Attempt: *t.Attempt})
	return Tested{
		At: a.At, Status: a.Status, Answer: a.Answer, AnswerWithheld: a.AnswerWithheld, Error: a.Error, Seconds: a.Seconds,
		Opened: (*Opened)(t.Opened),
	}, nil
}
