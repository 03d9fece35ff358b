// Package cardtest holds what every format of chat messages promises.
package cardtest

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/notifytest"
)

// Format is one format of chat messages.
type Format struct {
	Card   func(c card.Card) []byte
	Digest func(events []*notify.Event, mentions []card.Mention) (message []byte, taken int)
	// Check fails t where a message is not what the chat platform takes.
	Check func(t rapid.TB, message []byte)
	// Shown is all that a reader of a message sees, as the chat platform formats it. It
	// fails t where anything is formatted that we did not mean to.
	Shown func(t rapid.TB, message []byte) string
	// Texts are long texts that take more room in this format than typed.
	Texts []*rapid.Generator[string]
	// Most is how long the lists of a card are drawn at most.
	Most int
}

// Run tests a format. Its golden files are in testdata of the calling package.
func Run(t *testing.T, f Format) {
	t.Run("the golden message of every event", f.golden)
	t.Run("the golden messages of reports", f.reports)
	t.Run("the golden digest", f.digest)
	t.Run("any card fits", f.anyCard)
	t.Run("any digest fits", f.anyDigest)
	t.Run("a digest uses its room", f.room)
	t.Run("what users typed is shown as typed", f.typed)
	t.Run("what users typed is shown as typed in a digest", f.typedDigest)
}

func (f Format) golden(t *testing.T) {
	for _, x := range notify.EventTypes() {
		e := sample.Event(x)
		message := f.Card(card.New(&e))
		if err := notifytest.Golden(x.String(), message); err != nil {
			t.Error(err)
		}
		f.Check(t, message)
	}
}

func (f Format) reports(t *testing.T) {
	for name, e := range map[string]notify.Event{
		"REPORT": sample.Report(32, 28), "REPORT.none_inactive": sample.Report(32, 0), "REPORT.none_open": sample.Report(0, 0),
		"REPORT.bare": sample.BareReport(),
	} {
		message := f.Card(card.New(&e))
		if err := notifytest.Golden(name, message); err != nil {
			t.Error(err)
		}
		f.Check(t, message)
	}
}

// DigestEvents returns the events of the digests in golden files, one a minute; one is of
// a repository whose name has characters that formats must escape.
func DigestEvents() []*notify.Event {
	var events []*notify.Event
	for i, x := range []notify.EventType{notify.BranchCreated, notify.PullRequestMerged, notify.BuildStatusSet, notify.ProjectFieldEdited} {
		e := sample.Event(x)
		e.At = time.Date(2026, 11, 5, 7, 28+i, 0, 0, time.UTC)
		events = append(events, &e)
	}
	events[1].Repository = notify.Repository{Key: "outrigger", Name: "out_rigger & <co>"}
	return events
}

func (f Format) digest(t *testing.T) {
	events := DigestEvents()
	message, taken := f.Digest(events, nil)
	if taken != len(events) {
		t.Errorf("%d of %d events", taken, len(events))
	}
	if err := notifytest.Golden("digest", message); err != nil {
		t.Error(err)
	}
	f.Check(t, message)
}

func (f Format) anyCard(t *testing.T) {
	text := rapid.OneOf(append([]*rapid.Generator[string]{rapid.String()}, f.Texts...)...)
	address := rapid.Map(text, func(s string) string { return "https://h/" + s })
	rapid.Check(t, func(t *rapid.T) {
		c := card.Card{Title: "x" + text.Draw(t, "title"), Branch: text.Draw(t, "branch"), Text: text.Draw(t, "text"),
			Kind: card.Kind(rapid.IntRange(0, 9).Draw(t, "kind"))}
		for range rapid.IntRange(0, f.Most).Draw(t, "n") {
			c.Facts = append(c.Facts, notify.Fact{Name: text.Draw(t, "name"), Value: text.Draw(t, "value")})
			c.Commits = append(c.Commits, card.Commit{ID: text.Draw(t, "id"), Message: text.Draw(t, "message"), URL: address.Draw(t, "url")})
			c.Items = append(c.Items, card.Item{Title: text.Draw(t, "title"), URL: address.Draw(t, "url"), Detail: text.Draw(t, "detail")})
			c.Links = append(c.Links, card.Link{Title: text.Draw(t, "label"), URL: address.Draw(t, "url")})
		}
		f.Check(t, f.Card(c))
	})
}

// anyDigest: of events that are too many or too long it takes the first ones, as
// many as there is room for; written again, they are the same message.
func (f Format) anyDigest(t *testing.T) {
	name := rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return strings.Repeat("*", n) }))
	rapid.Check(t, func(t *rapid.T) {
		var events []*notify.Event
		for range rapid.IntRange(1, 70).Draw(t, "events") {
			events = append(events, &notify.Event{
				Types: []notify.EventType{notify.PullRequestOpened}, Actor: notify.User{Name: name.Draw(t, "who")},
				Project: notify.Project{Key: "P"}, Repository: notify.Repository{Key: name.Draw(t, "repository")},
				PullRequest: &notify.PullRequest{ID: 7, Title: name.Draw(t, "title")}, URL: "https://h/" + name.Draw(t, "url"),
			})
		}
		message, taken := f.Digest(events, nil)
		f.Check(t, message)
		if taken < 1 || taken > len(events) || taken > 50 {
			t.Fatalf("%d of %d events", taken, len(events))
		}
		with, n := f.Digest(events, []card.Mention{{Name: "Grace Hopper", ID: "grace@example.com"},
			{Name: strings.Repeat("é", 60), ID: strings.Repeat("x", 113)}})
		f.Check(t, with)
		if n != taken {
			t.Fatalf("%d events with mentions, %d without", n, taken)
		}
		if again, n := f.Digest(events[:taken], nil); n != taken || string(again) != string(message) {
			t.Fatalf("the same %d events make another message, of %d", taken, n)
		}
	})
}

func (f Format) room(t *testing.T) {
	var events []*notify.Event
	for range 60 {
		e := sample.Event(notify.PullRequestOpened)
		events = append(events, &e)
	}
	if message, taken := f.Digest(events, nil); taken < 30 {
		t.Errorf("only %d ordinary events have room in it: %d bytes", taken, len(message))
	}
}

// Benchmark measures the message of one event.
func (f Format) Benchmark(b *testing.B) {
	e := sample.Event(notify.PullRequestOpened)
	b.ReportAllocs()
	for b.Loop() {
		if len(f.Card(card.New(&e))) == 0 {
			b.Fatal("nothing")
		}
	}
}
