package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

// Redelivered says what became of a wish to redeliver.
type Redelivered struct {
	Redelivered int `json:"redelivered" doc:"How many are sent again."`
	Skipped     int `json:"skipped" doc:"How many no enabled rule takes now, or whose rules are deleted and whose channel nothing uses."`
	Forbidden   int `json:"forbidden" doc:"How many have a rule that you do not administer."`
}

// Redeliverable is what a person is asked before many are redelivered.
type Redeliverable struct {
	Count     int       `json:"count" doc:"How many would wait again."`
	Skipped   int       `json:"skipped" doc:"How many no enabled rule takes now, or whose rules are deleted and whose channel nothing uses."`
	Forbidden int       `json:"forbidden" doc:"How many have a rule that you do not administer."`
	AsOf      time.Time `json:"asOf" doc:"When."`
}

// cancelled says how many deliveries were cancelled.
type cancelled struct {
	Cancelled int `json:"cancelled" doc:"How many messages were cancelled."`
}

const cancelWhat = "Give the id of a delivery, or the filterId of the rule whose waiting messages are to be cancelled."

func (a *API) registerRedelivery(r *rest.Router) {
	path := DeliveriesPath + "/redeliver"
	rest.Add(r, rest.Route{Method: "GET", Path: path}, rest.Words{
		ID: "countRedeliverable", Tag: "rules", Summary: "Returns how many deliveries a redelivery would put back, for the question before it.",
		Text: "For whom the same `POST` is allowed; nothing is changed. Send `count` and `asOf` with the `POST`: then these deliveries at " +
			"most are redelivered. At most 10,000 are looked at.",
		Answer:  "How many would be redelivered, how many not and why, and when that was so.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.countRedeliverable,
		rest.Example[countedDeliveries, Redeliverable]{Name: "rule", Out: &Redeliverable{Count: 12, Skipped: 3, AsOf: exampleTime}})
	rest.Add(r, rest.Route{Method: "POST", Path: path}, rest.Words{
		ID: "redeliver", Tag: "rules", Summary: "Puts deliveries that ended back into the queue of their channel.",
		Text: "With `id` that one, for users who administer every rule that it is for. It is 409 where it waits already, or where no enabled " +
			"rule wants it. Without, all of a `state`, of one rule with `filterId` (its administrators) or of all (`ADMIN`), at most 10,000 at " +
			"once. They keep their order and go out before what came later; where many wait, as digests. What deleted rules or reports sent " +
			"goes to its channel itself, where others use that, for who administers all of these.",
		Answer:  "How many wait again, and how many do not and why.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
	}, a.redeliver, []rest.Example[redelivery, Redelivered]{
		{Name: "rule", Out: &Redelivered{Redelivered: 12}},
		{Name: "fresh", Err: fault.InvalidField("state", "Use failed, cancelled or delivered.")},
	}...)
	rest.Add(r, rest.Route{Method: "POST", Path: DeliveriesPath + "/cancel"}, rest.Words{
		ID: "cancelDeliveries", Tag: "rules", Summary: "Cancels deliveries that wait.",
		Text: "With `id` that one, for users who administer every rule that it is for; 409 where it does not wait. Else all that wait for the " +
			"rule `filterId`, at most 10,000 at once. One that is under way may still arrive. They can be redelivered.",
		Answer: "How many messages were cancelled.", Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
	}, a.cancel, rest.Example[cancellation, cancelled]{Name: "fresh", Err: fault.InvalidField("filterId", cancelWhat)})
}

func (a *API) countRedeliverable(ctx context.Context, in countedDeliveries) (Redeliverable, error) {
	f := notify.DeliveryFilter{RuleID: int64(in.RuleID), State: deliveryState(in.State, &in.Wrong)}
	if err := in.Wrong.Err(); err != nil {
		return Redeliverable{}, err
	}
	if err := a.mayList(ctx, f); err != nil {
		return Redeliverable{}, err
	}
	n, at, err := a.Deliveries.Would(ctx, admin.Redelivery, f)
	return Redeliverable{n.Done, n.Skipped, n.Forbidden, at.UTC()}, err
}

func (a *API) redeliver(ctx context.Context, in redelivery) (Redelivered, error) {
	f := in.filter()
	if err := in.Wrong.Err(); err != nil {
		return Redelivered{}, err
	}
	if in.ID != nil {
		return Redelivered{Redelivered: 1}, a.Deliveries.Redeliver(ctx, int64(*in.ID))
	}
	if err := a.mayList(ctx, f); err != nil {
		return Redelivered{}, err
	}
	done, err := a.Deliveries.DoAll(ctx, admin.Redelivery, f)
	return Redelivered{done.Done, done.Skipped, done.Forbidden}, err
}

func (a *API) cancel(ctx context.Context, in cancellation) (cancelled, error) {
	if in.ID != nil {
		return cancelled{1}, a.Deliveries.Cancel(ctx, int64(*in.ID))
	}
	if in.RuleID == 0 {
		return cancelled{}, fault.InvalidField("filterId", cancelWhat)
	}
	f := notify.DeliveryFilter{RuleID: int64(in.RuleID)}
	if err := a.mayList(ctx, f); err != nil {
		return cancelled{}, err
	}
	n, err := a.Deliveries.DoAll(ctx, admin.Cancellation, f)
	return cancelled{n.Done}, err
}
