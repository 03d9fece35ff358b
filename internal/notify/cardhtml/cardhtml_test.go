package cardhtml_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/cardtest"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/notifytest"
)

func draw(t *testing.T, c card.Card, f notify.Format) string {
	t.Helper()
	s, err := cardhtml.Fragment(c, f)
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

func TestGolden(t *testing.T) {
	for _, x := range notify.EventTypes() {
		e := sample.Event(x)
		c := card.New(&e)
		both := draw(t, c, notify.Teams) + draw(t, c, notify.Slack)
		if err := notifytest.GoldenText(x.String()+".html", both); err != nil {
			t.Error(err)
		}
	}
}

// shown is the text of a piece of HTML, and its elements by name.
func shown(t *testing.T, s string) (text string, elements map[string]int) {
	t.Helper()
	elements = map[string]int{}
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String(), elements
		case html.TextToken:
			b.WriteString(z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			elements[z.Token().Data]++
		}
	}
}

// What people typed is what people see: nothing of it becomes markup, and no
// link leads elsewhere than to a page.
func TestNothingTypedIsMarkup(t *testing.T) {
	const odd = `<script>alert(1)</script> & "quotes" 'n' <img src=x onerror=y> {{.}} &amp;`
	c := card.Card{
		Kind: card.Bad, Title: "T " + odd, Branch: "B " + odd, Text: "X " + odd + "\n  second line",
		Facts:   []notify.Fact{{Name: "N " + odd, Value: "V " + odd}},
		Commits: []card.Commit{{ID: "0f1d", Message: "M " + odd, Author: "A " + odd, URL: "javascript:alert(1)"}},
		Links:   []card.Link{{Title: "L " + odd, URL: `https://example.com/?a=1&b=2`}, {Title: "bad", URL: "javascript:alert(2)"}},
	}
	for _, f := range []notify.Format{notify.Teams, notify.Slack} {
		s := draw(t, c, f)
		text, elements := shown(t, s)
		for _, letter := range strings.Split("TBXNVMAL", "") {
			if !strings.Contains(text, letter+" "+odd) {
				t.Errorf("%s: %q is not shown as it was typed:\n%s", f, letter, s)
			}
		}
		if elements["script"]+elements["img"] != 0 || elements["a"] != 1 || strings.Contains(s, "javascript:") {
			t.Errorf("%s: elements %v of\n%s", f, elements, s)
		}
		if !strings.Contains(s, `href="https://example.com/?a=1&amp;b=2"`) {
			t.Errorf("%s: the link is not there:\n%s", f, s)
		}
	}
}

// What a chat message says about what it lacks, the preview says too.
func TestWhatIsCutIsSaid(t *testing.T) {
	c := card.Card{Title: "x", MoreFacts: 3, Commits: []card.Commit{{ID: "1"}}, MoreCommits: 12, CommitsCut: true}
	for _, f := range []notify.Format{notify.Teams, notify.Slack} {
		text, _ := shown(t, draw(t, c, f))
		if !strings.Contains(text, "and 3 more") || !strings.Contains(text, "and at least 12 more") {
			t.Errorf("%s: %s", f, text)
		}
	}
}

func TestPageHasItsStyle(t *testing.T) {
	b, err := cardhtml.Page(card.Card{Title: "a </title> b"}, notify.Teams)
	if err != nil {
		t.Fatal(err)
	}
	s := string(b)
	_, elements := shown(t, s)
	if !strings.HasPrefix(s, "<!DOCTYPE html>") || !strings.Contains(s, ".chat-card.teams") || strings.Contains(s, "ZgotmplZ") || elements["title"] != 1 {
		t.Error(s)
	}
}

func drawDigest(t *testing.T, events []*notify.Event, f notify.Format) string {
	t.Helper()
	s, err := cardhtml.Digest(card.NewDigest(events), f)
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

func TestDigestGolden(t *testing.T) {
	events := cardtest.DigestEvents()
	both := drawDigest(t, events, notify.Teams) + drawDigest(t, events, notify.Slack)
	if err := notifytest.GoldenText("digest.html", both); err != nil {
		t.Error(err)
	}
}

// What people typed stays text in a digest too.
func TestNothingTypedIsMarkupInADigest(t *testing.T) {
	e := sample.Event(notify.BranchCreated)
	e.Repository.Name, e.Branch = `<img src=x onerror=y>`, `<script>alert(1)</script>`
	for _, f := range []notify.Format{notify.Teams, notify.Slack} {
		s := drawDigest(t, []*notify.Event{&e}, f)
		text, elements := shown(t, s)
		if elements["script"]+elements["img"] != 0 || !strings.Contains(text, e.Repository.Name) || !strings.Contains(text, e.Branch) {
			t.Errorf("%s: elements %v of\n%s", f, elements, s)
		}
	}
}

func TestReportGolden(t *testing.T) {
	for name, e := range map[string]notify.Event{"REPORT": sample.Report(32, 28), "REPORT.none_inactive": sample.Report(32, 0), "REPORT.bare": sample.BareReport()} {
		c := card.New(&e)
		if err := notifytest.GoldenText(name+".html", draw(t, c, notify.Teams)+draw(t, c, notify.Slack)); err != nil {
			t.Error(err)
		}
	}
}
