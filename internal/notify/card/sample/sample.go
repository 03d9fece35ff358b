// Package sample has an event of every type, as real ones look: what the console
// and the API preview, what a test message shows, and what golden files hold.
package sample

import (
	_ "embed"
	"encoding/json"
	"sync"

	"outrigger/internal/notify"
)

//go:embed events.json
var text []byte

// events are members of the events of all types, of those of a category, and of each
// type, later ones in place of earlier ones.
var events = sync.OnceValue(func() (e struct {
	All        json.RawMessage
	Categories map[string]json.RawMessage
	Types      map[string]json.RawMessage
}) {
	mustDecode(text, &e)
	return e
})

func mustDecode(text json.RawMessage, into any) {
	if text == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		panic(err) // golden files have every event
	}
}

// Event is an event whose first type is t, with all that a decoder can know of
// it and with characters that chat platforms take for markup.
func Event(t notify.EventType) notify.Event {
	e := notify.Event{Types: []notify.EventType{t}}
	for _, members := range []json.RawMessage{events().All, events().Categories[t.Category()], events().Types[t.String()]} {
		mustDecode(members, &e)
	}
	return e
}
