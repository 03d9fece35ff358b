// Package bitbucket plays the self-hosted code-hosting platform: the part of
// its REST API that is asked for users, groups, permissions, projects,
// pull requests, webhooks and builds, as the vendor documents it.
//
// Source: https://developer.atlassian.com/server/bitbucket/rest/
package bitbucket

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say what the platform holds at first. The zero value is empty and
// lets everybody ask.
type Options struct {
	Users    []User
	Groups   map[string][]string // user names by group
	Projects []Project
	Token    string // also lets its bearer ask, with every permission; "": none
	Links    []Link

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
	o Options

	mu       sync.Mutex
	users    []User
	groups   map[string][]string
	projects []Project
	webhooks []*Webhook
	lastID   int64
	builds   map[string][]Build // by commit
	links    []Link
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
	p := &Platform{o: o, users: slices.Clone(o.Users), groups: map[string][]string{}, projects: slices.Clone(o.Projects),
		builds: map[string][]Build{},
		links:  slices.Clone(o.Links), codes: map[string]*code{}, tokens: map[string]oauthToken{},
	}
	for group, names := range o.Groups {
		p.groups[group] = slices.Clone(names)
	}
	return p
}

// SetGroup says who is in a group from now on.
func (p *Platform) SetGroup(group string, names ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.groups[group] = names
}

// SetUser adds a user, or puts one in place of the one of exactly that name.
func (p *Platform) SetUser(u User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users = slices.DeleteFunc(p.users, func(o User) bool { return o.Name == u.Name })
	p.users = append(p.users, u)
}

// SetAdmins says who administers a project from now on, or with a slug one of
// its repositories.
func (p *Platform) SetAdmins(key, slug string, admins ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	project := p.project(key)
	if project == nil {
		return
	}
	if slug == "" {
		project.Admins = admins
	} else if r := project.repository(slug); r != nil {
		r.Admins = admins
	}
}

// AddProject adds a project.
func (p *Platform) AddProject(project Project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.projects = append(p.projects, project)
}

// Move changes the key of a project, with all that is in it.
func (p *Platform) Move(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if project := p.project(from); project != nil {
		for _, w := range p.webhooks {
			if w.Project == project.Key {
				w.Project = to
			}
		}
		project.Key = to
	}
}

// project returns a project by its key, which has no case; mu is held.
func (p *Platform) project(key string) *Project {
	for i := range p.projects {
		if strings.EqualFold(p.projects[i].Key, key) {
			return &p.projects[i]
		}
	}
	return nil
}

func (p *Project) repository(slug string) *Repository {
	for i := range p.Repositories {
		if strings.EqualFold(p.Repositories[i].Slug, slug) {
			return &p.Repositories[i]
		}
	}
	return nil
}

// holds reports whether a list of administrators names the user, or a group that
// has him; mu is held.
func (p *Platform) holds(admins []string, user string) bool {
	return slices.ContainsFunc(admins, func(name string) bool {
		if group, ok := strings.CutPrefix(name, "@"); ok {
			return slices.Contains(p.members(group), user)
		}
		return name == user
	})
}
