package config

import (
	"slices"
	"testing"

	"outrigger/internal/secret"
)

func TestChanged(t *testing.T) {
	a, b := Default(), Default()
	if got := changed(a, b); len(got) > 0 {
		t.Errorf("the same settings differ in %v", got)
	}
	b.SecretKey = secret.New("another")
	b.TrustedProxies = []string{"10.0.0.0/8"}
	b.Notify.Connections = []Connection{{Name: "a"}}
	b.Log.Level = "debug"
	want := []string{"trusted_proxies", "secret_key", "log.level", "notify.connections"}
	if got := changed(a, b); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
