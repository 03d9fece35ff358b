// Package cardhtml draws cards as HTML, laid out as Teams or Slack show them:
// the preview of the console and of the API. It has neither scripts nor pictures.
package cardhtml

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"sync"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
)

// StyleSheet is the name of the style sheet in Assets.
const StyleSheet = "card.css"

//go:embed card.css
var assets embed.FS

//go:embed card.html
var source string

// Assets has the style sheet that pages with a Fragment need.
func Assets() fs.FS { return assets }

var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("card").Parse(source)
})

// view is what the templates show.
type view struct {
	*card.Card
	Format    notify.Format // as which it is laid out: Teams or Slack
	Tone      string
	Branch    []notify.Fact // of one fact, or none
	More      []notify.Fact // that facts are left off, likewise
	Links     []card.Link
	Commits   []card.Commit
	MoreLines string
	Items     []card.Item
	ItemsMore string
}

// Fragment draws a card as part of a page, which has the style sheet: as Slack
// shows it for notify.Slack, else as Teams does.
func Fragment(c card.Card, format notify.Format) (template.HTML, error) {
	body, err := draw("card", viewOf(&c, format))
	return template.HTML(body), err // escaped by the template
}

// Page draws a card as a page of its own, with the style sheet inside.
func Page(c card.Card, format notify.Format) ([]byte, error) {
	style, err := assets.ReadFile(StyleSheet)
	if err != nil {
		return nil, err
	}
	fragment, err := Fragment(c, format)
	if err != nil {
		return nil, err
	}
	return draw("page", struct {
		Title    string
		Style    template.CSS
		Fragment template.HTML
	}{c.Title, template.CSS(style), fragment})
}

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

func draw(part string, data any) ([]byte, error) {
	t, err := templates()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, part, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// viewOf leaves out the addresses that the chat platforms do not get either.
func viewOf(c *card.Card, format notify.Format) view {
	v := view{Card: c, Format: notify.Teams, Tone: tone(c.Kind), MoreLines: c.CommitsMore(), ItemsMore: c.ItemsMore()}
	if format == notify.Slack {
		v.Format = notify.Slack
	}
	if c.Branch != "" {
		v.Branch = []notify.Fact{{Name: "Branch", Value: c.Branch}}
	}
	if name, value := c.FactsMore(); name != "" {
		v.More = []notify.Fact{{Name: name, Value: value}}
	}
	for _, l := range c.Links {
		if l.URL = card.Absolute(l.URL); l.URL != "" {
			v.Links = append(v.Links, l)
		}
	}
	for _, k := range c.Commits {
		k.URL = card.Absolute(k.URL)
		v.Commits = append(v.Commits, k)
	}
	for _, item := range c.Items {
		item.URL = card.Absolute(item.URL)
		v.Items = append(v.Items, item)
	}
	return v
}

// Slack reports whether it is laid out as Slack does.
func (v view) Slack() bool { return v.Format == notify.Slack }

// tone is the class of a card's colour.
func tone(k card.Kind) string {
	switch k {
	case card.Info:
		return "info"
	case card.Good:
		return "good"
	case card.Warning:
		return "warning"
	case card.Bad:
		return "bad"
	}
	return "neutral"
}
