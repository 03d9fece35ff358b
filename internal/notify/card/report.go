package card

import (
	"strconv"
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/phrase"
)

// Item is a line of a report: an inactive pull request.
type Item struct {
	Title  string
	URL    string // empty where not known
	Detail string // what else there is to say of it
}

const maxDetail = 300 // characters: a branch, and a few reviewers

// ItemsMore says what the list of items lacks, as its last line; "" where it is
// whole.
func (c *Card) ItemsMore() string {
	switch {
	case c.MoreItems == 0:
		return ""
	case len(c.Items) == 0:
		return phrase.Count(c.MoreItems, "pull request")
	}
	return "and " + strconv.Itoa(c.MoreItems) + " more"
}

// ofReport makes the card of what an activity report says.
func ofReport(e *notify.Event) Card {
	a := e.Report
	c := Card{Kind: Good, Title: reportTitle(e)}
	if a.Inactive > 0 {
		c.Kind = Warning
	}
	var f factList
	f.add("Inactive after", phrase.Count(a.InactivityDays, "day")+" without an update")
	f.add("Target branches", line(a.TargetMask, maxValue))
	if a.SkipsDrafts {
		left := "left out"
		if a.Drafts > 0 {
			left += ": " + strconv.Itoa(a.Drafts)
		}
		f.add("Drafts", left)
	}
	c.Facts = f
	for i := range a.Oldest {
		c.Items = append(c.Items, itemOf(&a.Oldest[i]))
	}
	c.MoreItems = a.Inactive - len(c.Items)
	links := make(linkList, 0, 1)
	links.add("Open pull requests", e.URL)
	c.Links = links
	return c
}

// reportTitle counts: "Stale: 12 open pull requests, 4 inactive in ATL/engine".
func reportTitle(e *notify.Event) string {
	a := e.Report
	title := line(a.Name, maxTitle)
	if title == "" {
		title = "Activity report"
	}
	switch {
	case a.Open == 0:
		title += ": no open pull requests"
	case a.Inactive == 0:
		title += ": " + phrase.Count(a.Open, "open pull request") + ", none inactive"
	default:
		title += ": " + phrase.Count(a.Open, "open pull request") + ", " + strconv.Itoa(a.Inactive) + " inactive"
	}
	return title + " in " + where(e)
}

func itemOf(p *notify.IdlePullRequest) Item {
	item := Item{Title: line(p.Title, maxMessage), URL: Absolute(p.URL)}
	if item.Title == "" {
		item.Title = "Pull request " + strconv.FormatInt(p.ID, 10)
	}
	var parts []string
	by, into := line(p.Author.Label(), maxUser), line(p.Target, maxName)
	if by != "" {
		by = "by " + by
	}
	if into != "" {
		into = "into " + into
	}
	if said := strings.TrimSpace(by + " " + into); said != "" {
		parts = append(parts, said)
	}
	parts = append(parts, "idle for "+phrase.Count(p.IdleDays, "day"))
	if len(p.WaitsFor) > 0 {
		waits := "waits for " + users(p.WaitsFor)
		if p.WaitsForMore > 0 {
			waits += " and " + strconv.Itoa(p.WaitsForMore) + " more"
		}
		parts = append(parts, waits)
	}
	item.Detail = line(strings.Join(parts, " · "), maxDetail)
	return item
}
