package app

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/console"
	"outrigger/internal/secret"
)

func TestWhenAnExpiryIsSaid(t *testing.T) {
	at := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	keys := map[string]bool{}
	for _, c := range []struct {
		now  time.Time
		tone console.Tone // "" where nothing is said
		text string
	}{
		{at.AddDate(0, 0, -30).Add(-time.Second), "", ""},
		{at.AddDate(0, 0, -30), console.Warn, "It ends on 2027-01-31, in less than 30 days."},
		{at.AddDate(0, 0, -7), console.Warn, "It ends on 2027-01-31, in less than 7 days."},
		{at.AddDate(0, 0, -1), console.Bad, "It ends on 2027-01-31, in less than a day."},
		{at, console.Bad, "It ended on 2027-01-31."},
	} {
		n, soon := expiryNotice("It", at, c.now)
		if soon != (c.tone != "") || soon && (n.Tone != c.tone || !strings.HasPrefix(n.Text, c.text) || n.Since.After(c.now)) {
			t.Errorf("at %v: %+v, %v", c.now, n, soon)
		}
		if soon {
			keys[n.Key] = true
		}
	}
	if len(keys) != 4 {
		t.Errorf("the alerts channel would be told of %d things", len(keys))
	}
}

// The overview and the figures have the end of each certificate and credential whose
// day is known, as the settings are now.
func TestExpiries(t *testing.T) {
	t.Parallel()
	soon := config.Date(time.Now().AddDate(0, 0, 5).UTC().Format(time.DateOnly))
	late := config.Date(time.Now().AddDate(1, 0, 0).UTC().Format(time.DateOnly))
	r := startReloadable(t)
	const over, code = "The certificate ", "The credential notify.connections: token of main ends on"
	_, page := consolePage(t, r.App, "/", nil)
	if !strings.Contains(page, over) || strings.Contains(page, code) { // the tests' certificates end within the hour
		t.Errorf("the overview says %s", page)
	}
	writeCertificate(t, config.TLS(r.cfg.Mail.TLS), "later", time.Now().AddDate(1, 0, 0))
	r.edit(func(c *config.Config) {
		c.Notify.Connections = []config.Connection{connectionNamed("main", "hook secret"), connectionNamed("old", "hook secret")}
		c.Notify.Connections[0].Token, c.Notify.Connections[0].TokenExpires = secret.New("a token"), soon
		c.Notify.Connections[1].TokenExpires = late
	})
	r.reload(t)
	_, page = consolePage(t, r.App, "/", nil)
	if strings.Contains(page, over) || !strings.Contains(page, code) || strings.Contains(page, "token of old") {
		t.Errorf("after a reload the overview says %s", page)
	}
	now := figures(t, r.App)
	for credential, at := range map[string]config.Date{"notify.connections: token of main": soon, "notify.connections: token of old": late} {
		if got := now[`outrigger_credential_expiry_timestamp_seconds{credential="`+credential+`"}`]; got != float64(at.Time().Unix()) {
			t.Errorf("%s: the figure is %v", credential, got)
		}
	}
}
