package playground

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Card is a message as a chat client would show it: what the page needs of an
// Adaptive Card or of Slack's blocks.
type Card struct {
	Title string
	Lines []Line
	Facts []Fact
	Links []Link
	Error string // why the platform could not show it, as it would say
}

// Line is one line of text, perhaps an item of a list.
type Line struct {
	Item  bool
	Parts []Part
}

// Part is text, a link where it has a URL.
type Part struct{ Text, URL string }

// Fact is a line of a fact set.
type Fact struct{ Title, Value string }

// Link is a button.
type Link struct{ Title, URL string }

// element is whatever stands in a card's body or actions.
type element struct {
	Type    string          `json:"type"`
	Text    json.RawMessage `json:"text"`
	Title   string          `json:"title"`
	URL     string          `json:"url"`
	Facts   []Fact          `json:"facts"`
	Items   []element       `json:"items"`
	Columns []element       `json:"columns"`
	Actions []element       `json:"actions"`

	Fields   []element `json:"fields"`   // Slack
	Elements []element `json:"elements"` // Slack
}

// readCard reads the body of a POST to a workflow or an incoming webhook. The
// stock workflow posts each attachment that is an Adaptive Card; without one
// nothing appears, though the sender got its 202.
func readCard(body []byte) Card {
	var m struct {
		Text        string
		Blocks      []element
		Attachments []struct {
			ContentType string
			Content     struct {
				Type    string
				Body    []element
				Actions []element
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return Card{Error: "The message is not of a form that the platform knows: " + err.Error()}
	}
	var c Card
	switch {
	case len(m.Blocks) > 0:
		c.add(m.Blocks)
	case len(m.Attachments) == 0:
		return Card{Error: "The workflow failed: attachments is of type 'Null'."}
	case m.Attachments[0].Content.Type != "AdaptiveCard":
		return Card{Error: "The workflow failed: property 'type' must be 'AdaptiveCard'."}
	default:
		c.add(m.Attachments[0].Content.Body)
		c.add(m.Attachments[0].Content.Actions)
	}
	return c
}

func (c *Card) add(elements []element) {
	for _, e := range elements {
		if text := e.plain(); text != "" && e.Type != "button" {
			if c.Title == "" {
				c.Title = unescape(text)
			} else {
				c.Lines = append(c.Lines, readLines(text)...)
			}
		}
		for _, f := range e.Facts {
			c.Facts = append(c.Facts, Fact{Title: unescape(f.Title), Value: unescape(f.Value)})
		}
		if e.URL != "" {
			title := e.Title
			if title == "" {
				title = e.plain()
			}
			c.Links = append(c.Links, Link{Title: unescape(title), URL: e.URL})
		}
		for _, more := range [][]element{e.Items, e.Columns, e.Actions, e.Fields, e.Elements} {
			c.add(more)
		}
	}
}

// plain is the element's text: a string in Adaptive Cards, a text object in
// Slack's blocks.
func (e *element) plain() string {
	var s string
	if json.Unmarshal(e.Text, &s) == nil {
		return s
	}
	var o struct{ Text string }
	_ = json.Unmarshal(e.Text, &o) // neither: no text
	return o.Text
}

// readLines reads the Markdown that cards use: lines, items and links, and
// Slack's own way of writing a link.
func readLines(text string) []Line {
	var lines []Line
	for _, l := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		item, isItem := strings.CutPrefix(strings.TrimPrefix(l, "•"), "- ")
		isItem = isItem || strings.HasPrefix(l, "•")
		lines = append(lines, Line{Item: isItem, Parts: readParts(item)})
	}
	return lines
}

var links = regexp.MustCompile(`\[((?:[^\]\\]|\\.)*)\]\((https?://[^)\s]+)\)|<(https?://[^|>]+)\|([^>]*)>`)

func readParts(text string) []Part {
	var parts []Part
	from := 0
	for _, m := range links.FindAllStringSubmatchIndex(text, -1) {
		parts = append(parts, Part{Text: unescape(text[from:m[0]])})
		if m[2] >= 0 {
			parts = append(parts, Part{Text: unescape(text[m[2]:m[3]]), URL: text[m[4]:m[5]]})
		} else {
			parts = append(parts, Part{Text: unescape(text[m[8]:m[9]]), URL: text[m[6]:m[7]]})
		}
		from = m[1]
	}
	return append(parts, Part{Text: unescape(text[from:])})
}

// unescape takes the backslashes of Markdown escapes and emphasis away.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!>~|<", s[i+1]) >= 0 {
			i++
		} else if s[i] == '*' && i+1 < len(s) && s[i+1] == '*' {
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
