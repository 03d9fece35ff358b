package teams

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/cardtest"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/playground/samples"
)

// format is what every format of messages is tested with.
var format = cardtest.Format{
	Card: Card, Digest: Digest, Check: func(t rapid.TB, b []byte) { check(t, b) }, Shown: cardShown,
	Texts: []*rapid.Generator[string]{
		rapid.Map(rapid.IntRange(0, 30000), func(n int) string { return strings.Repeat("\x01", n) }),
		rapid.Map(rapid.IntRange(0, 30000), func(n int) string { return strings.Repeat("\\", n) }),
	},
	Most: 8,
}

func TestFormat(t *testing.T) { cardtest.Run(t, format) }

func BenchmarkCard(b *testing.B) { format.Benchmark(b) }

// message is what Teams must find in what we send.
type message struct {
	Type        string
	Attachments []struct {
		ContentType string
		Content     struct {
			Type, Version, FallbackText string
			MSTeams                     struct{ Width string }
			Body                        []json.RawMessage
			Actions                     []struct{ Type, Title, URL string }
		}
	}
}

// check holds what is true of every message.
func check(t rapid.TB, b []byte) message {
	if len(b) >= maxSize {
		t.Fatalf("%d bytes: %s", len(b), b)
	}
	var m message
	if err := json.Unmarshal(b, &m); err != nil || !utf8.Valid(b) {
		t.Fatalf("not JSON in UTF-8: %v\n%s", err, b)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil || compact.Len() != len(b) {
		t.Fatalf("not compact: %s", b)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil || hasNull(tree) {
		t.Fatalf("it has nulls: %s", b)
	}
	if m.Type != "message" || len(m.Attachments) != 1 || m.Attachments[0].ContentType != "application/vnd.microsoft.card.adaptive" {
		t.Fatalf("not the envelope: %s", b)
	}
	c := m.Attachments[0].Content
	if c.Type != "AdaptiveCard" || c.Version != "1.4" || c.MSTeams.Width != "Full" || len(c.Body) == 0 || c.FallbackText == "" {
		t.Fatalf("not the card: %s", b)
	}
	if len(c.Actions) > 6 {
		t.Fatalf("%d actions", len(c.Actions))
	}
	for _, a := range c.Actions {
		if a.Type != "Action.OpenUrl" || card.Absolute(a.URL) != a.URL || a.URL == "" {
			t.Fatalf("an action is %+v", a)
		}
	}
	return m
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		for _, x := range v {
			if hasNull(x) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if hasNull(x) {
				return true
			}
		}
	}
	return false
}

func TestNothingIsEscapedAsHTML(t *testing.T) {
	b := Card(card.Card{Title: "a <b> & c"})
	if !bytes.Contains(b, []byte("a <b> & c")) {
		t.Error(string(b))
	}
}

func TestMarkdownIsEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, (really) 3.5 & more!": "plain text, (really) 3.5 & more!",
		"feature/snake_case_*":             `feature/snake\_case\_\*`,
		"[link](https://x)":                `\[link\](https://x)`,
		"`code` ~gone~ C:\\x":              "\\`code\\` \\~gone\\~ C:\\\\x",
		"- a list":                         `\- a list`,
		"  + a list":                       "\u00a0\u00a0\\+ a list",
		"a - b":                            `a - b`,
		"12. a list":                       `12\. a list`,
		"12) a list":                       `12\) a list`,
		"12 apples":                        `12 apples`,
		"# heading":                        `\# heading`,
		"one\ntwo\n\nthree":                "one\n\ntwo\n\nthree",
		"one\n- two":                       "one\n\n\\- two",
		"a\tb\x00c":                        "a b c",
		"<at>Ada</at> <AT>":                "<\u200bat>Ada<\u200b/at> <\u200bAT>",
		"a < b":                            "a < b",
		"a <b> List<String>":               "a <b> List<String>",
		"<https://x/?a=1>, <ada@x.org>":    "&lt;https://x/?a=1>, &lt;ada@x.org>",
		"R&D & AT&T; x&y":                  "R&D & AT&amp;T; x&y",
		"&amp; &lt; &#60; &#x3C; &nope;":   "&amp;amp; &amp;lt; &amp;#60; &amp;#x3C; &amp;nope;",
		"- a\n    - b\n\tcode":             "\\- a\n\n\u00a0\u00a0\u00a0\u00a0\\- b\n\n\u00a0code",
		"a    b":                           "a \u00a0\u00a0\u00a0b",
		"{{DATE(2017-02-14T06:08:00Z)}}":   "{\u200b{DATE(2017-02-14T06:08:00Z)}}",
	} {
		got := string(appendEscaped(nil, in))
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if got != in && !special(in) {
			t.Errorf("%q is taken for plain", in)
		}
	}
}

func TestPlainTextIsNotChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if got := string(appendEscaped(nil, s)); got != s && !special(s) {
			t.Fatalf("%q becomes %q, but is taken for plain", s, got)
		}
	})
}

// TestTooBig holds the promise that a message is never too big, cut at whole
// commits and facts, with its title and link.
func TestTooBig(t *testing.T) {
	e := sample.Event(notify.BranchUpdated)
	for i := range e.Commits {
		e.Commits[i].Message = strings.Repeat("_", 1000)
		e.Commits[i].URL += strings.Repeat("%20", 600)
	}
	for i := range 40 {
		e.Facts = append(e.Facts, notify.Fact{Name: fmt.Sprintf("fact-%d", i), Value: strings.Repeat(`\`, 1000)})
	}
	c := card.New(&e)
	some := checkTooBig(t, c)
	if !strings.Contains(some, "fact-11") || !strings.Contains(some, "0f1d2e3c4b") || strings.Contains(some, "3f1d2e3c4b") || !strings.Contains(some, "and 1") {
		t.Error("commits do not go first, one by one")
	}

	c.Facts = append(c.Facts, c.Facts...)
	none := checkTooBig(t, c)
	if strings.Contains(none, "0f1d2e3c4b") || !strings.Contains(none, "17 commits") || !strings.Contains(none, "fact-5") {
		t.Error("facts do not go after commits, one by one")
	}
}

func checkTooBig(t *testing.T, c card.Card) string {
	t.Helper()
	b := Card(c)
	m := check(t, b)
	if len(b) < maxSize-4000 {
		t.Errorf("only %d bytes are used", len(b))
	}
	if len(m.Attachments[0].Content.Actions) != len(c.Links) || !bytes.Contains(b, []byte("pushed to")) {
		t.Error("the title or a link is gone")
	}
	return string(b)
}

// FuzzCard decodes any body and renders what comes of it.
func FuzzCard(f *testing.F) {
	var keys []string
	for i, s := range samples.Samples() {
		keys = append(keys, s.EventKey)
		f.Add(i, s.Render(int64(i), time.Unix(1795176000, 0)))
	}
	f.Fuzz(func(t *testing.T, key int, body []byte) {
		_, events, err := bitbucketdc.Decode(keys[uint(key)%uint(len(keys))], body, samples.BaseURL)
		if err != nil {
			return
		}
		for i := range events {
			check(t, Card(card.New(&events[i])))
		}
	})
}

// Every mention has an entity with its very text.
func TestMentionsGolden(t *testing.T) {
	e := sample.Event(notify.PullRequestOpened)
	c := card.New(&e)
	c.Mentions = []card.Mention{{Name: "Grace Hopper", ID: "grace@example.com"}, {Name: "Alan Turing", ID: "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}}
	b := Card(c)
	check(t, b)
	if err := notifytest.Golden("mentions", b); err != nil {
		t.Error(err)
	}
}
