package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	Append: Append, AppendDigest: AppendDigest, Check: func(t rapid.TB, b []byte) { check(t, b) },
	Texts: []*rapid.Generator[string]{
		rapid.Map(rapid.IntRange(0, 30000), func(n int) string { return strings.Repeat("&", n) }),
		rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("\n", n) }),
	},
	Most: 30,
}

func TestFormat(t *testing.T) { cardtest.Run(t, format) }

func BenchmarkCard(b *testing.B) { format.Benchmark(b) }

type mrkdwn struct{ Type, Text string }

type message struct {
	Text   string
	Blocks []struct {
		Type   string
		Text   *mrkdwn
		Fields []mrkdwn
	}
}

// check holds Slack's limits, which are the same for every message.
func check(t rapid.TB, b []byte) message {
	if len(b) >= MaxSize {
		t.Fatalf("%d bytes: %s", len(b), b)
	}
	var m message
	if err := json.Unmarshal(b, &m); err != nil || !utf8.Valid(b) {
		t.Fatalf("not JSON in UTF-8: %v\n%s", err, b)
	}
	if m.Text == "" || len(m.Blocks) == 0 || len(m.Blocks) > 50 {
		t.Fatalf("%d blocks, text %q", len(m.Blocks), m.Text)
	}
	for _, k := range m.Blocks {
		if k.Type != "section" || (k.Text == nil) == (len(k.Fields) == 0) || len(k.Fields) > 10 {
			t.Fatalf("a block is %+v", k)
		}
		if k.Text != nil && (k.Text.Type != "mrkdwn" || k.Text.Text == "" || len(k.Text.Text) > 3000) {
			t.Fatalf("a text has %d bytes: %s", len(k.Text.Text), k.Text.Text)
		}
		for _, f := range k.Fields {
			if f.Type != "mrkdwn" || f.Text == "" || len(f.Text) > 2000 {
				t.Fatalf("a field has %d bytes: %s", len(f.Text), f.Text)
			}
		}
	}
	return m
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
	b := Append(nil, card.Card{Title: "a *b*", Text: "one\n<two>", Links: []card.Link{{Title: "Open <x>", URL: "https://h/?a=1&b=2"}}})
	for _, want := range []string{`"⚪ a *b*"`, `">one\n>&lt;two&gt;"`, `"<https://h/?a=1&amp;b=2|Open &lt;x&gt;>"`} {
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
	b := Append(nil, card.New(&e))
	check(t, b)
	if !bytes.Contains(b, []byte("pushed to")) || !bytes.Contains(b, []byte("|Open branch>")) || !bytes.Contains(b, []byte("17 commits")) {
		t.Errorf("the title or the link is gone, or commits do not go first: %s", b)
	}
}

func TestCommitsThatDoNotFitAreCounted(t *testing.T) {
	e := sample.Event(notify.BranchUpdated)
	for i := range e.Commits {
		e.Commits[i].URL += strings.Repeat("x", 1200)
	}
	b := Append(nil, card.New(&e))
	check(t, b)
	if !bytes.Contains(b, []byte("|0f1d2e3c4b>")) || !bytes.Contains(b, []byte("and 15 more")) {
		t.Error(string(b))
	}
}

func TestMentionsGolden(t *testing.T) {
	e := sample.Event(notify.PullRequestOpened)
	c := card.New(&e)
	c.Mentions = []card.Mention{{Name: "Grace Hopper", ID: "U012AB3CD"}, {Name: "Alan Turing", ID: "W0000AAAA"}}
	b := Append(nil, c)
	check(t, b)
	if err := notifytest.Golden("mentions", b); err != nil {
		t.Error(err)
	}
}
