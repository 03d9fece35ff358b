// Package choices finds what the fields of rules and reports can name: projects,
// repositories, users and groups of a platform, for who may know of them.
package choices

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
)

const (
	// most is how many are answered at once.
	most = 50
	// minLetters of the name of a user or group have to be typed first.
	minLetters = 3
	// maxText is how long the text may be, in characters.
	maxText = 255
	// asksPerMinute is how often a user may ask.
	asksPerMinute = 60
)

// Kind is what is looked for.
type Kind string

const (
	Projects     Kind = "projects"
	Repositories Kind = "repositories"
	Users        Kind = "users"
	Groups       Kind = "groups"
)

// people reports whether they are users or groups.
func (k Kind) people() bool { return k == Users || k == Groups }

// Query is what is looked for, for a rule or report of a place: without keys, of a
// whole connection.
type Query struct {
	Kind          Kind
	Connection    string
	ProjectKey    string
	RepositoryKey string
	Text          string // as typed so far
}

// Answer is what was found, and what is to be said about it.
type Answer struct {
	Found []notify.Found `json:"found"`
	More  bool           `json:"more,omitempty"` // than were answered
	Note  string         `json:"note,omitempty"`
}

// Platform is asked for what it has, at most limit of it; more reports whether there
// are others. *client.Client of the self-hosted platform.
type Platform interface {
	SearchProjects(ctx context.Context, c *notify.Connection, text string, limit int) (found []notify.Found, more bool, err error)
	SearchRepositories(ctx context.Context, c *notify.Connection, project, text string, limit int) (found []notify.Found, more bool, err error)
	SearchUsers(ctx context.Context, c *notify.Connection, text string, limit int) (found []notify.Found, more bool, err error)
	SearchGroups(ctx context.Context, c *notify.Connection, text string, limit int) (found []notify.Found, more bool, err error)
}

// Options are what a Service needs.
type Options struct {
	Platform  Platform
	Platforms func() *notify.Platforms
	// Known lists repositories that who asks administers, without asking a platform.
	Known func(ctx context.Context) ([]identity.Resource, error)
	Clock func() time.Time
}

// Service answers.
type Service struct {
	Options
	people limit.PerMinute[string] // by the user

	mu     sync.Mutex
	silent map[string]time.Time // until when a connection is not asked
}

// New makes a Service.
func New(o Options) *Service { return &Service{Options: o, silent: make(map[string]time.Time)} }

// Ask answers what there is. fault.Forbidden: users and groups are for who
// administers the place; fault.RateLimited: who asks has asked too often. That a
// platform does not answer is no error: the answer says so.
func (s *Service) Ask(ctx context.Context, q Query) (Answer, error) {
	q.Text = strings.TrimSpace(q.Text)
	c, err := s.check(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	who := identity.From(ctx)
	if wait := s.people.Take(who.Ref(), asksPerMinute, s.Clock()); wait > 0 {
		return Answer{}, fault.TooOften(wait, "You have searched %d times within a minute. Type the name.", asksPerMinute)
	}
	if q.Kind.people() && utf8.RuneCountInString(q.Text) < minLetters {
		return Answer{Found: []notify.Found{}, Note: "Type at least 3 letters to search."}, nil
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

// check finds the connection, and reports whether who asks may.
func (s *Service) check(ctx context.Context, q Query) (*notify.Connection, error) {
	switch {
	case q.Kind != Projects && q.Kind != Repositories && !q.Kind.people():
		return nil, fault.InvalidField("kind", "Ask for projects, repositories, users or groups.")
	case utf8.RuneCountInString(q.Text) > maxText:
		return nil, fault.InvalidField("text", "Type at most %d characters.", maxText)
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
