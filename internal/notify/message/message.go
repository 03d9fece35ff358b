// Package message writes what a chat platform is sent: a card, a digest or a
// test, in the format of its channel.
package message

import (
	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/slack"
	"outrigger/internal/notify/teams"
)

// Card writes a card's message: Slack's for notify.Slack, else that of Teams.
func Card(c card.Card, format notify.Format) []byte {
	if format == notify.Slack {
		return slack.Card(c)
	}
	return teams.Card(c)
}

// Digest writes one message about as many of the events, from the first on, as
// have room in it, and tells how many they are; see card.Fit for mentions.
func Digest(events []*notify.Event, mentions []card.Mention, format notify.Format) (message []byte, taken int) {
	if format == notify.Slack {
		return slack.Digest(events, mentions)
	}
	return teams.Digest(events, mentions)
}

// Preview is the card of an event type, of an event that never was.
func Preview(t notify.EventType) card.Card {
	e := sample.Event(t)
	return card.New(&e)
}

// Test is the card of a test message: the first event type's, which says that it
// is a test; without types one that says only that.
func Test(types []notify.EventType) card.Card {
	if len(types) == 0 {
		return card.Card{Kind: card.Info, Title: "A test message from Outrigger", Text: "Messages of this channel's rules arrive here."}
	}
	c := Preview(types[0])
	c.Title = "Test: " + c.Title
	c.Links = nil // they lead to what never was
	for i := range c.Commits {
		c.Commits[i].URL = ""
	}
	return c
}
