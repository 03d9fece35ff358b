package api

import (
	"slices"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// deliveryID is the id of a delivery in the query.
type deliveryID int64

// UnmarshalText reads it.
func (id *deliveryID) UnmarshalText(text []byte) error { return readID((*int64)(id), text, "delivery") }

// reportID is the id of an activity report in the query.
type reportID int64

// UnmarshalText reads it.
func (id *reportID) UnmarshalText(text []byte) error { return readID((*int64)(id), text, "report") }

// listedDeliveries is a request for a page of deliveries.
type listedDeliveries struct {
	RuleID   ruleID               `query:"filterId" min:"1" doc:"Of one rule."`
	ReportID reportID             `query:"reportId" min:"1" doc:"Of one activity report, in place of filterId."`
	State    notify.DeliveryState `query:"state" enum:"deciding,waiting,delivered,failed,cancelled" doc:"Only deliveries in this state."`
	Page     rest.Page
	Wrong    fault.Fields
}

// countedDeliveries is the question before a redelivery.
type countedDeliveries struct {
	RuleID ruleID               `query:"filterId" min:"1" doc:"Of one rule."`
	State  notify.DeliveryState `query:"state" required:"true" enum:"delivered,failed,cancelled" example:"failed" doc:"In which state."`
	Wrong  fault.Fields
}

// redelivery is a request to redeliver one, or those that it selects, with the
// question that it answers, as countedDeliveries was answered.
type redelivery struct {
	ID     *deliveryID          `query:"id" min:"1" doc:"The delivery's id; without it, several are selected."`
	RuleID ruleID               `query:"filterId" min:"1" doc:"Of one rule."`
	State  notify.DeliveryState `query:"state" enum:"delivered,failed,cancelled" doc:"Needed without id."`
	AsOf   *time.Time           `query:"asOf"`
	Count  *int                 `query:"count" min:"0"`
	Wrong  fault.Fields
}

// MemberWords are those of the parameters that need more than a few.
func (redelivery) MemberWords() map[string]string {
	return map[string]string{
		"asOf":  "When the question was asked that this answers, from the `GET`. What ended later is left alone. With `count`.",
		"count": "The number of the question. If more would be redelivered, nothing is done and the answer is 409.",
	}
}

// cancellation is a request to cancel one, or those of a rule.
type cancellation struct {
	ID     *deliveryID `query:"id" min:"1" doc:"The delivery's id; without it, several are selected."`
	RuleID ruleID      `query:"filterId" min:"1" doc:"Of one rule."`
}

type ofDelivery struct {
	ID int64 `path:"id" of:"delivery" doc:"The id of the thing that the path names, as its list gives it." example:"1"`
}

type namedDelivery struct {
	ID deliveryID `query:"id" required:"true" min:"1" doc:"The delivery's id." example:"1"`
}

// filter notes what is wrong.
func (in *listedDeliveries) filter() notify.DeliveryFilter {
	if in.RuleID != 0 && in.ReportID != 0 {
		in.Wrong.Add("reportId", "Give either filterId or reportId.")
	}
	return notify.DeliveryFilter{RuleID: int64(in.RuleID), ReportID: int64(in.ReportID), State: deliveryState(in.State, &in.Wrong)}
}

// filter notes what is wrong.
func (in *redelivery) filter() notify.DeliveryFilter {
	f := notify.DeliveryFilter{RuleID: int64(in.RuleID), State: deliveryState(in.State, &in.Wrong)}
	switch {
	case in.AsOf == nil && in.Count == nil:
	case in.AsOf == nil || in.Count == nil || in.AsOf.IsZero() || *in.Count < 0:
		_ = in.Wrong.Join(fault.InvalidField("count", "Send asOf and count together, as GET %s/redeliver answered them.", DeliveriesPath))
	default:
		f.AsOf, f.Count = *in.AsOf, *in.Count
	}
	return f
}

// deliveryState reads a state in any case.
func deliveryState(text notify.DeliveryState, wrong *fault.Fields) notify.DeliveryState {
	state := rest.Spelled(text, notify.DeliveryStates()...)
	if state != "" && !slices.Contains(notify.DeliveryStates(), state) {
		wrong.Add("state", "Use one of deciding, waiting, delivered, failed, cancelled.")
	}
	return state
}
