package notify

import (
	"time"

	"outrigger/internal/identity"
)

// LoggedEvent is an event as the log keeps it, or a webhook that held none.
type LoggedEvent struct {
	ID         int64
	Connection string
	Hook       string // the name of the one it came in by; "" is the connection's own
	Key        string // the platform's own event key
	ReceivedAt time.Time
	Outcome    Outcome
	Reason     string // why it was not understood, or is not delivered
	Project    string // keys; empty where the webhook held no event
	Repository string
	Generation int64  // of the rules that judged it
	Rules      int    // how many took it
	Deliveries int    // how many are kept
	Event      *Event // nil where it held none, or what is stored cannot be read
	BodySize   int    // of the body that is kept where it was not understood

	FirstDelivery int64 // no delivery of the event has a lower id; 0: it had none
}

// Fate is what became of an event, as lists are filtered by it.
type Fate string

const (
	EventTaken         Fate = "taken"          // by a rule or more
	EventNotTaken      Fate = "not_taken"      // understood, and no rule took it
	EventSilent        Fate = "silent"         // understood, and nothing that a rule could take
	EventUnknown       Fate = "unknown"        // an event key that is not known here
	EventNotUnderstood Fate = "not_understood" // kept with its body
)

// Fates lists the fates, in the order in which people are offered them.
func Fates() []Fate {
	return []Fate{EventTaken, EventNotTaken, EventSilent, EventUnknown, EventNotUnderstood}
}

// Fate of the event.
func (e *LoggedEvent) Fate() Fate {
	switch {
	case e.Outcome != Understood:
		return Fate(e.Outcome)
	case e.Rules > 0:
		return EventTaken
	}
	return EventNotTaken
}

// Withheld reports whether the event is not delivered; Reason says why.
func (e *LoggedEvent) Withheld() bool { return e.Outcome == Understood && e.Reason != "" }

// VisibleTo reports whether the principal administers what the event is about.
func (e *LoggedEvent) VisibleTo(who *identity.Principal) bool {
	return who.May(AccessOf(e.Connection, e.Project, e.Repository))
}

// AccessOf is the permission that events of a place need. Those of no project
// are everybody's who is an ADMIN.
func AccessOf(connection, project, repository string) (identity.Permission, identity.Resource) {
	r := Rule{Connection: connection, ProjectKey: project, RepositoryKey: repository}
	return r.Access()
}

// EventFilter narrows a list of events; zero members ask nothing. REST, the
// console and the command line share it.
type EventFilter struct {
	Connection string
	Project    string  // compared without case
	Repository string  // likewise
	Types      TypeSet // events of any of them; none: of all
	Fate       Fate
	Understood bool      // only those that held an event
	Since      time.Time // received then or later
	Until      time.Time // received before
	Before     int64     // events with a lower id only: the page after it
	Limit      int       // at most 1,000

	// Places, where not nil, are all that the list may hold: projects, and
	// repositories. Events.List sets it.
	Places []identity.Resource
}

// EventPage is a page of events, the newest first.
type EventPage struct {
	Events []LoggedEvent
	// Next is Before of the next page; 0: there is none. A page that looked
	// through many events in vain may be short, and not be the last.
	Next int64
}
