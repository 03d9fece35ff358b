package card

import (
	"time"

	"outrigger/internal/notify"
)

// How many characters of each text a card shows. A chat message is read at a
// glance, and Teams takes 20 KiB in all.
const (
	maxText      = 500 // a comment or description
	maxPlainText = 200 // of it in a notification
	maxTitle     = 200 // the title of a pull request, which the platform allows 255 for
	maxValue     = 300 // a fact
	maxMessage   = 120 // the first line of a commit's message
	maxName      = 120 // a branch, a repository, a user
	maxUser      = 60  // a user among several
	shortHash    = 10  // of a commit's 40: what the platform shows
)

// New makes the card of an event. Its first type says what happened, or else it
// is what a report says.
func New(e *notify.Event) Card {
	if e.Report != nil {
		return ofReport(e)
	}
	if len(e.Types) == 0 { // decoders make none such
		return Card{Title: "Something happened in " + where(e), Links: links(e, inPlace)}
	}
	s := sentenceOf(e.Types[0])
	if e.Build != nil && s.thing == build {
		_, s.kind = buildState(e.Build.State)
	}
	c := Card{
		Kind:   s.kind,
		Title:  title(e, s),
		Branch: branchOf(e),
		Text:   text(e),
		Links:  links(e, s.thing),
	}
	c.Facts, c.MoreFacts = facts(e)
	if c.Commits, c.MoreCommits = commits(e); len(c.Commits) > 0 {
		c.CommitsCut = e.CommitsCut
	}
	return c
}

// OfDelivery makes the card of a delivery as its channel showed it, or would at now.
func OfDelivery(d *notify.Delivery, now time.Time) Card {
	e := d.Noted()
	c := New(e)
	if !d.FinishedAt.IsZero() {
		now = d.FinishedAt
	}
	c.Delayed(e.At, now)
	return c
}

// maxDelay is how late a card may go out without saying so: what just happened
// and what comes after a pause must not read alike.
const maxDelay = 5 * time.Minute

// Delayed puts in front of the facts when the event was (zero: not known), where
// the card goes out much later.
func (c *Card) Delayed(at, now time.Time) {
	if at.IsZero() || now.Sub(at) <= maxDelay {
		return
	}
	when := notify.Fact{Name: "Happened", Value: at.UTC().Format("2006-01-02 15:04") + " UTC"}
	c.Facts = append([]notify.Fact{when}, c.Facts...)
}

// branchOf is the line about the branch. Tags have a fact of their own.
func branchOf(e *notify.Event) string {
	switch {
	case e.Ref != nil && e.Ref.Tag:
		return ""
	case e.PullRequest != nil && e.SourceBranch != "" && e.Branch != "":
		return line(e.SourceBranch, maxName) + " → " + line(e.Branch, maxName)
	}
	return line(e.Branch, maxName)
}

// text is what a user wrote: the comment, or the description where it is
// news. What was deleted is not shown again.
func text(e *notify.Event) string {
	switch e.Types[0] {
	case notify.PullRequestCommentDeleted, notify.CommitCommentDeleted:
		return ""
	case notify.PullRequestOpened:
		return descriptionOf(e)
	case notify.PullRequestFieldEdited:
		for _, c := range e.Changes {
			if c.Field == "description" {
				return descriptionOf(e)
			}
		}
	}
	if e.Comment != nil {
		return paragraphs(e.Comment.Text)
	}
	return ""
}

func descriptionOf(e *notify.Event) string {
	if e.PullRequest == nil {
		return ""
	}
	return paragraphs(e.PullRequest.Description)
}
