package app

import (
	"context"
	"fmt"

	"outrigger/internal/config"
	"outrigger/internal/console"
	"outrigger/internal/egress"
	adminsettings "outrigger/internal/settings"
	settingsapi "outrigger/internal/settings/api"
	settingspages "outrigger/internal/settings/pages"
)

// openOutgoing makes the client of outgoing HTTP, which goes by what
// administrators set.
func (a *App) openOutgoing(ctx context.Context) error {
	out, err := egress.New(egress.Options{
		Policy: egress.Policy{Allowed: a.cfg.Notify.AllowedNetworks, Proxied: a.cfg.Notify.ProxiedHosts},
		CAFile: a.cfg.CAFile, Version: a.o.Version,
	})
	if err != nil {
		return err
	}
	store := adminsettings.NewStore(a.db, a.box, a.log, func(s *adminsettings.Settings) { out.UseProxy(s.Proxy) }, a.identity.RequireConfirmed)
	if err := store.Start(ctx); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	a.steps.addStop("outgoing requests", watchLimit, func() { store.Stop(); out.Close() })
	a.outgoing, a.settings = out, store
	return nil
}

// openSettings adds the routes and the page of the settings.
func (a *App) openSettings(context.Context) error {
	(&settingsapi.API{Store: a.settings, Client: a.outgoing}).Register(a.router)
	(&settingspages.Pages{
		Store: a.settings, Client: a.outgoing, Trouble: func() string { return a.proxyTrouble().Sentence() },
	}).Register(a.pages)
	a.pages.AddOverview(forAdmins(a.overviewExposed))
	return nil
}

// overviewExposed names what is not asked any more because the proxy of the
// settings would read its credentials.
func (a *App) overviewExposed(ctx context.Context) (card console.Card, err error) {
	stored, err := a.settings.Read(ctx)
	if err != nil {
		return card, err
	}
	card = console.Card{Title: "Outgoing proxy", Link: settingspages.Path, Text: "Requests that carry credentials go through the proxy " +
		"of the settings over https only."}
	for _, to := range a.signedIn() {
		if a.outgoing.Exposes(to.URL) {
			card.Attention = append(card.Attention, console.Notice{
				Kind: "exposed", Key: "exposed " + to.Key, Tone: console.Bad, Since: stored.UpdatedAt,
				Text: fmt.Sprintf("%s: %s %s.", to.Key, to.URL, egress.ErrExposed),
			})
		}
	}
	return card, nil
}

// signedIn are the servers that are asked over HTTP with credentials.
func (a *App) signedIn() []config.Remote {
	list := append(a.Config().SignedIn(), config.Remote{Key: "identity.oidc.issuer", URL: a.cfg.Identity.OIDC.Issuer})
	for _, c := range a.chat.store.Platforms().Connections {
		if !c.File && (!c.Token.IsZero() || !c.OAuthClientSecret.IsZero()) {
			list = append(list, config.Remote{Key: "The connection " + c.Name, URL: c.BaseURL})
		}
	}
	return list
}
