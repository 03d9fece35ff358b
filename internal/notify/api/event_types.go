package api

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// EventType is an event type as the API lists it.
type EventType struct {
	Key      string           `json:"key" doc:"What rules call it."`
	Name     string           `json:"name" doc:"What people call it."`
	Category string           `json:"category" doc:"What the console lists it under."`
	Editions []notify.Edition `json:"editions" enum:"self-hosted,cloud" doc:"Of the platform that have it."`
}

func (a *API) registerEventTypes(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: basePath + "/eventTypes"}, rest.Words{
		ID: "listEventTypes", Tag: "rules", Summary: "Lists the event types that a rule can select.",
		Answer: "All of them, in the order in which the console groups them.",
		Text: "The keys are what `eventTypes` and `expectedEvents` of rules take. Rules of an edition take only the types that name " +
			"that edition. A type stays once it is there; new ones may come with a release.",
	}, listEventTypes, rest.Example[struct{}, []EventType]{Name: "first", Out: &[]EventType{
		{"BRANCH_CREATED", "Branch created", "Branches and tags", []notify.Edition{notify.SelfHosted, notify.Cloud}},
	}})
}

func listEventTypes(context.Context, struct{}) ([]EventType, error) {
	return rest.Each(notify.EventTypes(), func(t notify.EventType) EventType {
		return EventType{Key: t.String(), Name: t.Name(), Category: t.Category(), Editions: t.Editions()}
	}), nil
}

// formatOf reads the format of a rule or report; "" stays.
func formatOf(text notify.Format) notify.Format {
	return rest.Spelled(text, notify.Auto, notify.Teams, notify.Slack)
}

// eventTypesOf reads keys of event types, and notes those that are unknown.
func eventTypesOf(field string, keys []string, f *fault.Fields) []notify.EventType {
	types := make([]notify.EventType, 0, len(keys))
	for _, key := range keys {
		t, ok := notify.ParseEventType(rest.Key(key))
		if !ok {
			f.Add(field, "%q is not an event type; GET %s/eventTypes lists them.", key, basePath)
			continue
		}
		types = append(types, t)
	}
	return types
}
