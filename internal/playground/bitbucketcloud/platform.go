// Package bitbucketcloud plays the cloud code-hosting platform: the OAuth 2
// server by which people authorise an app, the part of its REST API that is
// asked for accounts, permissions, pull requests and webhooks, and the webhooks
// that it sends, as the vendor documents it.
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

// Options say what the platform holds and how it answers. The zero value is empty.
type Options struct {
	Accounts     []Account
	Repositories []Repository
	Consumers    []Consumer

	// Site is where the platform is reached, for the links of its answers; "": as
	// the request says.
	Site string
	// MaxPage is the most values that a page has, whatever pagelen says; 0: 50.
	MaxPage int
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

// Account is a person's account.
type Account struct {
	ID, UUID              string
	DisplayName, Nickname string
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
	Workspace, Slug         string
	ProjectKey, ProjectName string
	Permissions             map[string]string // admin, write or read by account id
	PullRequests            []PullRequest
}

func (r *Repository) fullName() string { return r.Workspace + "/" + r.Slug }

// Platform is a cloud platform. It is safe for concurrent use.
type Platform struct {
	mu        sync.Mutex
	o         Options
	consumers map[string]*Consumer // by key
	codes     map[string]*code
	access    map[string]*token
	refresh   map[string]*token
	webhooks  []*Webhook
}

// New makes a platform that works.
func New(o Options) *Platform {
	if o.MaxPage == 0 {
		o.MaxPage = 50
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Accounts, o.Repositories = slices.Clone(o.Accounts), slices.Clone(o.Repositories)
	p := &Platform{
		o: o, consumers: map[string]*Consumer{}, codes: map[string]*code{}, access: map[string]*token{}, refresh: map[string]*token{},
	}
	for _, c := range o.Consumers {
		p.SetConsumer(c)
	}
	return p
}

// Change changes what the platform holds.
func (p *Platform) Change(do func(*Options)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(&p.o)
}

// SetConsumer adds a consumer, or puts one in place of that of its key.
func (p *Platform) SetConsumer(c Consumer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.consumers[c.Key] = &c
}

// Repository returns a repository by its names, which have no case; nil where there
// is none.
func (o *Options) Repository(workspace, slug string) *Repository {
	for i := range o.Repositories {
		if r := &o.Repositories[i]; strings.EqualFold(r.Workspace, workspace) && strings.EqualFold(r.Slug, slug) {
			return r
		}
	}
	return nil
}

// account returns an account by its id; nil where there is none.
func (o *Options) account(id string) *Account {
	for i := range o.Accounts {
		if o.Accounts[i].ID == id {
			return &o.Accounts[i]
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
