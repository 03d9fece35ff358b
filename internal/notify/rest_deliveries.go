package notify

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// deliveryJSON is a delivery as the API lists it.
type deliveryJSON struct {
	ID            int64         `json:"id"`
	State         DeliveryState `json:"state"`
	Reason        string        `json:"reason,omitempty"`
	Rules         []int64       `json:"rules"`
	EventTypes    []EventType   `json:"eventTypes"`
	Connection    string        `json:"connection"`
	ProjectKey    string        `json:"projectKey,omitempty"`
	RepositoryKey string        `json:"repositoryKey,omitempty"`
	Branch        string        `json:"branch,omitempty"`
	User          string        `json:"user,omitempty"`
	Format        Format        `json:"format"`
	Attempts      int           `json:"attempts"`
	CreatedAt     time.Time     `json:"createdAt"`
	FinishedAt    time.Time     `json:"finishedAt,omitzero"`
}

func (a *API) listDeliveries(w http.ResponseWriter, r *http.Request) error {
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	f, err := deliveryFilter(r, page)
	if err != nil {
		return err
	}
	if f.RuleID != 0 {
		if _, err := a.Rules.Get(r.Context(), f.RuleID); err != nil {
			return err
		}
	} else if err := rest.Require(r.Context(), identity.Admin, identity.Where{}); err != nil {
		return err
	}
	found, err := a.Store.ListDeliveries(r.Context(), f)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, rest.NewList(page, found,
		func(d *Delivery) string { return strconv.FormatInt(d.ID, 10) }, deliveryOf))
}

func deliveryFilter(r *http.Request, page rest.Page) (DeliveryFilter, error) {
	q := r.URL.Query()
	f := DeliveryFilter{State: DeliveryState(q.Get("state")), Limit: page.Limit + 1}
	var wrong fault.Fields
	number := func(name, value string, to *int64) {
		if value == "" {
			return
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			wrong.Add(name, "It is not one that this server gave.")
			return
		}
		*to = n
	}
	number("filterId", q.Get("filterId"), &f.RuleID)
	number("after", page.After, &f.Before)
	if f.State != "" && !slices.Contains(DeliveryStates(), f.State) {
		wrong.Add("state", "Use one of waiting, delivered, failed, cancelled.")
	}
	return f, wrong.Err()
}

func deliveryOf(d *Delivery) deliveryJSON {
	out := deliveryJSON{
		ID: d.ID, State: d.State, Reason: d.Reason, Rules: d.Rules, Format: d.Format, Attempts: d.Attempts,
		CreatedAt: d.CreatedAt, FinishedAt: d.FinishedAt, EventTypes: []EventType{},
	}
	if e := d.Event; e != nil {
		out.EventTypes, out.Connection, out.Branch, out.User = e.Types, e.Connection, e.Branch, e.Actor.Name
		out.ProjectKey, out.RepositoryKey = e.Project.Key, e.Repository.Key
	}
	return out
}
