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

type previewCard struct {
	EventType string `query:"eventType" required:"true" doc:"A key of eventTypes." example:"TAG_CREATED"`

	Format string `query:"format" enum:"teams,slack,html" default:"teams" doc:"The message that a chat is sent, or a page that shows it."`
}

func (a *API) registerPreview(r *rest.Router) {
	rest.Serve[previewCard, map[string]any](r, rest.Route{Method: "GET", Path: basePath + "/preview", Own: true}, rest.Words{
		ID: "previewCard", Tag: "rules", Summary: "Shows the card of an event type, of an event that never was.", Answer: "The card.",
		Text: "The event is made up; nothing is stored or sent. `teams` and `slack` are the JSON body that the chat platform is sent; " +
			"`html` is a page that shows the card about as the chat platform does.",
		Media: []string{"text/html"},
	}, a.preview, rest.Example[previewCard, map[string]any]{Name: "slack", Out: &map[string]any{
		"text": "Ada Lovelace created tag v2.1.0 in ATL/engine", "mrkdwn": false,
		"blocks": []any{map[string]any{"type": "section", "text": map[string]any{
			"type": "mrkdwn", "text": "🔵 *Ada Lovelace created tag v2.1.0 in ATL/engine*", "verbatim": true,
		}}},
	}})
}

func (a *API) preview(w http.ResponseWriter, _ *http.Request, in previewCard) error {
	var wrong fault.Fields
	t, ok := notify.ParseEventType(rest.Key(in.EventType))
	if !ok {
		wrong.Add("eventType", "%q is not an event type; GET %s/eventTypes lists them.", in.EventType, basePath)
	}
	format := rest.Spelled(in.Format, string(notify.Teams), string(notify.Slack), formatHTML)
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
		body = message.Card(c, notify.Format(format))
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(body) // who asked may be gone
	return nil
}
