package oidc

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

const (
	// discoveredFor is how long the provider's configuration and its keys are taken
	// for granted: a key that it withdraws counts for no longer.
	discoveredFor = time.Hour
	// failedFor is how long a failed discovery is not tried again, so that
	// strangers cannot have the provider asked all the time.
	failedFor = 5 * time.Second
)

// discovered is the provider's configuration.
type discovered struct {
	provider *gooidc.Provider
	verifier *gooidc.IDTokenVerifier
	client   oauth2.Config

	namesItself bool // the answers that browsers bring name it (RFC 9207)
}

// discovery asks for the configuration when it is needed.
type discovery struct {
	asking singleflight.Group

	mu     sync.Mutex
	last   *discovered
	err    error     // of the last attempt
	tried  time.Time // the last attempt
	latest time.Time // the last success
}

// discover returns the provider's configuration. While the provider does not answer,
// the one before stays.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	d := &p.discovery
	known := func() (*discovered, error, bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		now := p.o.Clock()
		fresh := d.last != nil && now.Sub(d.latest) < discoveredFor
		if fresh || now.Sub(d.tried) < failedFor {
			if d.last != nil {
				return d.last, nil, true
			}
			return nil, d.err, d.err != nil
		}
		return nil, nil, false
	}
	if found, err, ok := known(); ok {
		return found, err
	}
	asked := d.asking.DoChan("", func() (any, error) {
		if found, err, ok := known(); ok {
			return found, err
		}
		// Others wait for the answer too, who stay when this one leaves.
		found, err := p.ask(context.WithoutCancel(ctx))
		d.mu.Lock()
		defer d.mu.Unlock()
		d.tried, d.err = p.o.Clock(), err
		if err == nil {
			d.last, d.latest = found, d.tried
		}
		if d.last != nil {
			return d.last, nil
		}
		return nil, err
	})
	select {
	case a := <-asked:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Val.(*discovered), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ask reads the configuration (OpenID Connect Discovery 1.0, 4).
func (p *Provider) ask(ctx context.Context) (*discovered, error) {
	ctx = p.withClient(ctx)
	provider, err := gooidc.NewProvider(ctx, p.o.Issuer)
	if err != nil {
		return nil, fmt.Errorf("reading the provider's configuration: %w", shortened(err))
	}
	var more struct {
		Keys string   `json:"jwks_uri"`
		Auth []string `json:"token_endpoint_auth_methods_supported"`
		Iss  bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := provider.Claims(&more); err != nil {
		return nil, fmt.Errorf("reading the provider's configuration: %w", shortened(err))
	}
	endpoint := provider.Endpoint()
	for name, address := range map[string]string{
		"authorization_endpoint": endpoint.AuthURL, "token_endpoint": endpoint.TokenURL, "jwks_uri": more.Keys,
	} {
		if err := p.judge(address); err != nil {
			return nil, fmt.Errorf("the provider's configuration has a wrong %s: %w", name, err)
		}
	}
	endpoint.AuthStyle = oauth2.AuthStyleInHeader // the default, where the provider lists nothing
	if len(more.Auth) > 0 && !slices.Contains(more.Auth, "client_secret_basic") && slices.Contains(more.Auth, "client_secret_post") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &discovered{
		provider: provider,
		verifier: provider.VerifierContext(ctx, &gooidc.Config{ClientID: p.o.ClientID, Now: p.lenient}),
		client: oauth2.Config{
			ClientID: p.o.ClientID, ClientSecret: p.o.ClientSecret.Reveal(), Endpoint: endpoint, RedirectURL: p.o.Callback, Scopes: p.o.Scopes,
		},
		namesItself: more.Iss,
	}, nil
}

// judge says what is wrong with an endpoint: it may have no weaker transport than
// the issuer.
func (p *Provider) judge(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return fmt.Errorf("%.100q is not a URL", address)
	case u.Scheme != "https" && u.Scheme != p.transport.issuer.Scheme:
		return fmt.Errorf("%.100q is not https", address)
	}
	return nil
}
