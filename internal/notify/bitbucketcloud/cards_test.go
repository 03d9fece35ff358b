package bitbucketcloud

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/notifytest"
	"outrigger/internal/notify/slack"
	"outrigger/internal/notify/teams"
	"outrigger/internal/playground/cloudsamples"
)

// decoded are the events of a written body.
type decoded struct {
	name, key string
	events    []notify.Event
}

// allDecoded are those of every key, and what an update turns out to be where
// the pull request was seen before.
func allDecoded(t *testing.T) []decoded {
	var all []decoded
	for _, s := range cloudsamples.Samples() {
		all = append(all, decoded{s.Name, s.EventKey, sample(t, s.Name, 6)})
	}
	r := notify.Receipt{Events: sample(t, "pull-request-updated", 6)}
	r.ResolvePullRequest(notify.PullRequestState{Source: "4f1d2e3c4b5a", Target: "release/2.0", Title: "ATL-7: Carry wheels", Draft: true})
	return append(all, decoded{"pull-request-settled", "pullrequest:updated", r.Events})
}

// TestCards holds the messages and the preview of the first event of a written
// body of every key.
func TestCards(t *testing.T) {
	for _, d := range allDecoded(t) {
		if len(d.events) == 0 {
			continue
		}
		c := card.New(&d.events[0])
		html, err := cardhtml.Fragment(c, notify.Teams)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			notifytest.Golden(path.Join("teams", d.name), teams.Card(c)),
			notifytest.Golden(path.Join("slack", d.name), slack.Card(c)),
			notifytest.GoldenText(path.Join("html", d.name+".html"), string(html)),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// describe writes a card as lines for people.
func describe(c *card.Card) string {
	var b strings.Builder
	fmt.Fprintln(&b, c.Title)
	if c.Branch != "" {
		fmt.Fprintln(&b, "  on", c.Branch)
	}
	for _, f := range c.Facts {
		fmt.Fprintf(&b, "  %s: %s\n", f.Name, f.Value)
	}
	for _, k := range c.Commits {
		fmt.Fprintf(&b, "  commit %s %s (%s)\n", k.ID, k.Message, k.Author)
	}
	if more := c.CommitsMore(); more != "" {
		fmt.Fprintln(&b, "  commits:", more)
	}
	for l := range strings.Lines(c.Text) {
		fmt.Fprintln(&b, "  |", strings.TrimSuffix(l, "\n"))
	}
	for _, l := range c.Links {
		fmt.Fprintf(&b, "  [%s] %s\n", l.Title, l.URL)
	}
	return b.String()
}

// TestCardsInWords holds what people read of every written body, in one file
// that a person can read through.
func TestCardsInWords(t *testing.T) {
	var b strings.Builder
	for _, d := range allDecoded(t) {
		fmt.Fprintf(&b, "== %s, %s\n", d.key, d.name)
		for i := range d.events {
			c := card.New(&d.events[i])
			b.WriteString(describe(&c))
		}
	}
	if err := notifytest.GoldenText("cards.txt", b.String()); err != nil {
		t.Error(err)
	}
}

// TestPayloadCards holds what people read of the bodies of real servers.
func TestPayloadCards(t *testing.T) {
	var b strings.Builder
	for _, p := range realPayloads(t) {
		fmt.Fprintf(&b, "== %s, %s\n", p.key, p.file)
		_, events, err := Decode(p.key, p.body, base)
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			c := card.New(&events[i])
			b.WriteString(describe(&c))
		}
	}
	if err := notifytest.GoldenText("payload-cards.txt", b.String()); err != nil {
		t.Error(err)
	}
}

// No button leads to what the event deleted, and no card shows an account id to
// people.
func TestCardsAreForPeople(t *testing.T) {
	gone := map[string]string{
		"branch-deleted": "/branch/feature", "tag-deleted": "/commits/tag/", "repository-deleted": "/atlas/engine", "pull-request-comment-deleted": "#comment-",
	}
	for _, d := range allDecoded(t) {
		for _, e := range d.events {
			c := card.New(&e)
			for _, l := range c.Links {
				if where := gone[d.name]; where != "" && strings.Contains(l.URL, where) {
					t.Errorf("%s: %q leads to %s, which is gone", d.name, l.Title, l.URL)
				}
			}
			if words := describe(&c); strings.Contains(words, "712020:") || strings.Contains(words, "Somebody") {
				t.Errorf("%s: %s", d.name, words)
			}
		}
		delete(gone, d.name)
	}
	if len(gone) > 0 {
		t.Errorf("no samples %v", gone)
	}
}
