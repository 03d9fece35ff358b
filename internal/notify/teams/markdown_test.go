package teams

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// reader is Markdown as Teams reads it, and more: CommonMark without HTML,
// which Teams shows as it is, and with crossed out text.
var reader = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)),
	goldmark.WithExtensions(extension.Strikethrough),
)

// shown is what a reader of Markdown shows, a line a paragraph, and which
// elements it made besides paragraphs.
func shown(t rapid.TB, markdown string) (text, elements string) {
	var out strings.Builder
	if err := reader.Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	page, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var lines, made []string
	for n := range page.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "p":
			lines = append(lines, "")
		case n.Type == html.ElementNode && n.Data != "html" && n.Data != "head" && n.Data != "body":
			made = append(made, n.Data)
		case n.Type == html.TextNode && len(lines) > 0 && n.Data != "\n":
			lines[len(lines)-1] += n.Data
		}
	}
	return strings.Join(lines, "\n"), strings.Join(made, " ")
}

// seen is how a text looks: controls and no-break spaces are spaces, what has no
// width is nothing, and so are empty lines and spaces at the end of one.
func seen(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Map(func(r rune) rune {
			switch {
			case r == '\u200B':
				return -1
			case r < ' ', r == '\u00A0':
				return ' '
			}
			return r
		}, line)
		if line = strings.TrimRight(line, " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func checkShown(t rapid.TB, typed string) {
	escaped := string(appendEscaped(nil, typed))
	got, elements := shown(t, escaped)
	if seen(got) != seen(typed) || elements != "" {
		t.Fatalf("%q is sent as %q, and shown as %q with %q", typed, escaped, got, elements)
	}
}

// What people typed is what people see.
func TestTextIsShownAsTyped(t *testing.T) {
	for _, typed := range []string{
		"a &amp; b &lt;b&gt; &#60; &copy; &nbsp; R&D",
		"<b>bold</b> <https://example.com> <ada@example.com> <!-- x --> a < b > c",
		"- one\n    - two\n        - three\n\n\n    code\n\tcode",
		"1. one\n   1) two\n10. ten",
		"# heading\n## heading\n===\n---\n***\n___\n> quote\n>> quote",
		"*a* **b** _c_ __d__ ~e~ ~~f~~ `g` ``h``\n```\ni\n```\n~~~\nj",
		"[a](https://b) ![c](d) [e]: f\n[e]\n[x] [ ] ]( [",
		"C:\\new\\_x_ \\* \\\\ \\&amp; end\\",
		"a    b  c", "| a | b |\n|---|---|\n| c | d |", "+ x\n+\n-\n1.\n#",
	} {
		checkShown(t, typed)
	}
}

func TestAnyTextIsShownAsTyped(t *testing.T) {
	markup := rapid.SampledFrom([]string{
		"*", "_", "`", "~", "[", "]", "(", ")", "<", ">", "#", "-", "+", "=", "!", "|", "\\", "&", ";", ":", "@", " ", "    ", "\n", "\n\n",
		"1", "1.", "a", "https://x", "amp", "&amp;", "<at>", "{{", "b",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkShown(t, strings.Join(rapid.SliceOf(markup).Draw(t, "typed"), ""))
	})
}

// cardShown is what a reader of a card sees: its texts and facts are Markdown, with a
// carriage return between the lines of a list. Links and lists are ours.
func cardShown(t rapid.TB, message []byte) string {
	m := check(t, message)
	var lines []string
	var show func(v any)
	show = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				show(x)
			}
		case map[string]any:
			for _, name := range []string{"text", "title", "value"} {
				if s, ok := v[name].(string); ok {
					for line := range strings.SplitSeq(s, "\r") {
						lines = append(lines, oneShown(t, line))
					}
				}
			}
			for _, name := range []string{"items", "facts", "columns", "inlines"} {
				show(v[name])
			}
		}
	}
	for _, raw := range m.Attachments[0].Content.Body {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		show(v)
	}
	for _, a := range m.Attachments[0].Content.Actions {
		lines = append(lines, a.Title)
	}
	return strings.Join(lines, "\n")
}

func oneShown(t rapid.TB, markdown string) string {
	var out strings.Builder
	if err := reader.Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	page, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for n := range page.Descendants() {
		switch {
		case n.Type == html.TextNode:
			text += n.Data
		case n.Type == html.ElementNode && !strings.Contains(" html head body p ul li a ", " "+n.Data+" "):
			t.Fatalf("%s is made of %s", n.Data, markdown)
		}
	}
	return seen(text)
}
