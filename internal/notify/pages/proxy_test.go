package pages

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// Who tries a channel while the proxy lets nothing through hears why nothing
// comes of it.
func TestTriedWhileTheProxyIsAway(t *testing.T) {
	admin := &identity.Principal{Name: "admin", Grants: []identity.Grant{{Permission: identity.Admin}}}
	ctx := identity.With(t.Context(), admin)
	trouble := notify.ProxyTrouble{}
	p := &Pages{Proxy: func() notify.ProxyTrouble { return trouble }}
	if flash, tone := p.triedNow(ctx, "Tried."); flash != "Tried." || tone != "" {
		t.Errorf("%q, %q", flash, tone)
	}
	trouble = notify.ProxyTrouble{Since: time.Date(2026, 11, 22, 17, 0, 0, 0, time.UTC), Reason: "the proxy p:3128 cannot be used: connection refused"}
	flash, tone := p.triedNow(ctx, "Tried.")
	if tone != console.Warn || !strings.HasPrefix(flash, "Tried. The proxy has let nothing through since 2026-11-22 17:00 UTC") || !strings.Contains(flash, "p:3128 cannot be used: connection refused.") {
		t.Errorf("%q, %q", flash, tone)
	}
	if flash, _ := p.triedNow(identity.With(t.Context(), &identity.Principal{Name: "ann"}), "Tried."); strings.Contains(flash, "3128") || !strings.Contains(flash, "waits: an administrator can see why.") {
		t.Errorf("for others: %q", flash)
	}
	if flash, _ := (&Pages{}).triedNow(ctx, "Tried."); flash != "Tried." {
		t.Errorf("without a proxy: %q", flash)
	}
}
