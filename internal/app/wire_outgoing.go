package app

import (
	"context"
	"fmt"

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
		CAFile: a.cfg.CAFile, Version: a.version,
	})
	if err != nil {
		return err
	}
	store := adminsettings.NewStore(a.db, a.box, a.log, func(s *adminsettings.Settings) { out.UseProxy(s.Proxy) })
	if err := store.Start(ctx); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	a.steps.addStop("outgoing requests", watchLimit, func() { store.Stop(); out.Close() })
	a.outgoing, a.settings = out, store
	return nil
}

// openSettings gives the settings their routes and their page.
func (a *App) openSettings(context.Context) error {
	(&settingsapi.API{Store: a.settings, Client: a.outgoing}).Register(a.router)
	(&settingspages.Pages{
		Store: a.settings, Client: a.outgoing, Trouble: func() string { return a.proxyTrouble().Sentence() },
	}).Register(a.pages)
	return nil
}
