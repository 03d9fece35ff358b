// Package attention serves what needs attention, as the overview lists it, to
// scripts and monitoring.
package attention

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// Path is the path of the list.
const Path = "/rest/outrigger/1.0/attention"

// Attention is what needs attention.
type Attention struct {
	Node  string `json:"node" doc:"The node that answered. What is about a node itself, such as its disk, is about this one." example:"code-1"`
	Items []Item `json:"items" doc:"In the order of the overview."`
}

// Item is one thing that needs attention.
type Item struct {
	Kind     string    `json:"kind" doc:"What it is about, in a fixed word: the label kind of outrigger_attention." example:"channel"`
	Severity string    `json:"severity" enum:"bad,warning" doc:"bad: something has failed, or soon does."`
	Cause    string    `json:"cause" doc:"What is wrong, in a sentence or two."`
	Since    time.Time `json:"since,omitzero" doc:"Since when."`
	Until    time.Time `json:"until,omitzero" doc:"When it ended, of what is over and still needs attention."`
	Link     string    `json:"link,omitempty" doc:"The page about it."`
	Help     *Help     `json:"help,omitempty" doc:"What helps most, where that is known."`
}

// Help is the action that helps most.
type Help struct {
	Text string `json:"text" doc:"The label of the button or link on the overview."`
	Link string `json:"link" doc:"Where it is done."`
}

// Unread is the kind of an item that stands for a part of the overview that could not be
// read.
const Unread = "unread"

// The severities of items.
const (
	bad     = "bad"
	warning = "warning"
)

// API serves the items of the overview.
type API struct {
	Node string
	// List returns the items that the caller may see. With an error, those of the
	// parts that failed are missing.
	List func(context.Context) ([]console.Notice, error)
	Log  *slog.Logger
}

// Register adds the route.
func (a *API) Register(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: Path, Access: rest.Watchers}, rest.Words{
		ID: "getAttention", Tag: "operation", Summary: "Returns what needs attention, as the overview lists it.",
		Text: "Each with its cause, since when, and what helps. A user gets what they may see: the whole list needs `ADMIN`. A token of scope " +
			"`monitoring` gets the whole list, whatever its owner may do, without the words in which servers inside the own network answered. " +
			"A part that cannot be read is an item of the kind `" + Unread + "`.",
		Answer: "What needs attention; no items where nothing does.",
	}, a.read, rest.Example[struct{}, Attention]{Name: "channel", Out: &example, Unsent: true})
}

func (a *API) read(ctx context.Context, _ struct{}) (Attention, error) {
	notices, err := a.List(ctx)
	out := Attention{Node: a.Node, Items: make([]Item, 0, len(notices))}
	for _, failed := range parts(err) {
		out.Items = append(out.Items, a.unread(ctx, failed))
	}
	for i := range notices {
		out.Items = append(out.Items, itemOf(ctx, &notices[i]))
	}
	return out, nil
}

// parts returns the errors that err joins, or err itself.
func parts(err error) []error {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &joined):
		return joined.Unwrap()
	}
	return []error{err}
}

func (a *API) unread(ctx context.Context, err error) Item {
	item := Item{Kind: Unread, Severity: bad, Cause: fault.As(err).Message}
	if fault.As(err).Code == fault.Internal {
		a.Log.ErrorContext(ctx, "a part of what needs attention could not be read", "error", err)
		item.Cause = "A part of what needs attention could not be read. The log of the node has the reason."
	}
	return item
}

func itemOf(ctx context.Context, n *console.Notice) Item {
	item := Item{Kind: n.Kind, Severity: warning, Cause: n.Text, Since: n.Since, Until: n.Until}
	if n.Tone == console.Bad {
		item.Severity = bad
	}
	if n.Link != "" {
		item.Link = rest.Link(ctx, n.Link)
	}
	if r := n.Remedy; r.Label != "" {
		item.Help = &Help{Text: r.Label, Link: rest.Link(ctx, r.Path)}
		if r.Post() { // its button is on the page about it, too
			item.Help.Link = rest.Link(ctx, cmp.Or(n.Link, "/"))
		}
	}
	return item
}

var example = Attention{Node: "code-1", Items: []Item{{
	Kind: "channel", Severity: bad, Cause: "The channel Security is broken: the chat platform answered 404.",
	Since: time.Date(2027, 2, 20, 12, 0, 0, 0, time.UTC), Link: "https://outrigger.example.com/notifications/channels/9",
	Help: &Help{Text: "Try again", Link: "https://outrigger.example.com/notifications/channels/9"},
}}}
