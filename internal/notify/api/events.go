package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// EventsPath is where events are.
const EventsPath = basePath + "/events"

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
		"outcome": "`taken` by a rule or more; `not_taken` by any; `silent`, it says nothing that a rule could take; `unknown`, an event " +
			"key that is not known; `not_understood`, kept with its body.",
	}
}

// listedEvents is a request for a page of events.
type listedEvents struct {
	Connection     string      `query:"connection" doc:"Needed with projectKey where there are several."`
	ProjectKey     string      `query:"projectKey" doc:"Compared without case."`
	RepositoryKey  string      `query:"repositoryKey" doc:"Needs projectKey."`
	RepositorySlug string      `query:"repositorySlug" doc:"Another name of repositoryKey."`
	EventType      string      `query:"eventType" doc:"A key of GET …/eventTypes."`
	Outcome        notify.Fate `query:"outcome" enum:"taken,not_taken,silent,unknown,not_understood" doc:"Only events with this outcome."`
	Since          time.Time   `query:"since" doc:"Received then or later."`
	Until          time.Time   `query:"until" doc:"Received before."`
	Page           rest.Page
	Wrong          fault.Fields
}

type ofEvent struct {
	ID int64 `path:"id" of:"event" doc:"The event's id." example:"999"`
}

var noEvent = map[int]string{http.StatusNotFound: "There is no such event. Users without `SYS_ADMIN` get 403 instead."}

func (a *API) registerEvents(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: EventsPath}, rest.Words{
		ID: "listEvents", Tag: "rules", Summary: "Lists what came in, the newest first.", Answer: "A page of events.",
		Text: "Also what no rule took, and what was not understood, for as long as events are kept (7 days, and longer where a delivery needs " +
			"them). With `projectKey` for users who administer that project, with `repositoryKey` too that repository, else `ADMIN`. A page that " +
			"looked through 50,000 events in vain ends early: it may have few items or none, and a `next`.",
		Refused: []int{http.StatusForbidden},
	}, a.listEvents, rest.Example[listedEvents, rest.List[Event]]{Name: "page", Out: &rest.List[Event]{Next: "YrDJRTgxNTA", Items: []Event{{
		ID: 8150, ReceivedAt: exampleTime, Connection: "main", Key: "repo:refs_changed", Outcome: notify.EventTaken,
		EventTypes: []notify.EventType{notify.TagCreated}, ProjectKey: "ALPHA", RepositoryKey: "api", Branch: "v1.4.0", User: "ada", Rules: 1,
	}}}})
	rest.Add(r, rest.Route{Method: "GET", Path: EventsPath + "/{id}"}, rest.Words{
		ID: "getEvent", Tag: "rules", Summary: "Returns an event, with its body where it was not understood.", Answer: "The event.",
		Text: "For users who administer its repository or project; what is of no project, `ADMIN`.", Refused: []int{http.StatusForbidden},
		RefusedFor: noEvent,
	}, a.getEvent, rest.Example[ofEvent, Event]{Name: "fresh", Err: errNoEvent})
	a.registerExplanations(r)
}

var errNoEvent = fault.New(fault.NotFound, "There is no event with id 999.")

func (a *API) listEvents(ctx context.Context, in listedEvents) (list rest.List[Event], err error) {
	f := in.filter()
	before, wrongAfter := in.Page.AfterID()
	if err := fault.Every(in.Wrong.Err(), wrongAfter); err != nil {
		return list, err
	}
	f.Limit, f.Before = in.Page.Limit, before
	if f.Project == "" && f.Repository == "" {
		if err := identity.Require(ctx, identity.Admin, identity.Resource{}); err != nil {
			return list, err
		}
	}
	found, err := a.Events.List(ctx, f)
	if err != nil {
		return list, err
	}
	list.Items = rest.Each(found.Events, eventOf)
	if found.Next != 0 {
		list.Next = in.Page.Next(strconv.FormatInt(found.Next, 10))
	}
	return list, nil
}

// filter notes what is wrong.
func (in *listedEvents) filter() notify.EventFilter {
	f := notify.EventFilter{
		Connection: in.Connection, Project: in.ProjectKey, Repository: cmp.Or(in.RepositoryKey, in.RepositorySlug),
		Fate: rest.Spelled(in.Outcome, notify.Fates()...), Since: in.Since, Until: in.Until,
	}
	if f.Fate != "" && !slices.Contains(notify.Fates(), f.Fate) {
		in.Wrong.Add("outcome", "Use one of taken, not_taken, silent, unknown, not_understood.")
	}
	if in.EventType != "" {
		t, ok := notify.ParseEventType(rest.Key(in.EventType))
		if !ok {
			in.Wrong.Add("eventType", "%q is not an event type; GET %s/eventTypes lists them.", in.EventType, basePath)
		}
		f.Types = notify.NewTypeSet(t)
	}
	return f
}

func (a *API) getEvent(ctx context.Context, in ofEvent) (Event, error) {
	e, err := a.Events.Get(ctx, in.ID)
	if err != nil {
		return Event{}, err
	}
	body, err := a.Events.Body(ctx, &e)
	out := eventOf(e)
	out.Body = string(body)
	return out, err
}

func eventOf(e notify.LoggedEvent) Event {
	out := Event{
		ID: e.ID, ReceivedAt: e.ReceivedAt, Connection: e.Connection, Hook: e.Hook, Key: e.Key, Outcome: e.Fate(), Reason: e.Reason,
		EventTypes: []notify.EventType{}, ProjectKey: e.Project, RepositoryKey: e.Repository, Rules: e.Rules, BodySize: e.BodySize,
	}
	if of := e.Event; of != nil {
		out.EventTypes, out.Branch, out.SourceBranch, out.User = of.Types, of.Branch, of.SourceBranch, of.Actor.Name
	}
	return out
}
