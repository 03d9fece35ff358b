package api

import (
	"net/http"

	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// trialJSON is what a rule would have made of the last events.
type trialJSON struct {
	Tried int         `json:"tried"`
	Taken int         `json:"taken"`
	Items []triedJSON `json:"items"`
}

// triedJSON is one of them.
type triedJSON struct {
	Event   eventJSON          `json:"event"`
	Outcome notify.RuleOutcome `json:"outcome"`
	Filter  string             `json:"filter,omitempty"`
	Wants   string             `json:"wants,omitempty"`
	Has     string             `json:"has,omitempty"`
	Note    string             `json:"note,omitempty"`
}

// tryFilter says which of the last events a rule, saved or not, would have taken.
func (a *API) tryFilter(w http.ResponseWriter, r *http.Request) error {
	draft, _, wrong, err := a.readFilter(r)
	if err != nil {
		return err
	}
	trial, err := a.Trials.Try(r.Context(), draft, wrong)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, trialOf(&trial))
}

func trialOf(trial *notify.Trial) trialJSON {
	out := trialJSON{Tried: len(trial.Events), Taken: trial.Taken, Items: make([]triedJSON, len(trial.Events))}
	for i := range trial.Events {
		e := &trial.Events[i]
		out.Items[i] = triedJSON{
			Event: eventOf(&e.LoggedEvent), Outcome: e.Outcome,
			Filter: e.Reason.Member, Wants: e.Reason.Wants, Has: e.Reason.Has, Note: noteOf(e.Reason, e.Note),
		}
	}
	return out
}
