// Package bitbucket plays the self-hosted code-hosting platform: the part of
// its REST API that is asked for users, groups, permissions, projects,
// pull requests, webhooks and builds, as the vendor documents it.
//
// Source: https://developer.atlassian.com/server/bitbucket/rest/
package bitbucket

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say what the platform holds and how it answers. The zero value is empty
// and lets everybody ask.
type Options struct {
	Users    []User
	Groups   map[string][]string // user names by group
	Projects []Project
	Token    string          // also lets its bearer ask, with every permission; "": none
	Links    map[string]Link // by client id

	// MaxPage is the most values that a page has, whatever limit says; 0: 1,000.
	MaxPage int
	// ISODates writes times as ISO 8601, not as milliseconds.
	ISODates bool
	// UnknownEvents are event keys that this version does not know.
	UnknownEvents []string
	// LinksTo is what links begin with; "" is the address that is asked.
	LinksTo string
	Clock   func() time.Time
}

// User is an account. Permission is the global one, "" for a user who has
// nothing but a licence.
type User struct {
	Name, DisplayName, Email string
	Password                 string
	Permission               string // ADMIN or SYS_ADMIN
	Inactive                 bool   // lists say so; the password is taken all the same
}

// Project is a project with its repositories.
type Project struct {
	Key, Name    string
	ID           int64
	Admins       []string // names of users, and of groups with an @ before them
	Repositories []Repository
}

// Repository is a repository of a project.
type Repository struct {
	Slug         string
	ID           int64
	Admins       []string
	Readers      []string // who may read it besides those who administer it; nil: all
	PullRequests []PullRequest
}

// Platform is a self-hosted platform. It is safe for concurrent use.
type Platform struct {
	mu       sync.Mutex
	o        Options
	webhooks []*Webhook
	lastID   int64
	builds   map[string][]Build // by commit
	codes    map[string]*code
	tokens   map[string]oauthToken
}

// New makes a platform that works.
func New(o Options) *Platform {
	if o.MaxPage == 0 {
		o.MaxPage = 1000
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Users, o.Projects, o.Groups = slices.Clone(o.Users), slices.Clone(o.Projects), maps.Clone(o.Groups)
	return &Platform{o: o, builds: map[string][]Build{}, codes: map[string]*code{}, tokens: map[string]oauthToken{}}
}

// Change changes what the platform holds.
func (p *Platform) Change(do func(*Options)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(&p.o)
}

// Move changes the key of a project, with all that is in it.
func (p *Platform) Move(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if project := p.o.Project(from); project != nil {
		for _, w := range p.webhooks {
			if w.Project == project.Key {
				w.Project = to
			}
		}
		project.Key = to
	}
}

// Project returns a project by its key, which has no case; nil where there is none.
func (o *Options) Project(key string) *Project {
	for i := range o.Projects {
		if strings.EqualFold(o.Projects[i].Key, key) {
			return &o.Projects[i]
		}
	}
	return nil
}

// Repository returns a repository by its slug, which has no case; nil where there is
// none.
func (p *Project) Repository(slug string) *Repository {
	for i := range p.Repositories {
		if strings.EqualFold(p.Repositories[i].Slug, slug) {
			return &p.Repositories[i]
		}
	}
	return nil
}

// User returns the user of that name; nil where there is none.
func (o *Options) User(name string) *User {
	for i := range o.Users {
		if o.Users[i].Name == name {
			return &o.Users[i]
		}
	}
	return nil
}

// holds reports whether a list of administrators names the user, or a group that
// has them; mu is held.
func (p *Platform) holds(admins []string, user string) bool {
	return slices.ContainsFunc(admins, func(name string) bool {
		if group, ok := strings.CutPrefix(name, "@"); ok {
			return slices.Contains(p.members(group), user)
		}
		return name == user
	})
}
