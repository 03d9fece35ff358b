package cardhtml

import (
	"html/template"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// Digest draws a digest as Fragment draws a card.
func Digest(d card.Digest, format notify.Format) (template.HTML, error) {
	if format != notify.Slack {
		format = notify.Teams
	}
	body, err := draw("digest", struct {
		card.Digest
		Format notify.Format
	}{d, format})
	return template.HTML(body), err // escaped by the template
}
