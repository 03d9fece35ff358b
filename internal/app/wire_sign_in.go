package app

import (
	"context"
	"fmt"
	"net/url"

	"outrigger/internal/identity"
	"outrigger/internal/identity/oidc"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc/client"
)

// The ways to sign in on the pages of others, as they are in addresses.
const (
	wayOfPlatform   = "platform"
	waySingleSignOn = "oidc"
)

// callback is where the provider of a way sends browsers back to.
func (a *App) callback(way string) string { return a.URL() + "/sign-in/" + way + "/callback" }

// usePlatformPages has users of the platform sign in on its own pages. present is the
// connection as it is whenever they do.
func (a *App) usePlatformPages(platforms *client.Client, connection *notify.Connection, present func() *notify.Connection) {
	name := connection.Name
	if u, err := url.Parse(connection.BaseURL); err == nil {
		name = u.Host
	}
	a.identity.UseSignInProvider(identity.SignInProvider{ID: wayOfPlatform, Name: name, Source: connection.Name, Provider: &client.SignInPages{
		Client: platforms, Connection: present, Name: name, Callback: a.callback(wayOfPlatform),
	}})
}

// openSingleSignOn has users sign in with the OpenID Connect provider. It is not
// asked yet: while it is away, others work.
func (a *App) openSingleSignOn(context.Context) error {
	o := a.cfg.Identity.OIDC
	if !o.On() {
		return nil
	}
	provider, err := oidc.New(oidc.Options{
		OIDC: o, Callback: a.callback(waySingleSignOn),
		Issued: a.outgoing.Trusted(), Named: a.outgoing.Webhook(), Clock: a.clock,
	})
	if err != nil {
		return fmt.Errorf("open single sign-on: %w", err)
	}
	a.identity.UseSignInProvider(identity.SignInProvider{
		ID: waySingleSignOn, Name: o.Name, Source: a.singleSignOnSource(), Provider: provider, AllowedGroups: o.AllowedGroups,
		Reconfirms: true, Page: a.URL() + "/sign-in/" + waySingleSignOn,
	})
	return nil
}

// singleSignOnSource is the source of the users whom single sign-on names.
func (a *App) singleSignOnSource() string {
	if a.cfg.Identity.Platform != "" {
		return a.cfg.Identity.Platform
	}
	return identity.SingleSignOn
}
