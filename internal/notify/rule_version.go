package notify

import (
	"time"

	"outrigger/internal/identity"
)

// RuleVersion is a rule as it was when an event was judged.
type RuleVersion struct {
	Rule
	Channel Channel // without its standing

	// Changed is when the rule was next changed or deleted; zero: it is still so.
	Changed   time.Time
	ChangedBy string
}

// VersionQuery asks for the rules of a moment that could concern an event.
type VersionQuery struct {
	Generation int64
	Connection string
	Places     []Scope // whose own rules are meant, in this order; the zero one has the global rules
	After      VersionCursor
	Limit      int
}

// VersionCursor is the last rule of a page: the index of its place, and its id.
type VersionCursor struct {
	Place int
	Rule  int64
}

// placesOf are the places whose rules may take an event, the narrowest first.
// A rename is also taken by the rules that still have the old keys.
func placesOf(e *Event) []Scope {
	at := Scope{e.Project.Key, e.Repository.Key}
	from := at
	if by, ok := e.KeyChange(); ok {
		from = Scope(by.From)
	}
	var places []Scope
	add := func(s Scope) {
		for _, p := range places {
			if p == s {
				return
			}
		}
		places = append(places, s)
	}
	for _, s := range []Scope{at, from} {
		if s.RepositoryKey != "" {
			add(s.folded())
		}
	}
	for _, s := range []Scope{at, from} {
		if s.ProjectKey != "" {
			add(Scope{ProjectKey: s.ProjectKey}.folded())
		}
	}
	return append(places, Scope{})
}

func (s Scope) folded() Scope { return Scope{Fold(s.ProjectKey), Fold(s.RepositoryKey)} }

// administeredBy tells whether the principal administers the rule.
func (v *RuleVersion) administeredBy(who *identity.Principal) bool { return who.May(v.Access()) }
