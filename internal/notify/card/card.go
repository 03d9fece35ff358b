// Package card says what an event is about, for people who read it in a chat:
// one Card, which the packages of the chat platforms render. Texts in it are
// plain; renderers escape them.
package card

import (
	"strconv"

	"outrigger/internal/notify"
)

// Card is what a chat message shows. Lines have no line breaks and no control
// characters, links are absolute http(s) addresses.
type Card struct {
	Kind        Kind
	Title       string        // one sentence: who did what, where
	Branch      string        // the branch; "source → target" for a pull request; empty for none
	Facts       []notify.Fact // names and values, in the order of their weight
	MoreFacts   int           // how many facts were left off
	Commits     []Commit      // newest first, at most 5
	MoreCommits int           // how many more there are
	CommitsCut  bool          // and more, not counted
	Items       []Item        // of a report
	MoreItems   int           // how many more there are
	Text        string        // what a user wrote, with its line breaks; at most 500 characters
	Links       []Link        // at most 3, the best first
	Mentions    []Mention     // whom the chat platform tells, at most 10
}

// Kind is what sort of news it is: it decides on the colour.
type Kind uint8

const (
	Neutral Kind = iota // nothing to do
	Info                // something new
	Good                // something succeeded
	Warning             // should be looked at
	Bad                 // something failed
)

// Commit is a commit as a line of a card.
type Commit struct {
	ID      string // shortened
	Message string
	Author  string
	URL     string // empty where not known
}

// Link is a button.
type Link struct {
	Title string
	URL   string
}

// FactsMore says that facts were left off, as a last fact; nothing where all
// are there.
func (c *Card) FactsMore() (name, value string) {
	if c.MoreFacts == 0 {
		return "", ""
	}
	return "…", "and " + strconv.Itoa(c.MoreFacts) + " more"
}

// CommitsMore says what the list of commits lacks, as its last line; "" where
// it is whole.
func (c *Card) CommitsMore() string {
	n := strconv.Itoa(c.MoreCommits)
	switch {
	case c.MoreCommits == 0 && c.CommitsCut:
		return "and more"
	case c.MoreCommits == 0:
		return ""
	case c.CommitsCut:
		n = "at least " + n
	}
	if len(c.Commits) == 0 {
		return n + " commits"
	}
	return "and " + n + " more"
}

// Plain is the card in one line, for notifications and for clients that
// cannot show cards.
func (c *Card) Plain() string {
	if c.Text == "" {
		return c.Title
	}
	return c.Title + ": " + line(c.Text, maxPlainText)
}

// Shorten leaves off the part that will be missed least, and reports whether
// there was one: commits and items first, then facts, then the text, the branch
// and mentions.
// The title and the first link stay. Slices are cut, not changed.
func (c *Card) Shorten() bool {
	switch {
	case len(c.Commits) > 0:
		c.Commits = c.Commits[:len(c.Commits)-1]
		c.MoreCommits++
	case len(c.Items) > 0:
		c.Items = c.Items[:len(c.Items)-1]
		c.MoreItems++
	case len(c.Facts) > 0:
		c.Facts = c.Facts[:len(c.Facts)-1]
		c.MoreFacts++
	case c.Text != "":
		c.Text = ""
	case c.Branch != "":
		c.Branch = ""
	case len(c.Mentions) > 0:
		c.Mentions = c.Mentions[:len(c.Mentions)-1]
	case len(c.Links) > 1:
		c.Links = c.Links[:len(c.Links)-1]
	default:
		return false
	}
	return true
}
