package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// explanationJSON says of an event what each rule made of it.
type explanationJSON struct {
	Event      Event          `json:"event"`
	Items      []verdictJSON  `json:"items"`
	Next       string         `json:"next,omitempty"`
	Hidden     hiddenJSON     `json:"hidden"`
	OtherRules int            `json:"otherRules"`
	Deliveries []deliveryJSON `json:"deliveries"`
}

// hiddenJSON counts the rules that the reader does not administer.
type hiddenJSON struct {
	Rules int `json:"rules"`
	Taken int `json:"taken"`
}

// verdictJSON is a rule as it was, and what it made of the event.
type verdictJSON struct {
	ID            int64              `json:"id"`
	Version       int64              `json:"version"`
	Name          string             `json:"name"`
	Level         notify.Level       `json:"level"`
	ProjectKey    string             `json:"projectKey,omitempty"`
	RepositoryKey string             `json:"repositoryKey,omitempty"`
	Channel       string             `json:"channel"`
	ChannelName   string             `json:"channelName,omitempty"`
	Outcome       notify.RuleOutcome `json:"outcome"`
	Filter        string             `json:"filter,omitempty"`
	Wants         string             `json:"wants,omitempty"`
	Has           string             `json:"has,omitempty"`
	Note          string             `json:"note,omitempty"`
	Delivery      int64              `json:"delivery,omitempty"`
	ChangedAt     time.Time          `json:"changedAt,omitzero"`
	ChangedBy     string             `json:"changedBy,omitempty"`
	Deleted       bool               `json:"deleted,omitempty"`
}

func (a *API) explainEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := eventID(r)
	if err != nil {
		return err
	}
	page, err := rest.ReadPage(r)
	if err != nil {
		return err
	}
	after, err := notify.ParseVersionCursor(page.After)
	if err != nil {
		return rest.ErrAfter()
	}
	x, err := a.Events.Explain(r.Context(), id, after, page.Limit)
	if err != nil {
		return err
	}
	out := explanationJSON{
		Event: eventOf(&x.Event), Items: make([]verdictJSON, len(x.Rules)), Hidden: hiddenJSON{x.Hidden, x.HiddenTook},
		OtherRules: x.Elsewhere, Deliveries: make([]deliveryJSON, len(x.Deliveries)),
	}
	for i := range x.Rules {
		out.Items[i] = verdictOf(&x.Rules[i])
	}
	for i := range x.Deliveries {
		out.Deliveries[i] = deliveryOf(&x.Deliveries[i])
	}
	if x.Next != nil {
		out.Next = page.Next(fmt.Sprint(x.Next))
	}
	return rest.WriteJSON(w, r, http.StatusOK, out)
}

// noteOf is the note about a verdict. A reason in sentences goes before it.
func noteOf(r notify.Reason, note string) string { return strings.TrimSpace(r.Says + " " + note) }

func verdictOf(v *notify.RuleVerdict) verdictJSON {
	out := verdictJSON{
		ID: v.ID, Version: v.Version, Name: v.Name, Level: v.Level(), ProjectKey: v.ProjectKey, RepositoryKey: v.RepositoryKey,
		Channel: v.Channel.Fingerprint, ChannelName: v.ChannelName, Outcome: v.Outcome,
		Filter: v.Reason.Member, Wants: v.Reason.Wants, Has: v.Reason.Has, Note: noteOf(v.Reason, v.Note), ChangedAt: v.Changed, ChangedBy: v.ChangedBy, Deleted: v.Deleted,
	}
	if v.Delivery != nil {
		out.Delivery = v.Delivery.ID
	}
	return out
}
