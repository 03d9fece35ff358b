// Package choices suggests values for the fields of rules and reports: projects,
// repositories, users and groups of a platform that the user may see, and channels that
// the user may choose.
package choices

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc/client"
)

const (
	// most is how many values are returned.
	most = 50
	// minLetters is how many letters of the name of a user or group have to be typed
	// first.
	minLetters = 3
	// maxText is how long the text may be, in characters.
	maxText = 255
	// asksPerMinute is how often a user may ask.
	asksPerMinute = 60
)

// Kind is the kind of value to find.
type Kind string

const (
	Projects     Kind = "projects"
	Repositories Kind = "repositories"
	Users        Kind = "users"
	Groups       Kind = "groups"
	Channels     Kind = "channels"
)

// kinds are all that can be asked for.
var kinds = []Kind{Projects, Repositories, Users, Groups, Channels}

// people reports whether k is users or groups.
func (k Kind) people() bool { return k == Users || k == Groups }

// Query asks for values for a rule or report of a place: of a repository, of a project,
// or of a whole connection if there are no keys.
type Query struct {
	Kind          Kind
	Connection    string
	ProjectKey    string
	RepositoryKey string
	Text          string // as typed so far
}

// Answer has the values found, and a note for the user.
type Answer struct {
	Found []notify.Found `json:"found"`
	More  bool           `json:"more,omitempty"` // than were answered
	Note  string         `json:"note,omitempty"`
}

// Options are what a Service needs.
type Options struct {
	Platform  *client.Client
	Platforms func() *notify.Platforms
	// Known lists the repositories that the user administers, without asking a platform.
	Known func(ctx context.Context) ([]identity.Resource, error)
	// Channels finds channels that the user may choose by name; more: there are others.
	Channels func(ctx context.Context, text string, limit int) (found []notify.Found, more bool, err error)
	Clock    func() time.Time
}

// Service answers queries.
type Service struct {
	Options
	asked limit.PerMinute[string] // by the user

	mu     sync.Mutex
	silent map[string]time.Time // until when a connection is not asked
}

// New makes a Service.
func New(o Options) *Service { return &Service{Options: o, silent: make(map[string]time.Time)} }

// Ask returns the values that match. It returns fault.Forbidden if the query is for
// users or groups and the user does not administer the place, and fault.RateLimited
// if the user asks too often. If the platform does not answer, the note says so.
func (s *Service) Ask(ctx context.Context, q Query) (Answer, error) {
	q.Text = strings.TrimSpace(q.Text)
	c, err := s.check(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	who := identity.From(ctx)
	if wait := s.asked.Take(who.Ref(), asksPerMinute, s.Clock()); wait > 0 {
		return Answer{}, fault.TooOften(wait, "You have searched %d times within a minute. Type the name.", asksPerMinute)
	}
	if q.Kind == Channels {
		found, more, err := s.Channels(ctx, q.Text, most)
		return Answer{Found: append([]notify.Found{}, found...), More: more}, err
	}
	if q.Kind.people() && utf8.RuneCountInString(q.Text) < minLetters {
		return Answer{Found: []notify.Found{}, Note: fmt.Sprintf("Type at least %d letters to search.", minLetters)}, nil
	}
	known, err := s.known(ctx, c, q)
	if err != nil {
		return Answer{}, err
	}
	a := &answering{q: q, who: who, of: c.Name, seen: map[string]bool{}}
	a.note = s.ask(ctx, c, a)
	for _, one := range known {
		a.add(one)
	}
	return a.answer(), nil
}

// check returns the connection, or an error if the user may not ask.
func (s *Service) check(ctx context.Context, q Query) (*notify.Connection, error) {
	switch {
	case !slices.Contains(kinds, q.Kind):
		return nil, fault.InvalidField("kind", "Ask for projects, repositories, users, groups or channels.")
	case utf8.RuneCountInString(q.Text) > maxText:
		return nil, fault.InvalidField("text", "Type at most %d characters.", maxText)
	}
	if q.Kind == Channels { // of no connection
		return nil, nil
	}
	all := s.Platforms().Connections.Of(notify.SelfHosted)
	name, err := all.Resolve(q.Connection)
	if err != nil {
		return nil, err
	}
	c := all.Find(name)
	if q.Kind.people() {
		of := notify.Rule{Connection: c.Name, ProjectKey: q.ProjectKey, RepositoryKey: q.RepositoryKey}
		permission, at := of.Access()
		return c, identity.Require(ctx, permission, at)
	}
	return c, nil
}
