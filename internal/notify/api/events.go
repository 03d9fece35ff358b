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
)

// Event is an event of the log.
type Event struct {
	ID            int64              `json:"id" doc:"Its number."`
	ReceivedAt    time.Time          `json:"receivedAt" doc:"When it came in."`
	Connection    string             `json:"connection" doc:"The connection that it came in by."`
	Hook          string             `json:"hook,omitempty" doc:"The hook that it came in by; absent for the connection's own."`
	Key           string             `json:"key" doc:"The platform's own event key."`
	Outcome       notify.Fate        `json:"outcome" enum:"taken,not_taken,silent,unknown,not_understood"`
	Reason        string             `json:"reason,omitempty" doc:"Why it was not understood, or is not delivered."`
	EventTypes    []notify.EventType `json:"eventTypes" doc:"What it is for rules."`
	ProjectKey    string             `json:"projectKey,omitempty" doc:"The project."`
	RepositoryKey string             `json:"repositoryKey,omitempty" doc:"The repository."`
	Branch        string             `json:"branch,omitempty" doc:"The branch or tag."`
	SourceBranch  string             `json:"sourceBranch,omitempty" doc:"The branch that a pull request comes from."`
	User          string             `json:"user,omitempty" doc:"Who caused it."`
	Rules         int                `json:"rules" doc:"How many rules took it."`
	BodySize      int                `json:"bodySize,omitempty" doc:"In bytes, where it was not understood."`
	Body          string             `json:"body,omitempty" doc:"Of one event that was not understood: its first 256 KiB."`
}

// MemberWords describe the members with more to say.
func (Event) MemberWords() map[string]string {
	return map[string]string{
		"outcome": "`taken` by a rule or more; `not_taken` by any; `silent`, it says nothing that a rule could take; `unknown`, an event key " +
			"that is " +
			"not known; `not_understood`, kept with its body.",
	}
}

func (a *API) registerEvents(r *rest.Router) {
	r.Handle(rest.Route{Method: "GET", Path: eventsPath, Query: rest.Paged("connection", "projectKey", "repositoryKey", "repositorySlug", "eventType", "outcome", "since", "until")}, a.listEvents)
	r.Handle(rest.Route{Method: "GET", Path: eventsPath + "/{id}"}, a.getEvent)
	r.Handle(rest.Route{Method: "GET", Path: eventsPath + "/{id}/explain", Query: rest.Paged()}, a.explainEvent)
}

func (a *API) listEvents(w http.ResponseWriter, r *http.Request) error {
	page, wrongPage := rest.ReadPage(r)
	f, wrongFilter := eventFilter(r)
	before, wrongAfter := page.AfterID()
	if err := fault.Every(wrongPage, wrongFilter, wrongAfter); err != nil {
		return err
	}
	f.Limit, f.Before = page.Limit, before
	if f.Project == "" && f.Repository == "" {
		if err := identity.Require(r.Context(), identity.Admin, identity.Resource{}); err != nil {
			return err
		}
	}
	found, err := a.Events.List(r.Context(), f)
	if err != nil {
		return err
	}
	out := rest.List[Event]{Items: make([]Event, len(found.Events))}
	for i := range found.Events {
		out.Items[i] = eventOf(&found.Events[i])
	}
	if found.Next != 0 {
		out.Next = page.Next(strconv.FormatInt(found.Next, 10))
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// eventFilter reads what a list of events is narrowed to.
func eventFilter(r *http.Request) (notify.EventFilter, error) {
	q := r.URL.Query()
	f := notify.EventFilter{
		Connection: q.Get("connection"), Project: q.Get("projectKey"), Repository: q.Get("repositoryKey"), Fate: rest.Spelled(notify.Fate(q.Get("outcome")), notify.Fates()...),
	}
	if f.Repository == "" {
		f.Repository = q.Get("repositorySlug")
	}
	var wrong fault.Fields
	if f.Fate != "" && !slices.Contains(notify.Fates(), f.Fate) {
		wrong.Add("outcome", "Use one of taken, not_taken, silent, unknown, not_understood.")
	}
	if key := q.Get("eventType"); key != "" {
		t, ok := notify.ParseEventType(rest.Key(key))
		if !ok {
			wrong.Add("eventType", "%q is not an event type; GET %s/eventTypes lists them.", key, basePath)
		}
		f.Types = notify.NewTypeSet(t)
	}
	for _, at := range []struct {
		name string
		to   *time.Time
	}{{"since", &f.Since}, {"until", &f.Until}} {
		text := q.Get(at.name)
		if text == "" {
			continue
		}
		var err error
		if *at.to, err = time.Parse(time.RFC3339, text); err != nil {
			wrong.Add(at.name, "Give a time like 2026-02-05T16:20:00Z.")
		}
	}
	return f, wrong.Err()
}

func (a *API) getEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := eventID(r)
	if err != nil {
		return err
	}
	e, err := a.Events.Get(r.Context(), id)
	if err != nil {
		return err
	}
	body, err := a.Events.Body(r.Context(), &e)
	if err != nil {
		return err
	}
	out := eventOf(&e)
	out.Body = string(body)
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

func eventID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, identity.Missing(r.Context(), "There is no event %q.", r.PathValue("id"))
	}
	return id, nil
}

func eventOf(e *notify.LoggedEvent) Event {
	out := Event{
		ID: e.ID, ReceivedAt: e.ReceivedAt, Connection: e.Connection, Hook: e.Hook, Key: e.Key, Outcome: e.Fate(), Reason: e.Reason,
		EventTypes: []notify.EventType{}, ProjectKey: e.Project, RepositoryKey: e.Repository, Rules: e.Rules, BodySize: e.BodySize,
	}
	if of := e.Event; of != nil {
		out.EventTypes, out.Branch, out.SourceBranch, out.User = of.Types, of.Branch, of.SourceBranch, of.Actor.Name
	}
	return out
}
