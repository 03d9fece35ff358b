// Package bitbucketcloud plays the cloud code-hosting platform: the OAuth 2
// server by which people authorise an app, the part of its REST API that is
// asked for accounts, permissions, pull requests, webhooks and build statuses,
// and the webhooks that it sends, as the vendor documents it.
//
// Sources: https://developer.atlassian.com/cloud/bitbucket/oauth-2/,
// https://developer.atlassian.com/cloud/bitbucket/rest/ and
// https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/. The
// errors of the token endpoint are those that people report of the real one.
package bitbucketcloud

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say what the platform holds at first. The zero value is empty.
type Options struct {
	Accounts     []Account
	Repositories []Repository
	Consumers    []Consumer

	// Scheme and Host are where the platform is reached, for the links of its
	// answers; "": as the request says.
	Scheme, Host string
	// MaxPage is the most values that a page has, whatever pagelen says; 0: 50.
	MaxPage int
	// TokenLife is how long an access token holds; 0: 2 h.
	TokenLife time.Duration
	// RotateRefresh has every refresh token used once; the answer has the next.
	RotateRefresh bool
	// WithoutPKCE ignores code challenges, as the vendor's own platform does so
	// far (BCLOUD-23469).
	WithoutPKCE bool
	// OldRefusal words the refusal of a refresh token as servers did in 2017:
	// invalid_request.
	OldRefusal bool
	// AllowInternal takes webhooks to addresses that are not public.
	AllowInternal bool
	// UnknownEvents are event keys that a webhook may not ask for.
	UnknownEvents []string
	Clock         func() time.Time
}

// Account is a person's account, or with Type another.
type Account struct {
	ID, UUID              string
	DisplayName, Nickname string
	Type                  string // "": user
}

// Consumer is an OAuth consumer. A redirect URI is its Callback or begins with
// it.
type Consumer struct {
	Key, Secret, Name string
	Callback          string
	Scopes            []string
}

// Repository is a repository of a workspace.
type Repository struct {
	Workspace, Slug, Name, UUID string
	ProjectKey, ProjectName     string
	Permissions                 map[string]string // admin, write or read by account id
	PullRequests                []PullRequest
}

func (r *Repository) fullName() string { return r.Workspace + "/" + r.Slug }

// Platform is a cloud platform. It is safe for concurrent use.
type Platform struct {
	o Options

	mu           sync.Mutex
	accounts     []Account
	repositories []*Repository
	consumers    []Consumer
	codes        map[string]*code
	access       map[string]*token
	refresh      map[string]*token
	webhooks     []*Webhook
	statuses     map[string][]Status // by commit
}

// New makes a platform that works.
func New(o Options) *Platform {
	if o.MaxPage == 0 {
		o.MaxPage = 50
	}
	if o.TokenLife == 0 {
		o.TokenLife = 2 * time.Hour
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	p := &Platform{
		o: o, accounts: slices.Clone(o.Accounts), consumers: slices.Clone(o.Consumers),
		codes: map[string]*code{}, access: map[string]*token{}, refresh: map[string]*token{}, statuses: map[string][]Status{},
	}
	for _, r := range o.Repositories {
		p.setRepository(r)
	}
	return p
}

// SetRepository adds a repository, or puts one in place of that of its name.
func (p *Platform) SetRepository(r Repository) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setRepository(r)
}

func (p *Platform) setRepository(r Repository) {
	if r.Name == "" {
		r.Name = r.Slug
	}
	if r.UUID == "" {
		r.UUID = uuid()
	}
	p.repositories = slices.DeleteFunc(p.repositories, func(other *Repository) bool {
		return strings.EqualFold(other.fullName(), r.fullName())
	})
	p.repositories = append(p.repositories, &r)
}

// SetPermission sets the permission of an account on a repository; "" takes it away.
func (p *Platform) SetPermission(workspace, slug, account, permission string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.repository(workspace, slug)
	if r == nil {
		return
	}
	permissions := map[string]string{}
	for id, has := range r.Permissions {
		permissions[id] = has
	}
	if permissions[account] = permission; permission == "" {
		delete(permissions, account)
	}
	r.Permissions = permissions
}

// AddAccount adds an account.
func (p *Platform) AddAccount(a Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts = append(p.accounts, a)
}

// SetConsumer adds a consumer, or puts one in place of that of its key.
func (p *Platform) SetConsumer(c Consumer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.consumers = slices.DeleteFunc(p.consumers, func(other Consumer) bool { return other.Key == c.Key })
	p.consumers = append(p.consumers, c)
}

// repository returns a repository by its names, which have no case; mu is held.
func (p *Platform) repository(workspace, slug string) *Repository {
	for _, r := range p.repositories {
		if strings.EqualFold(r.Workspace, workspace) && strings.EqualFold(r.Slug, slug) {
			return r
		}
	}
	return nil
}

// account returns an account by its id, nil where there is none; mu is held.
func (p *Platform) account(id string) *Account {
	for i := range p.accounts {
		if p.accounts[i].ID == id {
			return &p.accounts[i]
		}
	}
	return nil
}

// uuid makes one as the platform writes it: in braces.
func uuid() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("{%x-%x-%x-%x-%x}", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
