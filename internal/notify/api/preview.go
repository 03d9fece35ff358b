package api

import (
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/message"
	"outrigger/internal/rest"
)

// formatHTML is a card as people see it; the other formats are those of rules.
const formatHTML = "html"

// previewPolicy lets a previewed card have its style sheet, and nothing else.
const previewPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// preview shows the card of an event type.
func (a *API) preview(w http.ResponseWriter, r *http.Request) error {
	var wrong fault.Fields
	q := r.URL.Query()
	t, ok := notify.ParseEventType(rest.Key(q.Get("eventType")))
	if !ok {
		wrong.Add("eventType", "%q is not an event type; GET %s/eventTypes lists them.", q.Get("eventType"), basePath)
	}
	format := rest.Spelled(q.Get("format"), string(notify.Teams), string(notify.Slack), formatHTML)
	switch format {
	case "":
		format = string(notify.Teams)
	case string(notify.Teams), string(notify.Slack), formatHTML:
	default:
		wrong.Add("format", "%q is not a format of a card; use teams, slack or html.", format)
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	return writeCard(w, message.Preview(t), format)
}

// writeCard answers a card as a message of a chat platform, or as a page.
func writeCard(w http.ResponseWriter, c card.Card, format string) error {
	body, mediaType := []byte(nil), "application/json"
	if format == formatHTML {
		page, err := cardhtml.Page(c, notify.Teams)
		if err != nil {
			return err
		}
		body, mediaType = page, "text/html; charset=utf-8"
		w.Header().Set("Content-Security-Policy", previewPolicy)
	} else {
		body = message.Append(nil, c, notify.Format(format))
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(body) // who asked may be gone
	return nil
}

// testFilter sends a test message of a rule that need not be saved.
func (a *API) testFilter(w http.ResponseWriter, r *http.Request) error {
	draft, webhookURL, wrong, err := a.readFilter(r)
	if err != nil {
		return err
	}
	done, err := a.Rules.Test(r.Context(), draft, webhookURL, wrong)
	if err != nil {
		return err
	}
	return rest.WriteJSON(w, r, http.StatusOK, testedOf(done))
}
