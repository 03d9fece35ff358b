package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/secret"
)

func TestOIDC(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"complete", func(*Config) {}, ""},
		{"none", func(c *Config) { c.Identity.OIDC = Default().Identity.OIDC }, ""},
		{"a client without an issuer", func(c *Config) { c.Identity.OIDC.Issuer = "" }, "identity.oidc.issuer: set the URL of the provider that client_id belongs to"},
		{"no URL", func(c *Config) { c.Identity.OIDC.Issuer = "company" }, "identity.oidc.issuer: this is not a URL; write it as https://host or https://host/path"},
		{"no client", func(c *Config) { c.Identity.OIDC.ClientID, c.Identity.OIDC.ClientSecret = "", secret.Value{} },
			"identity.oidc.client_id: set the id of the client that was registered at the provider\n" +
				"identity.oidc.client_secret: set the secret of the client; the client must be a confidential one"},
		{"nothing else", func(c *Config) {
			o := &c.Identity.OIDC
			o.Name, o.Scopes, o.UserClaim, o.AdminGroups = "", []string{"email"}, "", []string{"admins"}
		}, "identity.oidc.name: set what users call the provider\n" +
			"identity.oidc.scopes: openid is missing; without it the provider does not say who signs in\n" +
			"identity.oidc.user_claim: set the claim that names the user, such as preferred_username or email\n" +
			"identity.oidc.groups_claim: set the claim that lists the user's groups; admin_groups and allowed_groups need it"},
		{"a group that cannot be kept", func(c *Config) {
			o := &c.Identity.OIDC
			o.GroupsClaim, o.AdminGroups = "groups", []string{strings.Repeat("ü", 255), strings.Repeat("x", 256)}
		}, "identity.oidc.admin_groups: use names of at most 255 characters; \"" + strings.Repeat("x", 30) + "\"… is longer"},
		{"nobody is paused", func(c *Config) { c.Identity.OIDC.Idle = 0 }, ""},
		{"paused after two days", func(c *Config) { c.Identity.OIDC.Idle = Duration(2 * day) }, ""},
		{"paused sooner", func(c *Config) { c.Identity.OIDC.Idle = Duration(2*day) - 1 }, "identity.oidc.idle: 1d23h59m59.999999999s is too short; use at least 2d, or 0 to pause nobody"},
		{"no base URL", func(c *Config) { c.BaseURL, c.Listen = "", ":8090" }, "identity.oidc.issuer: base_url is missing; the provider sends browsers back there"},
		{"a platform of the same name", func(c *Config) {
			c.Notify.Connections = []Connection{{Name: "oidc", Kind: KindBitbucketDC, BaseURL: "https://git.example.com", Token: secret.New("t")}}
			c.Identity.Platform = "oidc"
		}, "identity.platform: oidc is the source of users of single sign-on; give the connection another name"},
		{"the platform's own pages", func(c *Config) {
			c.Notify.Connections = []Connection{{Name: "code", Kind: KindBitbucketDC, BaseURL: "https://git.example.com", Token: secret.New("t"), ClientID: "id", ClientSecret: secret.New("s")}}
			c.Identity.Platform = "code"
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := withOIDC()
			c.edit(cfg)
			got := ""
			if err := cfg.Validate(); err != nil {
				got = err.Error()
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func withOIDC() *Config {
	cfg := Default()
	cfg.NodeID, cfg.BaseURL = "n1", "https://tools.example.com"
	o := &cfg.Identity.OIDC
	o.Issuer, o.ClientID, o.ClientSecret = "https://id.example.com/realms/x", "outrigger", secret.New("client secret")
	return cfg
}

func TestDangersOfOIDC(t *testing.T) {
	for issuer, warned := range map[string]bool{
		"https://id.example.com": false, "http://127.0.0.1:8080": false, "http://localhost/realms/x": false, "http://id.example.com": true, "http://10.0.0.1": true, "": false,
	} {
		cfg := withOIDC()
		cfg.Identity.OIDC.Issuer = issuer
		if got := strings.Contains(strings.Join(cfg.dangers(), "\n"), "identity.oidc.issuer: "+issuer+" is plain HTTP"); got != warned {
			t.Errorf("%q: %v", issuer, cfg.dangers())
		}
	}
	for claim, warned := range map[string]bool{"preferred_username": false, "email": false, "sub": false, "name": true, "nickname": true} {
		cfg := withOIDC()
		cfg.Identity.OIDC.UserClaim = claim
		if got := strings.Contains(strings.Join(cfg.dangers(), "\n"), "can change "+claim); got != warned {
			t.Errorf("%q: %v", claim, cfg.dangers())
		}
	}
}

func TestOIDCFromTheEnvironment(t *testing.T) {
	c, warnings, err := Load("", []string{
		"OUTRIGGER_IDENTITY_OIDC_ISSUER=https://id.example.com", "OUTRIGGER_IDENTITY_OIDC_CLIENT_ID=outrigger",
		"OUTRIGGER_IDENTITY_OIDC_CLIENT_SECRET=client secret", "OUTRIGGER_IDENTITY_OIDC_GROUPS_CLAIM=groups", "OUTRIGGER_IDENTITY_OIDC_ADMIN_GROUPS=admins,ops",
	}, nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	o := c.Identity.OIDC
	if !o.On() || o.ClientSecret.Reveal() != "client secret" || !slices.Equal(o.AdminGroups, []string{"admins", "ops"}) || !slices.Equal(o.Scopes, []string{"openid", "profile"}) {
		t.Errorf("%+v", o)
	}
}
