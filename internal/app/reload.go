package app

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/reload"
)

// reloadTime is how long a reload waits for a database that hangs.
const reloadTime = 10 * time.Second

// Config returns the settings as they hold now, which a reload may have changed.
func (a *App) Config() *config.Config { return a.present.Load() }

// Reload reads the configuration and the TLS files again, and takes on what a running
// server can. Where any of it cannot be used, nothing changes. Calls take turns.
func (a *App) Reload(ctx context.Context) (reload.Reload, error) {
	if a.o.Reload == nil {
		return reload.Reload{}, reload.ErrNoFile()
	}
	a.reloading.Lock()
	defer a.reloading.Unlock()
	fresh, warnings, err := a.o.Reload()
	if err != nil {
		return reload.Reload{}, reload.Refused(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	pairs, err := a.readCertificates()
	if err != nil {
		return reload.Reload{}, reload.Refused(err.Error())
	}
	next, changes, restart := a.Config().Reloaded(fresh)
	if err := a.checkSignIn(next); err != nil {
		return reload.Reload{}, err
	}
	report := reload.Reload{
		Node: a.nodeID, Changed: slices.Concat([]config.ChangedSetting{}, changes), NeedRestart: slices.Concat([]string{}, restart),
		Certificates: a.reportCertificates(pairs),
	}
	// First of all: it is what one asks for while the database is out of order.
	a.useLogLevel(next.Log.Level)
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	if err := a.takeOn(ctx, next, report); err != nil {
		return reload.Reload{}, err
	}
	for i, c := range a.certificates {
		c.use(pairs[i])
	}
	a.present.Store(next)
	for _, w := range warnings {
		a.log.Warn(w)
	}
	a.sayReloaded(ctx, report)
	return report, nil
}

// checkSignIn refuses what would add or take away the platform's pages among the ways to sign in,
// which are made at the start.
func (a *App) checkSignIn(next *config.Config) error {
	name := a.cfg.Identity.Platform
	before, after := connectionsOf(a.Config().Notify.Connections).Find(name), connectionsOf(next.Notify.Connections).Find(name)
	if before == nil && after == nil {
		return nil
	}
	if before == nil || after == nil || (before.OAuthClientID == "") != (after.OAuthClientID == "") {
		return reload.Refused("whether users sign in on the pages of " + name + " (identity.platform) changes only with a restart")
	}
	return nil
}

// takeOn has the connections and the proxies of next hold, with an entry in the audit
// trail where something changed. On an error nothing has changed.
func (a *App) takeOn(ctx context.Context, next *config.Config, report reload.Reload) error {
	changed := func(key string) bool {
		return slices.ContainsFunc(report.Changed, func(c config.ChangedSetting) bool { return c.Setting == key })
	}
	record := func(tx *db.Tx) error { return audit.Record(ctx, tx, reloadEntry(ctx, a.nodeID, report)) }
	var err error
	switch {
	case changed("notify.connections"):
		err = a.chat.store.ReplaceFile(ctx, connectionsOf(next.Notify.Connections), record)
	case len(report.Changed) > 0 || slices.ContainsFunc(report.Certificates, func(c reload.Certificate) bool { return c.Changed }):
		err = a.db.Write(ctx, record)
	}
	if err != nil {
		return err
	}
	return a.router.TrustProxies(next.TrustedProxies) // they were judged with the settings
}

func reloadEntry(ctx context.Context, node string, report reload.Reload) audit.Entry {
	after := map[string]string{}
	for _, c := range report.Changed {
		after[c.Setting] = c.Text
	}
	for _, c := range report.Certificates {
		if c.Changed {
			after[c.File] = "another certificate, until " + minute(c.NotAfter)
		}
	}
	return identity.WithActor(ctx, audit.Entry{
		Who: "outrigger", Area: "system", Action: "reload", Object: "configuration", ObjectID: node, After: after,
	})
}

// reportCertificates says of the certificates that were read what is new.
func (a *App) reportCertificates(pairs []*tls.Certificate) []reload.Certificate {
	list := []reload.Certificate{}
	for i, c := range a.certificates {
		r := reload.Certificate{File: c.files.Cert, NotAfter: pairs[i].Leaf.NotAfter.UTC(), Changed: c.differs(pairs[i])}
		if !slices.ContainsFunc(list, func(o reload.Certificate) bool { return o.File == r.File }) { // of mail and HTTP it may be the same
			list = append(list, r)
		}
	}
	return list
}

// sayReloaded logs a report: where the level was or becomes higher than INFO, too.
func (a *App) sayReloaded(ctx context.Context, report reload.Reload) {
	level := max(a.level.Level(), 0)
	var texts []string
	for _, c := range report.Changed {
		texts = append(texts, c.Setting+": "+c.Text)
	}
	for _, c := range report.Certificates {
		if c.Changed {
			texts = append(texts, c.File+": another certificate")
		}
	}
	a.log.Log(ctx, level, "configuration read again", "changed", strings.Join(texts, "; "))
	if len(report.NeedRestart) > 0 {
		a.log.Log(ctx, level, "settings changed that need a restart", "settings", strings.Join(report.NeedRestart, ", "))
	}
}

// readCertificates reads the TLS files again, whether they look changed or not.
func (a *App) readCertificates() (pairs []*tls.Certificate, err error) {
	var failed []error
	for _, c := range a.certificates {
		pair, err := c.read()
		pairs, failed = append(pairs, pair), append(failed, err)
	}
	return pairs, errors.Join(failed...)
}
