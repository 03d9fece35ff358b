package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// DeliveriesPath is where deliveries are.
const DeliveriesPath = basePath + "/deliveries"

// Delivery is a message to a channel.
type Delivery struct {
	ID            int64                `json:"id" doc:"The delivery's id."`
	State         notify.DeliveryState `json:"state" enum:"deciding,waiting,delivered,failed,cancelled"`
	Reason        string               `json:"reason,omitempty"`
	Note          string               `json:"note,omitempty" doc:"What of its rules could not be checked; the message says it too."`
	Rules         []int64              `json:"rules"`
	Reports       []int64              `json:"reports,omitempty"`
	EventTypes    []notify.EventType   `json:"eventTypes" doc:"What it is about; empty for a report."`
	Connection    string               `json:"connection" doc:"The platform that the event came from."`
	ProjectKey    string               `json:"projectKey,omitempty" doc:"The project of the event."`
	RepositoryKey string               `json:"repositoryKey,omitempty" doc:"The repository of the event."`
	Branch        string               `json:"branch,omitempty" doc:"The branch or tag of the event."`
	User          string               `json:"user,omitempty" doc:"Who caused the event."`
	Channel       string               `json:"channel" doc:"The fingerprint of the webhook URL."`
	ChannelName   string               `json:"channelName,omitempty" doc:"What its rules call the channel; absent where none does."`
	Format        notify.Format        `json:"format" enum:"teams,slack" doc:"What it is, or will be, sent as."`
	Attempts      int                  `json:"attempts" doc:"How often it was tried, also where not all attempts are kept."`
	CreatedAt     time.Time            `json:"createdAt" doc:"When it came into the queue first."`
	DueAt         time.Time            `json:"dueAt,omitzero" doc:"When one that was set aside is tried again, beside its channel's queue."`
	HeldUntil     time.Time            `json:"heldUntil,omitzero" doc:"When the quiet hours of its rules end, of one that waits for that."`
	FinishedAt    time.Time            `json:"finishedAt,omitzero" doc:"When it was delivered, failed or cancelled; absent before."`
	AttemptList   []DeliveryAttempt    `json:"attemptList,omitempty"`
}

// MemberWords are those of the members that need more than a few.
func (Delivery) MemberWords() map[string]string {
	return map[string]string{
		"state": "`deciding`: whether a rule takes the event is not known yet; `waiting`: it has its place in the channel's queue; " +
			"`delivered`: the chat platform took it; `failed`: given up; `cancelled`: nothing wants it any more, or a person cancelled it.",
		"reason":      "Why it is in that state; of a failed one that waited too long it begins with `expired`.",
		"rules":       "Ids of the rules that it is for, or, while it is `deciding`, may be for.",
		"reports":     "Id of the activity report that it is for; it has no rules and no event types then.",
		"attemptList": "The first 10 attempts and the last 40; only when one delivery is requested.",
	}
}

// DeliveryAttempt is one try at a delivery.
type DeliveryAttempt struct {
	At              time.Time         `json:"at" doc:"When it was sent."`
	Status          int               `json:"status,omitempty" doc:"Absent where no answer came."`
	Answer          string            `json:"answer,omitempty" doc:"Its first 2 KiB."`
	Headers         map[string]string `json:"headers,omitempty"`
	AnswerWithheld  bool              `json:"answerWithheld,omitempty"`
	Error           string            `json:"error,omitempty" doc:"Why no answer came."`
	Seconds         float64           `json:"seconds" doc:"How long it took, in seconds."`
	Request         string            `json:"request,omitempty"`
	RequestWithheld bool              `json:"requestWithheld,omitempty"`
}

// MemberWords are those of the members that need more than a few.
func (DeliveryAttempt) MemberWords() map[string]string {
	return map[string]string{
		"answerWithheld":  whenWithheld,
		"requestWithheld": "Whether what was sent is shown to administrators only: a digest.",
		"headers": "Of an answer that did not take the message: what says why, when to try again, and its numbers for the platform's " +
			"support. Never cookies; secrets are masked, and a value has 256 bytes at most.",
		"request": "What was sent, as it went out; kept with the first and the last attempt that did not deliver.",
	}
}

func (a *API) registerDeliveries(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: DeliveriesPath}, rest.Words{
		ID: "listDeliveries", Tag: "rules", Summary: "Lists what went where, the newest first.", Answer: "A page of deliveries.",
		Text:    "With `filterId` for users who administer that rule, with `reportId` those that the user may see, else `ADMIN`.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound},
	}, a.listDeliveries, deliveryExample...)
	rest.Add(r, rest.Route{Method: "GET", Path: DeliveriesPath + "/{id}"}, rest.Words{
		ID: "getDelivery", Tag: "rules", Summary: "Returns a delivery with all its attempts.", Answer: "The delivery.",
		Text: "For users who administer a rule that it is for.", Refused: []int{http.StatusForbidden}, RefusedFor: noDelivery,
	}, a.getDelivery, rest.Example[ofDelivery, Delivery]{Name: "fresh", Err: fault.New(fault.NotFound, "There is no delivery with id 1.")})
	a.registerRedelivery(r)
	rest.Add(r, rest.Route{Method: "POST", Path: DeliveriesPath + "/try"}, rest.Words{
		ID: "tryDelivery", Tag: "rules", Summary: "Has a delivery that waits, and what waits in front of it, tried at once.",
		Text:   "Whatever closed its channel; for users who administer every rule that it is for. It is 409 where it does not wait.",
		Answer: "It is tried now.", Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict}, RefusedFor: noDelivery,
	}, rest.Done(func(ctx context.Context, in namedDelivery) error { return a.Deliveries.TryNow(ctx, int64(in.ID)) }),
		rest.Example[namedDelivery, rest.None]{Name: "fresh", Err: fault.New(fault.NotFound, "There is no delivery with id 1.")})
}

var deliveryExample = []rest.Example[listedDeliveries, rest.List[Delivery]]{{
	Name: "page", Out: &rest.List[Delivery]{Next: "V_0CdTQ3MTE", Items: []Delivery{{
		ID: 4711, State: notify.Delivered, Rules: []int64{7}, EventTypes: []notify.EventType{notify.TagCreated}, Connection: "main",
		ProjectKey: "ALPHA", RepositoryKey: "api", Branch: "v1.4.0", User: "ada", Channel: "5f1c2a9be04d7731", Format: notify.Teams,
		Attempts:  1,
		CreatedAt: exampleTime, FinishedAt: exampleTime.Add(433 * time.Millisecond),
	}}},
}}

var noDelivery = map[int]string{http.StatusNotFound: "There is no such delivery. Users without `SYS_ADMIN` get 403 instead."}

func (a *API) listDeliveries(ctx context.Context, in listedDeliveries) (list rest.List[Delivery], err error) {
	f := in.filter()
	before, wrongAfter := in.Page.AfterID()
	if err := fault.Every(in.Wrong.Err(), wrongAfter); err != nil {
		return list, err
	}
	f.Limit, f.Before = in.Page.Limit+1, before
	if err := a.mayList(ctx, f); err != nil {
		return list, err
	}
	found, err := a.Deliveries.List(ctx, f)
	key := func(d notify.DeliveryInfo) string { return strconv.FormatInt(d.ID, 10) }
	return rest.NewList(in.Page, found, err, key, deliveryOf)
}

// mayList needs the permission of the rule that f names, or else ADMIN. Of
// a report's deliveries, everyone sees those that Deliveries shows them.
func (a *API) mayList(ctx context.Context, f notify.DeliveryFilter) error {
	if f.RuleID == 0 && f.ReportID != 0 {
		return nil
	}
	if f.RuleID == 0 {
		return identity.Require(ctx, identity.Admin, identity.Resource{})
	}
	_, err := a.Rules.Get(ctx, f.RuleID)
	return err
}

func (a *API) getDelivery(ctx context.Context, in ofDelivery) (Delivery, error) {
	d, attempts, err := a.Deliveries.Get(ctx, in.ID)
	if err != nil {
		return Delivery{}, err
	}
	out := deliveryOf(d)
	out.AttemptList = rest.Each(attempts, attemptOf)
	return out, nil
}

func deliveryOf(d notify.DeliveryInfo) Delivery {
	out := Delivery{
		ID: d.ID, State: d.State, Reason: d.Reason, Note: d.Note,
		Rules: notify.RuleIDs(d.Delivery.Rules), Reports: notify.ReportIDs(d.Delivery.Rules),
		Channel: d.Channel.Fingerprint, Format: d.Format, Attempts: d.Attempts,
		CreatedAt: d.CreatedAt, DueAt: d.DueAt, FinishedAt: d.FinishedAt, EventTypes: []notify.EventType{},
	}
	for i := range d.Rules {
		if out.ChannelName == "" {
			out.ChannelName = d.Rules[i].Called()
		}
	}
	if d.State == notify.Waiting {
		out.HeldUntil = d.HeldUntil
	}
	if e := d.Event; e != nil {
		out.EventTypes = append(out.EventTypes, e.Types...)
		out.Connection, out.Branch, out.User = e.Connection, e.Branch, e.Actor.Name
		out.ProjectKey, out.RepositoryKey = e.Project.Key, e.Repository.Key
	}
	return out
}

func attemptOf(a notify.Attempt) DeliveryAttempt {
	out := DeliveryAttempt{
		At: a.At, Status: a.Status, Answer: a.Answer, AnswerWithheld: a.Withheld, Error: a.Err, Seconds: a.Took.Seconds(),
		Request: a.Request, RequestWithheld: a.RequestWithheld,
	}
	if len(a.Headers) > 0 {
		out.Headers = make(map[string]string, len(a.Headers))
	}
	for _, h := range a.Headers {
		out.Headers[h.Name] = h.Value
	}
	return out
}
