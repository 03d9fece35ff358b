package card

import (
	"strconv"
	"strings"
	"time"

	"outrigger/internal/notify"
)

// maxLines is how many events a digest tells of.
const maxLines = notify.MaxDigest

// maxLine is how many characters a line of a digest has: a card has the rest
// of a long title.
const maxLine = 160

// Digest is a chat message about many events.
type Digest struct {
	Title  string
	Period string // when they were; empty where not known
	Groups []Group
	// Mentions are of all events together: a line of them ends the message.
	Mentions []Mention
}

// Group is the events of one repository, or of a project as a whole.
type Group struct {
	Name  string
	Lines []Line
}

// Line is one event: its sentence, and the page that shows it.
type Line struct {
	Text string
	URL  string // empty where not known
}

// NewDigest makes the digest of events, grouped by where they happened, in the
// order in which each place came first.
func NewDigest(events []*notify.Event) Digest {
	var d Digest
	places := make(map[string]int)
	for _, e := range events {
		name := where(e)
		at, ok := places[name]
		if !ok {
			at = len(d.Groups)
			places[name] = at
			d.Groups = append(d.Groups, Group{Name: name})
		}
		d.Groups[at].Lines = append(d.Groups[at].Lines, lineOf(e, name))
	}
	d.Title = strconv.Itoa(len(events)) + " notifications"
	switch n := len(d.Groups); n {
	case 0:
	case 1:
		d.Title += " from " + d.Groups[0].Name
	default:
		d.Title += " from " + strconv.Itoa(n) + " repositories"
	}
	d.Period = period(events)
	return d
}

// notChecked marks the line of an event that has a note, for which a line has no
// room.
const notChecked = " (sent although not all filters could be checked)"

func lineOf(e *notify.Event, place string) Line {
	c := New(e)
	text, mark := strings.TrimSuffix(c.Title, " in "+place), ""
	if factOf(e, notify.NoteFact) != "" {
		mark = notChecked
	}
	l := Line{Text: cut(text, maxLine-len(mark), false) + mark}
	for _, link := range c.Links {
		if l.URL = Absolute(link.URL); l.URL != "" {
			break
		}
	}
	return l
}

// period says when the events were, in UTC: digests are of what waited.
func period(events []*notify.Event) string {
	var first, last time.Time
	for _, e := range events {
		if e.At.IsZero() {
			continue
		}
		if first.IsZero() || e.At.Before(first) {
			first = e.At
		}
		if e.At.After(last) {
			last = e.At
		}
	}
	if first.IsZero() {
		return ""
	}
	const day, clock = "2006-01-02", "15:04"
	from, to := first.UTC(), last.UTC()
	switch {
	case from.Format(day+clock) == to.Format(day+clock):
		return from.Format(day + " " + clock + " UTC")
	case from.Format(day) == to.Format(day):
		return from.Format(day+" "+clock) + " to " + to.Format(clock+" UTC")
	}
	return from.Format(day+" "+clock) + " to " + to.Format(day+" "+clock+" UTC")
}

// Fit makes the message of the longest run of events, from the first on, that
// stays below max bytes, and tells how many they are: one at least. Mentions have
// the room that is left, so that the events are the same with and without them.
func Fit(events []*notify.Event, mentions []Mention, max int, write func(Digest) []byte) (message []byte, taken int) {
	n := min(len(events), maxLines)
	for ; ; n-- {
		message = write(NewDigest(events[:n]))
		if len(message) < max || n <= 1 {
			break
		}
		n = min(n, n*max/len(message)+1) // about how many fit
	}
	d := NewDigest(events[:n])
	for k := len(mentions); k > 0; k-- {
		d.Mentions = mentions[:k]
		if message = write(d); len(message) < max {
			return message, n
		}
	}
	d.Mentions = nil
	return write(d), n
}
