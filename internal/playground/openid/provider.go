// Package openid plays an OpenID Connect provider: discovery, the authorization
// code with PKCE, signed ID tokens, userinfo and a key set, as the specification
// says.
//
// Sources: https://openid.net/specs/openid-connect-core-1_0.html and
// https://openid.net/specs/openid-connect-discovery-1_0.html
package openid

import (
	"sync"
	"time"
)

// Options say what the provider knows at first.
type Options struct {
	Accounts []Account
	Client   Client
	// InBody has clients show their secret in the body of a request, not as Basic.
	InBody bool
	// NamesItself has browsers come back with the issuer (RFC 9207).
	NamesItself bool
	Clock       func() time.Time
}

// Account is who can sign in. Claims are in the ID token, Info only in the answer of
// the userinfo endpoint.
type Account struct {
	Subject      string
	Claims, Info map[string]any
}

// Client is the program that may have users sign in.
type Client struct{ ID, Secret, Callback string }

// Provider is an OpenID Connect provider. It is safe for concurrent use.
type Provider struct {
	o Options

	mu       sync.Mutex
	accounts map[string]*Account // by subject
	client   Client
	codes    map[string]*code
	tokens   map[string]string    // subjects by access token
	shown    map[string]time.Time // when accounts were signed in, by subject
	key      Key
}

// New makes a provider that works.
func New(o Options) *Provider {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	p := &Provider{
		o: o, accounts: map[string]*Account{}, client: o.Client,
		codes: map[string]*code{}, tokens: map[string]string{}, shown: map[string]time.Time{}, key: NewKey(),
	}
	for _, a := range o.Accounts {
		p.SetAccount(a)
	}
	return p
}

// RotateKey has a new key sign from now on; the one before is gone.
func (p *Provider) RotateKey() {
	key := NewKey()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = key
}

// SetClient puts a client in place of the one there was.
func (p *Provider) SetClient(c Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client = c
}

// SetAccount adds an account, or puts one in place of that of its subject.
func (p *Provider) SetAccount(a Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts[a.Subject] = &a
}
