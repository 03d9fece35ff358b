package api

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
	"outrigger/internal/work"
)

// deliveryJSON is a delivery as the API lists it.
type deliveryJSON struct {
	ID            int64                `json:"id"`
	State         notify.DeliveryState `json:"state"`
	Reason        string               `json:"reason,omitempty"`
	Note          string               `json:"note,omitempty"`
	Rules         []int64              `json:"rules"`
	Reports       []int64              `json:"reports,omitempty"`
	EventTypes    []notify.EventType   `json:"eventTypes"`
	Connection    string               `json:"connection"`
	ProjectKey    string               `json:"projectKey,omitempty"`
	RepositoryKey string               `json:"repositoryKey,omitempty"`
	Branch        string               `json:"branch,omitempty"`
	User          string               `json:"user,omitempty"`
	Channel       string               `json:"channel"`
	ChannelName   string               `json:"channelName,omitempty"`
	Format        notify.Format        `json:"format"`
	Attempts      int                  `json:"attempts"`
	CreatedAt     time.Time            `json:"createdAt"`
	DueAt         time.Time            `json:"dueAt,omitzero"`
	HeldUntil     time.Time            `json:"heldUntil,omitzero"`
	FinishedAt    time.Time            `json:"finishedAt,omitzero"`
	AttemptList   []attemptJSON        `json:"attemptList,omitempty"`
}

// attemptJSON is one try at a delivery.
type attemptJSON struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"`
	Answer string    `json:"answer,omitempty"`
	// AnswerWithheld: there is an answer, which administrators alone may read.
	AnswerWithheld bool    `json:"answerWithheld,omitempty"`
	Error          string  `json:"error,omitempty"`
	Seconds        float64 `json:"seconds"`
}

func (a *API) listDeliveries(w http.ResponseWriter, r *http.Request) error {
	page, wrongPage := rest.ReadPage(r)
	f, wrongFilter := deliveryFilter(r)
	before, wrongAfter := page.AfterID()
	if err := fault.Every(wrongPage, wrongFilter, wrongAfter); err != nil {
		return err
	}
	f.Limit, f.Before = page.Limit+1, before
	if err := a.mayList(r, f); err != nil {
		return err
	}
	found, err := a.Deliveries.List(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(d notify.DeliveryInfo) string { return strconv.FormatInt(d.ID, 10) },
		func(d notify.DeliveryInfo) deliveryJSON { return deliveryOf(&d) }))
}

// mayList needs the permission of the rule that f names, or else ADMIN. Of
// a report's deliveries, everyone sees those that Deliveries shows him.
func (a *API) mayList(r *http.Request, f notify.DeliveryFilter) error {
	if f.RuleID == 0 && f.ReportID != 0 {
		return nil
	}
	if f.RuleID == 0 {
		return identity.Require(r.Context(), identity.Admin, identity.Resource{})
	}
	_, err := a.Rules.Get(r.Context(), f.RuleID)
	return err
}

func (a *API) getDelivery(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return identity.Missing(r.Context(), "There is no delivery %q.", r.PathValue("id"))
	}
	d, attempts, err := a.Deliveries.Get(r.Context(), id)
	if err != nil {
		return err
	}
	out := deliveryOf(&d)
	for i := range attempts {
		out.AttemptList = append(out.AttemptList, attemptOf(&attempts[i]))
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// redeliveredJSON says what became of a wish to redeliver.
type redeliveredJSON struct {
	Redelivered int `json:"redelivered"`
	Skipped     int `json:"skipped"`
	Forbidden   int `json:"forbidden"`
}

// wouldRedeliverJSON is what a person is asked before many are redelivered.
type wouldRedeliverJSON struct {
	Count     int       `json:"count"`
	Skipped   int       `json:"skipped"`
	Forbidden int       `json:"forbidden"`
	AsOf      time.Time `json:"asOf"`
}

func (a *API) wouldRedeliver(w http.ResponseWriter, r *http.Request) error {
	f, err := deliveryFilter(r)
	if err != nil {
		return err
	}
	if err := a.mayList(r, f); err != nil {
		return err
	}
	n, at, err := a.Deliveries.WouldRedeliver(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, wouldRedeliverJSON{n.Queued, n.Skipped, n.Forbidden, at.UTC()})
}

func (a *API) redeliver(w http.ResponseWriter, r *http.Request) error {
	id, f, err := deliveriesOf(r)
	if err := fault.Every(err, answered(r, &f)); err != nil {
		return err
	}
	if id != 0 {
		if err := a.Deliveries.Redeliver(r.Context(), id); err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, redeliveredJSON{Redelivered: 1})
	}
	if err := a.mayList(r, f); err != nil {
		return err
	}
	done, err := a.Deliveries.RedeliverAll(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, redeliveredJSON{done.Queued, done.Skipped, done.Forbidden})
}

// cancelledJSON says how many deliveries were cancelled.
type cancelledJSON struct {
	Cancelled int `json:"cancelled"`
}

func (a *API) cancel(w http.ResponseWriter, r *http.Request) error {
	id, f, err := deliveriesOf(r)
	if err != nil {
		return err
	}
	if id != 0 {
		if err := a.Deliveries.Cancel(r.Context(), id); err != nil {
			return err
		}
		return rest.WriteJSON(w, r, http.StatusOK, cancelledJSON{1})
	}
	if f.RuleID == 0 {
		return fault.InvalidField("filterId", "Give the id of a delivery, or the filterId of the rule whose waiting messages are to be cancelled.")
	}
	if err := a.mayList(r, f); err != nil {
		return err
	}
	n, err := a.Deliveries.CancelAll(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, cancelledJSON{n})
}

func (a *API) tryNow(w http.ResponseWriter, r *http.Request) error {
	id, err := deliveryID(r)
	if err != nil {
		return err
	}
	if err := a.Deliveries.TryNow(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// deliveriesOf reads which deliveries a request is about: one, where it names its
// id, else those of a filter.
func deliveriesOf(r *http.Request) (id int64, f notify.DeliveryFilter, err error) {
	if r.URL.Query().Has("id") {
		id, err = deliveryID(r)
	}
	f, wrong := deliveryFilter(r)
	return id, f, fault.Every(err, wrong)
}

// answered reads the question that a request answers, as wouldRedeliver gave it.
func answered(r *http.Request, f *notify.DeliveryFilter) (err error) {
	q := r.URL.Query()
	if !q.Has("asOf") && !q.Has("count") {
		return nil
	}
	f.AsOf, err = time.Parse(time.RFC3339Nano, q.Get("asOf"))
	var wrong error
	f.Count, wrong = strconv.Atoi(q.Get("count"))
	if err != nil || wrong != nil || f.AsOf.IsZero() || f.Count < 0 {
		return fault.InvalidField("count", "Send asOf and count together, as GET %s answered them.", r.URL.Path)
	}
	return nil
}

func deliveryID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.URL.Query().Get("id"), 10, 64)
	if err != nil || id < 1 {
		return 0, fault.InvalidField("id", "Give the id of a delivery as a whole number.")
	}
	return id, nil
}

// deliveryFilter reads filterId, reportId and state.
func deliveryFilter(r *http.Request) (notify.DeliveryFilter, error) {
	q := r.URL.Query()
	f := notify.DeliveryFilter{State: rest.Spelled(notify.DeliveryState(q.Get("state")), notify.DeliveryStates()...)}
	var refused fault.Fields
	of := func(name, noun string) (id int64) {
		if s := q.Get(name); s != "" {
			var err error
			if id, err = strconv.ParseInt(s, 10, 64); err != nil || id < 1 {
				refused.Add(name, "Give the id of a %s as a whole number.", noun)
			}
		}
		return id
	}
	f.RuleID, f.ReportID = of("filterId", "rule"), of("reportId", "report")
	if f.RuleID != 0 && f.ReportID != 0 {
		refused.Add("reportId", "Give either filterId or reportId.")
	}
	if f.State != "" && !slices.Contains(notify.DeliveryStates(), f.State) {
		refused.Add("state", "Use one of deciding, waiting, delivered, failed, cancelled.")
	}
	return f, refused.Err()
}

func deliveryOf(d *notify.DeliveryInfo) deliveryJSON {
	out := deliveryJSON{
		ID: d.ID, State: d.State, Reason: d.Reason, Note: d.Note, Rules: notify.RuleIDs(d.Delivery.Rules), Reports: notify.ReportIDs(d.Delivery.Rules), Channel: d.Channel.Fingerprint, Format: d.Format, Attempts: d.Attempts,
		CreatedAt: d.CreatedAt, DueAt: d.DueAt, FinishedAt: d.FinishedAt, EventTypes: []notify.EventType{},
	}
	for i := range d.Rules {
		if out.ChannelName == "" {
			out.ChannelName = d.Rules[i].ChannelName
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

func attemptOf(a *work.Attempt) attemptJSON {
	return attemptJSON{At: a.At, Status: a.Status, Answer: a.Answer, AnswerWithheld: a.Withheld, Error: a.Err, Seconds: a.Took.Seconds()}
}
