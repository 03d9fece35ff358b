package config

import (
	"testing"

	"outrigger/internal/secret"
)

func TestIdentityPlatform(t *testing.T) {
	const clear = "identity.platform: passwords would be sent to git.example.com in the clear; the base_url of the connection code must begin with https"
	good := Connection{Name: "code", Kind: KindBitbucketDC, BaseURL: "https://git.example.com", Token: secret.New("t")}
	for _, c := range []struct {
		name     string
		platform string
		edit     func(*Connection)
		want     string
	}{
		{"none", "", func(c *Connection) { c.BaseURL, c.Token = "http://git.example.com", secret.Value{} }, ""},
		{"https", "code", func(*Connection) {}, ""},
		{"loopback", "code", func(c *Connection) { c.BaseURL = "http://127.0.0.1:7990/git" }, ""},
		{"localhost", "code", func(c *Connection) { c.BaseURL = "http://localhost:7990" }, ""},
		{"in the clear", "code", func(c *Connection) { c.BaseURL = "http://git.example.com" }, clear},
		{"a name that only begins like this machine", "code", func(c *Connection) { c.BaseURL = "http://localhost.example.com" },
			"identity.platform: passwords would be sent to localhost.example.com in the clear; the base_url of the connection code must begin with https"},
		{"unknown", "other", func(*Connection) {}, `identity.platform: there is no connection "other" in notify.connections; write the name of one of them`},
		{"called local", "local", func(c *Connection) { c.Name = "local" }, "identity.platform: local is the source of users of Outrigger itself; give the connection another name"},
		{"without an account", "code", func(c *Connection) { c.Token = secret.Value{} },
			"identity.platform: permissions are asked for by the account of the connection code; set its token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Default()
			cfg.NodeID = "n1"
			conn := good
			c.edit(&conn)
			cfg.Identity.Platform, cfg.Notify.Connections = c.platform, []Connection{conn}
			got := ""
			if err := cfg.Validate(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
