package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/notify/choices"
)

const choicesPath = "/notifications/choices"

// showChoices answers what a field can name, as it is typed.
func (p *Pages) showChoices(r *http.Request) (console.Response, error) {
	q := r.URL.Query()
	answer, err := p.Choices.Ask(r.Context(), choices.Query{
		Kind: choices.Kind(q.Get("kind")), Connection: q.Get("connection"),
		ProjectKey: q.Get("project"), RepositoryKey: q.Get("repository"), Text: q.Get("text"),
	})
	return console.JSON{Data: answer}, err
}
