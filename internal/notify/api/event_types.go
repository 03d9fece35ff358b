package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// eventTypeJSON is an event type as the API lists it.
type eventTypeJSON struct {
	Key      string           `json:"key"`
	Name     string           `json:"name"`
	Category string           `json:"category"`
	Editions []notify.Edition `json:"editions"`
}

func (a *API) listEventTypes(w http.ResponseWriter, r *http.Request) error {
	types := notify.EventTypes()
	out := make([]eventTypeJSON, len(types))
	for i, t := range types {
		out[i] = eventTypeJSON{Key: t.String(), Name: t.Name(), Category: t.Category(), Editions: t.Editions()}
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
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

func typeKeys(types []notify.EventType) []string {
	keys := make([]string, len(types))
	for i, t := range types {
		keys[i] = t.String()
	}
	return keys
}
