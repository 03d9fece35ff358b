package app

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"outrigger/internal/playground/openid"
	"outrigger/internal/secret"
)

// demoAdmins is the group of the played provider whose members have ADMIN.
const demoAdmins = "outrigger-admins"

// demoSignOn is the OpenID Connect provider that the demo plays. It has a server of
// its own, since an issuer's configuration is at the root of its address.
type demoSignOn struct {
	*openid.Provider
	server *http.Server
}

// playSignOn has users sign in on the played provider's pages, too.
func (d *Demo) playSignOn(ctx context.Context) error {
	host, _, err := net.SplitHostPort(d.cfg.Listen)
	if err != nil {
		return fmt.Errorf("read the address to listen on: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return fmt.Errorf("open the sign-on provider's listener: %w", err)
	}
	url := "http://" + reachable(l.Addr())
	provider := openid.New(openid.Options{Clock: d.clock, Accounts: []openid.Account{
		{Subject: "ada", Claims: map[string]any{"preferred_username": "ada", "groups": []string{"engine", demoAdmins}}},
		{Subject: "grace", Claims: map[string]any{"preferred_username": "grace", "groups": []string{"engine"}}},
	}})
	d.signOn = &demoSignOn{provider, d.play(l, "sign-on provider", provider.Handler())}
	o := &d.cfg.Identity.OIDC
	o.Issuer, o.ClientID, o.ClientSecret, o.Name = url, "outrigger", secret.New(secret.Random(24)), "the played provider"
	o.GroupsClaim, o.AdminGroups = "groups", []string{demoAdmins}
	return nil
}

// openSignOn has browsers come back to the console from the provider's page.
func (d *Demo) openSignOn() {
	o := &d.cfg.Identity.OIDC
	d.signOn.SetClient(openid.Client{ID: o.ClientID, Secret: o.ClientSecret.Reveal(), Callback: d.callback(waySingleSignOn)})
}

func (s *demoSignOn) close() error { return s.server.Close() }
