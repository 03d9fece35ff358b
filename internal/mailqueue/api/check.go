package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/rest"
)

// Check says between whom a test message goes.
type Check struct {
	To   string `json:"to,omitempty" doc:"The address that a test message goes to. Without it nothing is sent."`
	From string `json:"from,omitempty" doc:"The sender of the test message; by default the user of the smarthost, if that is an address."`
}

// CheckPath is where the smarthost is tried.
const CheckPath = MailPath + "/check"

func (a *API) registerCheck(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "POST", Path: CheckPath, Access: rest.Admins}, rest.Words{
		ID: "checkMail", Tag: "mail", Summary: "Tries the smarthost of the node that answers, step by step.",
		Answer: "The steps, in their order.",
		Text: "Needs `ADMIN`. Resolves, connects, starts TLS, fetches a token where `mail.oauth` is set, and signs in, for 45 s at " +
			"most. The last step has `error` where it went no further. Nothing is sent without `to`; with it, a test message is.",
		Refused: []int{http.StatusConflict},
	}, func(ctx context.Context, in Check) (rest.List[mailqueue.CheckStep], error) {
		steps, err := a.Check(ctx, in.From, in.To)
		return rest.List[mailqueue.CheckStep]{Items: steps}, err
	}, []rest.Example[Check, rest.List[mailqueue.CheckStep]]{
		{Name: "no smarthost", In: Check{To: "ann@example.com"}, Err: fault.New(fault.Conflict,
			"No smarthost is set. Set mail.smarthost and restart.")},
		{Name: "unreachable", Unsent: true, Out: &rest.List[mailqueue.CheckStep]{Items: []mailqueue.CheckStep{
			{Name: "resolve", Answer: "192.0.2.25"},
			{Name: "connect", Error: "The smarthost mail.example.com:587 cannot be reached: connection refused."},
		}}},
	}...)
}
