package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/cardtest"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/notifytest"
)

// format is what every format of messages is tested with.
var format = cardtest.Format{
	Card: Card, Digest: Digest, Check: func(t rapid.TB, b []byte) { check(t, b) }, Shown: shown,
	Texts: []*rapid.Generator[string]{
		rapid.Map(rapid.IntRange(0, 30000), func(n int) string { return strings.Repeat("&", n) }),
		rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("\n", n) }),
	},
	Most: 30,
}

func TestFormat(t *testing.T) { cardtest.Run(t, format) }

func BenchmarkCard(b *testing.B) { format.Benchmark(b) }

type text struct{ Type, Text string }

type message struct {
	Text   string
	Mrkdwn *bool
	Blocks []block
}

type block struct {
	Type     string
	Text     *text
	Fields   []text
	Elements []struct {
		Type     string
		Elements []element
	}
}

// element is of a rich text.
type element struct {
	Type, URL string
	Text      *string
}

// check holds Slack's limits, which are the same for every message.
func check(t rapid.TB, b []byte) message {
	if len(b) >= maxSize {
		t.Fatalf("%d bytes: %s", len(b), b)
	}
	var m message
	if err := json.Unmarshal(b, &m); err != nil || !utf8.Valid(b) {
		t.Fatalf("not JSON in UTF-8: %v\n%s", err, b)
	}
	if m.Text == "" || m.Mrkdwn == nil || *m.Mrkdwn || len(m.Blocks) == 0 || len(m.Blocks) > 50 {
		t.Fatalf("%d blocks, text %q", len(m.Blocks), m.Text)
	}
	for _, k := range m.Blocks {
		if k.Type == "rich_text" {
			checkRich(t, k)
			continue
		}
		if k.Type != "section" || (k.Text == nil) == (len(k.Fields) == 0) || len(k.Fields) > 10 {
			t.Fatalf("a block is %+v", k)
		}
		if k.Text != nil && (k.Text.Type != "mrkdwn" && k.Text.Type != "plain_text" || k.Text.Text == "" || len(k.Text.Text) > 3000) {
			t.Fatalf("a text has %d bytes: %s", len(k.Text.Text), k.Text.Text)
		}
		for _, f := range k.Fields {
			if f.Type != "mrkdwn" && f.Type != "plain_text" || f.Text == "" || len(f.Text) > 2000 {
				t.Fatalf("a field has %d bytes: %s", len(f.Text), f.Text)
			}
		}
	}
	return m
}

// checkRich: Slack refuses an empty element or text, and a link without an address.
func checkRich(t rapid.TB, k block) {
	if len(k.Elements) != 1 || k.Elements[0].Type != "rich_text_section" || len(k.Elements[0].Elements) == 0 {
		t.Fatalf("a rich text is %+v", k)
	}
	for _, e := range k.Elements[0].Elements {
		switch {
		case e.Text != nil && (*e.Text == "" || len(*e.Text) > 3000):
			t.Fatalf("a text of a rich text has %d bytes", len(*e.Text))
		case e.Type == "text" && e.Text != nil:
		case e.Type == "link" && card.Absolute(e.URL) == e.URL:
		default:
			t.Fatalf("an element of a rich text is %+v", e)
		}
	}
}

// ours is the markup that we mean: a bold title, the bold name of a field, and the
// bars of a quotation.
var ours = regexp.MustCompile(`\A\S+ \*(.+)\*\z|\A\*(.+)\*\n|(?m)^>`)

// formats is what Slack's markup would take for formatting: of what a word has
// inside, nothing but stars and backticks.
var formats = regexp.MustCompile("[*`<>]|(^|[^\\pL\\pN_~])[_~]|&($|[^algA-Z])")

// shown is what a reader of Slack sees. Rich text is shown as it is, plain text with
// its three entities as letters.
func shown(t rapid.TB, b []byte) string {
	m := check(t, b)
	var lines []string
	show := func(x text) {
		s := x.Text
		if x.Type == "mrkdwn" {
			s = ours.ReplaceAllString(s, "$1$2\n")
			if at := formats.FindString(s); at != "" {
				t.Fatalf("%q is formatted in %s", at, x.Text)
			}
		}
		lines = append(lines, strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s))
	}
	for _, k := range m.Blocks {
		if k.Text != nil {
			show(*k.Text)
		}
		for _, f := range k.Fields {
			show(f)
		}
		for _, section := range k.Elements {
			line := ""
			for _, e := range section.Elements {
				if e.Text != nil {
					line += *e.Text
				}
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestMarkupIsEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"a < b && c > d": "a &lt; b &amp;&amp; c &gt; d",
		"<!channel>":     "&lt;!channel&gt;",
		"&lt;":           "&amp;lt;",
		"bell\a":         "bell ",
		"\xff":           "\uFFFD",
	} {
		if got := string(appendEscaped(nil, in)); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	b := Card(card.Card{Title: "a *b*", Text: "one\n<two>", Links: []card.Link{{Title: "Open <x>", URL: "https://h/?a=1&b=2"}}})
	for _, want := range []string{`{"type":"plain_text","text":"⚪ a *b*","emoji":false}`, `">one\n>&lt;two&gt;"`, `{"type":"link","url":"https://h/?a=1&b=2","text":"Open <x>"}`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

func TestTooBig(t *testing.T) {
	e := sample.Event(notify.BranchUpdated)
	for i := range e.Commits {
		e.Commits[i].Message = strings.Repeat("&", 1000)
		e.Commits[i].URL += strings.Repeat("%20", 600)
	}
	for i := range 40 {
		e.Facts = append(e.Facts, notify.Fact{Name: fmt.Sprintf("fact %d", i), Value: strings.Repeat("&", 1000)})
	}
	b := Card(card.New(&e))
	check(t, b)
	if !bytes.Contains(b, []byte("pushed to")) || !bytes.Contains(b, []byte(`"text":"Open branch"`)) || !bytes.Contains(b, []byte("17 commits")) {
		t.Errorf("the title or the link is gone, or commits do not go first: %s", b)
	}
}

func TestCommitsThatDoNotFitAreCounted(t *testing.T) {
	e := sample.Event(notify.BranchUpdated)
	for i := range e.Commits {
		e.Commits[i].URL += strings.Repeat("x", 1800)
	}
	for i := range 3 {
		e.Facts = append(e.Facts, notify.Fact{Name: fmt.Sprint("fact ", i), Value: strings.Repeat("&", 300)})
	}
	b := Card(card.New(&e))
	n := strings.Count(shown(t, b), "1d2e3c4b ") // the commits' ids
	if n == 0 || n == len(e.Commits) || !bytes.Contains(b, fmt.Appendf(nil, "and %d more", e.CommitCount-n)) {
		t.Errorf("%d commits: %s", n, b)
	}
}

func TestMentionsGolden(t *testing.T) {
	e := sample.Event(notify.PullRequestOpened)
	c := card.New(&e)
	c.Mentions = []card.Mention{{Name: "Grace Hopper", ID: "U012AB3CD"}, {Name: "Alan Turing", ID: "W0000AAAA"}}
	b := Card(c)
	check(t, b)
	if err := notifytest.Golden("mentions", b); err != nil {
		t.Error(err)
	}
}
