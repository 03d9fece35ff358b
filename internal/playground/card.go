package playground

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

// Card is a message as a chat client would show it: what the page needs of an
// Adaptive Card or of Slack's blocks.
type Card struct {
	Title  string
	Slack  bool
	Tone   string // of its colour: info, good, warning, bad or neutral
	Blocks []Block
	Links  []Link
	Error  string // why the platform could not show it, as it would say
}

// Block is a part of a card: facts, items of a list, or text.
type Block struct {
	Facts []Fact
	Items []Line
	Text  []Line
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
	Style   json.RawMessage `json:"style"` // a text of containers, an object of Slack's texts
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
	c := Card{Tone: "neutral"}
	switch {
	case len(m.Blocks) > 0:
		c.Slack = true
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

// tones are the colours of cards: the styles of containers, and the dots before
// Slack's titles.
var tones = map[string]string{
	"accent": "info", "good": "good", "warning": "warning", "attention": "bad",
	"🔵": "info", "🟢": "good", "🟡": "warning", "🟠": "warning", "🔴": "bad", "⚪": "neutral",
}

func (c *Card) add(elements []element) {
	for i := range elements {
		e := &elements[i]
		var style string
		_ = json.Unmarshal(e.Style, &style) // Slack's is an object: no colour
		if tone := tones[style]; tone != "" && c.Title == "" {
			c.Tone = tone
		}
		text := e.plain()
		switch {
		case e.Type == "rich_text_section":
			c.addRich(e.Elements)
			continue
		case text == "" || e.Type == "button":
		case c.Title == "":
			c.title(text)
		default:
			c.text(text)
		}
		c.facts(e)
		if e.URL != "" {
			title := e.Title
			if title == "" {
				title = text
			}
			c.Links = append(c.Links, Link{Title: unescape(title), URL: e.URL})
		}
		for _, more := range [][]element{e.Items, e.Columns, e.Actions, e.Elements} {
			c.add(more)
		}
	}
}

// title takes a title, with the dot in its colour in front of it in Slack.
func (c *Card) title(text string) {
	if dot, rest, ok := strings.Cut(text, " "); ok && tones[dot] != "" {
		c.Tone, text = tones[dot], rest
	}
	if c.Slack {
		text = strings.Trim(text, "*")
	}
	c.Title = unescape(text)
}

// text takes a text: a block of items or of lines for each stretch of them.
func (c *Card) text(text string) {
	var last *Block
	for _, line := range readLines(text) {
		if last == nil || line.Item != (last.Items != nil) {
			c.Blocks = append(c.Blocks, Block{})
			last = &c.Blocks[len(c.Blocks)-1]
		}
		if line.Item {
			last.Items = append(last.Items, line)
		} else {
			last.Text = append(last.Text, line)
		}
	}
}

// facts takes the facts of a fact set, or the fields of a section in Slack.
func (c *Card) facts(e *element) {
	var facts []Fact
	for _, f := range e.Facts {
		facts = append(facts, Fact{Title: unescape(f.Title), Value: unescape(f.Value)})
	}
	for _, f := range e.Fields {
		name, value, _ := strings.Cut(f.plain(), "\n")
		facts = append(facts, Fact{Title: strings.Trim(name, "*"), Value: html.UnescapeString(value)})
	}
	if facts != nil {
		c.Blocks = append(c.Blocks, Block{Facts: facts})
	}
}

// addRich takes a section of Slack's rich text: links alone are those of the card.
func (c *Card) addRich(elements []element) {
	var line Line
	for i := range elements {
		line.Parts = append(line.Parts, Part{Text: elements[i].plain(), URL: elements[i].URL})
	}
	alone := func(p Part) bool { return p.URL != "" || strings.Trim(p.Text, " ·") == "" }
	for _, p := range line.Parts {
		if !alone(p) {
			c.Blocks = append(c.Blocks, Block{Text: []Line{line}})
			return
		}
	}
	for _, p := range line.Parts {
		if p.URL != "" {
			c.Links = append(c.Links, Link{Title: p.Text, URL: p.URL})
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
