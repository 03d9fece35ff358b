package notify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RuleVersion is a rule as it was when an event was judged.
type RuleVersion struct {
	Rule
	Channel Channel // without its standing

	// Changed is when the rule was next changed or deleted; zero: it is still so.
	Changed   time.Time
	ChangedBy string
	Deleted   bool // the rule is not there any more
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

// String writes the cursor as ParseVersionCursor reads it.
func (c *VersionCursor) String() string { return fmt.Sprintf("%d.%d", c.Place, c.Rule) }

// ParseVersionCursor reads a cursor; "" is the beginning.
func ParseVersionCursor(s string) (c VersionCursor, err error) {
	if s == "" {
		return c, nil
	}
	place, rule, _ := strings.Cut(s, ".")
	if c.Place, err = strconv.Atoi(place); err == nil {
		c.Rule, err = strconv.ParseInt(rule, 10, 64)
	}
	if err == nil && (c.Place < 0 || c.Rule < 0) {
		err = strconv.ErrRange
	}
	return c, err
}

// PlacesOf are the places whose rules may take an event, the narrowest first.
// A rename is also taken by the rules that still have the old keys.
func PlacesOf(e *Event) []Scope {
	at := Scope{e.Project.Key, e.Repository.Key}
	from := at
	if by, ok := e.KeyChange(); ok {
		from = by.From
	}
	var places []Scope
	add := func(s Scope) {
		if !slices.Contains(places, s) {
			places = append(places, s)
		}
	}
	for _, s := range []Scope{at, from} {
		if s.RepositoryKey != "" {
			add(s.Folded())
		}
	}
	for _, s := range []Scope{at, from} {
		if s.ProjectKey != "" {
			add(Scope{ProjectKey: s.ProjectKey}.Folded())
		}
	}
	return append(places, Scope{})
}
