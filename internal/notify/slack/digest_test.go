package slack

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

func TestDigestGolden(t *testing.T) {
	var events []*notify.Event
	for i, x := range []notify.EventType{notify.BranchCreated, notify.PullRequestMerged, notify.BuildStatusSet, notify.ProjectFieldEdited} {
		e := sample.Event(x)
		e.At = time.Date(2026, 11, 5, 7, 28+i, 0, 0, time.UTC)
		events = append(events, &e)
	}
	events[1].Repository = notify.Repository{Key: "outrigger", Name: "out_rigger & <co>"}
	message, taken := AppendDigest(nil, events, nil)
	if taken != len(events) {
		t.Errorf("%d of %d events", taken, len(events))
	}
	if err := notifytest.Golden("digest", message); err != nil {
		t.Error(err)
	}
	check(t, message)
}

// Of events that are too many or too long it takes the first ones, as many as
// there is room for; written again, they are the same message.
func TestAnyDigestFits(t *testing.T) {
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
		message, taken := AppendDigest(nil, events, nil)
		check(t, message)
		if taken < 1 || taken > len(events) || taken > 50 {
			t.Fatalf("%d of %d events", taken, len(events))
		}
		with, n := AppendDigest(nil, events, []card.Mention{{Name: "Grace Hopper", ID: "grace@example.com"}, {Name: strings.Repeat("é", 60), ID: strings.Repeat("x", 113)}})
		check(t, with)
		if n != taken {
			t.Fatalf("%d events with mentions, %d without", n, taken)
		}
		if again, n := AppendDigest(nil, events[:taken], nil); n != taken || string(again) != string(message) {
			t.Fatalf("the same %d events make another message, of %d", taken, n)
		}
	})
}

func TestADigestUsesItsRoom(t *testing.T) {
	var events []*notify.Event
	for range 60 {
		e := sample.Event(notify.PullRequestOpened)
		events = append(events, &e)
	}
	if message, taken := AppendDigest(nil, events, nil); taken < 30 {
		t.Errorf("only %d ordinary events have room in it: %d bytes", taken, len(message))
	}
}
