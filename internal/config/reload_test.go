package config

import (
	"slices"
	"testing"

	"outrigger/internal/secret"
)

// A running server takes on some settings; the others stay, and are named.
func TestReloaded(t *testing.T) {
	running, fresh := Default(), Default()
	running.Notify.Connections = []Connection{{Name: "a", Token: secret.New("one")}, {Name: "b"}, {Name: "c"}}
	fresh.Notify.Connections = []Connection{{Name: "a", Token: secret.New("two"), User: "ada"}, {Name: "c"}, {Name: "d"}}
	running.TrustedProxies, fresh.Log.Level, fresh.Listen = []string{"10.0.0.0/8"}, "warn", "127.0.0.1:1"
	next, changes, restart := running.Reloaded(fresh)
	want := []ChangedSetting{
		{"trusted_proxies", "10.0.0.0/8, now none"},
		{"log.level", "info, now warn"},
		{"notify.connections", "a: user, token changed; d added; b removed"},
	}
	if !slices.Equal(changes, want) || !slices.Equal(restart, []string{"listen"}) {
		t.Errorf("it says %q, and %q for a restart", changes, restart)
	}
	if next.Log.Level != "warn" || len(next.TrustedProxies) != 0 || next.Notify.Connections[2].Name != "d" || next.Listen != running.Listen {
		t.Errorf("it goes on with %+v", next)
	}
	if running.Log.Level != "info" || running.Notify.Connections[1].Name != "b" {
		t.Error("the settings that it had have changed")
	}
	if _, changes, restart := next.Reloaded(next); len(changes)+len(restart) > 0 {
		t.Errorf("without a change it says %q and %q", changes, restart)
	}
}

func TestConnectionsInAnotherOrder(t *testing.T) {
	one, other := []Connection{{Name: "a"}, {Name: "b"}}, []Connection{{Name: "b"}, {Name: "a"}}
	if got := connectionChanges(one, other); got != "their order changed" {
		t.Errorf("it says %q", got)
	}
}
