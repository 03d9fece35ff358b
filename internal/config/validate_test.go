package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/secret"
)

func TestValidate(t *testing.T) {
	key := secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	pair := write(t, "pair.pem", certificateUntil(t, time.Now().Add(time.Hour)))
	good := Connection{Name: "a", Kind: KindBitbucketDC, BaseURL: "http://a"}
	for _, test := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"several at once", func(c *Config) { c.Listen, c.Log.Level, c.Notify.ChannelBurst = "x", "loud", 0 },
			"listen: \"x\" is not an address; write host:port, such as 127.0.0.1:8090, :8090 or unix:/run/outrigger/http.sock\n" +
				"log.level: \"loud\" is not known; write debug, info, warn or error\n" +
				"notify.channel_burst: 0 is too few; use at least 1"},
		{"port", func(c *Config) { c.Listen = ":http" }, `listen: "http" is not a port; a port is a number from 0 to 65535`},
		{"any address", func(c *Config) { c.Listen = "[::]:0" }, ""},
		{"socket", func(c *Config) {
			c.Listen, c.BaseURL, c.TrustedProxies = "unix:/run/outrigger/http.sock", "https://outrigger.example.com", []string{"unix"}
		}, ""},
		{"socket without an address for users", func(c *Config) { c.Listen = "unix:/run/outrigger/http.sock" },
			"base_url: it is missing; a Unix socket has no address that users could reach, so set the URL of the proxy in front"},
		{"socket at a relative path", func(c *Config) { c.Listen = "unix:http.sock" }, `listen: "http.sock" is not an absolute path; write unix:/run/outrigger/http.sock`},
		{"socket at a long path", func(c *Config) { c.Listen = "unix:/" + strings.Repeat("x", 107) },
			"listen: the path has 108 bytes; the path of a socket has at most 107"},
		{"socket for mail", func(c *Config) { c.Mail.Listen = "unix:/run/outrigger/smtp.sock" },
			"mail.listen: mail is not taken over a Unix socket; write host:port, such as 127.0.0.1:2525 or off"},
		{"base_url", func(c *Config) { c.BaseURL = "code.example.com" }, "base_url: this is not a URL; write it as https://host or https://host/path"},
		{"base_url with a path", func(c *Config) { c.BaseURL = "https://example.com/outrigger/" }, ""},
		{"base_url with more", func(c *Config) { c.BaseURL = "https://u:p@example.com/" }, "base_url: a base URL has only a scheme, a host and optionally a path"},
		{"proxies", func(c *Config) { c.TrustedProxies = []string{"10.0.0.1"} }, `trusted_proxies: "10.0.0.1" is not a CIDR; write it as 10.0.0.0/8 or 10.1.2.3/32, or unix for what connects to the Unix socket`},
		{"half of TLS", func(c *Config) { c.TLS.Cert = "c.pem" }, "tls: set both cert and key, or neither"},
		{"no folder", func(c *Config) { c.DataDir = "" }, "data_dir: set the data folder"},
		{"database", func(c *Config) { c.DatabaseURL = secret.New("mysql://u:hunter2@h/d") },
			"database_url: this is not a PostgreSQL URL; write it as postgres://user:password@host:5432/name"},
		{"short key", func(c *Config) { c.SecretKey = secret.New("aHVudGVyMg==") },
			"secret_key: the key is not 32 bytes in base64; openssl rand -base64 32 generates one"},
		{"cluster on SQLite", func(c *Config) { c.Cluster.Enabled = true; c.SecretKey = key },
			"cluster.enabled: several nodes need a shared PostgreSQL database; set database_url"},
		{"cluster without a key", func(c *Config) { c.Cluster.Enabled = true; c.DatabaseURL = secret.New("postgres://h/d") },
			"cluster.enabled: several nodes need a shared key; set the same secret_key (or secret_key_file) on every node"},
		{"cluster", func(c *Config) {
			c.Cluster.Enabled, c.DatabaseURL, c.SecretKey = true, secret.New("postgresql://u:p@h/d"), key
		}, ""},
		{"node_id", func(c *Config) { c.NodeID = "node one" }, "node_id: a node id has at most 255 bytes and no spaces"},
		{"log.format", func(c *Config) { c.Log.Format = "xml" }, `log.format: "xml" is not known; write text or json`},
		{"networks", func(c *Config) {
			c.Notify.AllowedNetworks = []string{"10.0.0.0/8:443", "::1", "[fd00::/8]:443", "chat.example.com:8443", "http://x", "10.0.0.0/8:0"}
		}, `notify.allowed_networks: "http://x" is neither a CIDR nor a host name; write 10.0.0.0/8 or chat.example.com, or with a port 10.0.0.0/8:443` + "\n" +
			`notify.allowed_networks: "10.0.0.0/8:0" has no port from 1 to 65535 after the colon; write one port, as in 10.0.0.0/8:443, and one entry for each port`},
		{"proxied hosts", func(c *Config) { c.Notify.ProxiedHosts = []string{"chat.example.com", "*.example.com", "*"} },
			`notify.proxied_hosts: "*" is not a host name; write chat.example.com, or *.example.com for every name below example.com`},
		{"age", func(c *Config) { c.Notify.MaxAge = 0 }, "notify.max_age: 0s is too short; use at least 1m, so that a message can be tried again"},
		{"waiting", func(c *Config) { c.Notify.MaxWaiting = 0 }, "notify.max_waiting: 0 is too few; use at least 1"},
		{"digests", func(c *Config) { c.Notify.DigestAbove = -1 }, "notify.digest_above: -1 is not a number of messages; 0 turns digests off"},
		{"rate", func(c *Config) { c.Notify.ChannelRate = 0 }, "notify.channel_rate: 0 is not a rate; write a number of messages a second, above 0"},
		{"connection", func(c *Config) { c.Notify.Connections = []Connection{good, {Name: "A/b", User: "bot"}, good} },
			"notify.connections[1].name: \"A/b\" is not a valid name; use 1 to 63 lower-case letters, digits and dashes, with no dash at either end\n" +
				"notify.connections[1].kind: \"\" is not known; write bitbucket-dc or bitbucket-cloud\n" +
				"notify.connections[1].base_url: set the base URL of the platform\n" +
				"notify.connections[1].token: set the password or token of bot\n" +
				"notify.connections[2].name: the name a is used twice; every connection needs its own name"},
		{"OAuth clients", func(c *Config) {
			a, b, d := good, good, good
			a.ClientID = "key"
			b.Name, b.Kind, b.ClientID = "b", KindBitbucketCloud, "key"
			d.Name, d.Kind, d.ClientSecret = "d", KindBitbucketCloud, secret.New("hunter2")
			c.Notify.Connections = []Connection{a, b, d}
		}, "notify.connections[0].oauth_client_secret: set the secret that belongs to the key\n" +
			"notify.connections[0].oauth_client_id: only connections of kind bitbucket-cloud, and the one that identity.platform names, have an OAuth client; leave it out\n" +
			"notify.connections[1].oauth_client_secret: set the secret that belongs to the key\n" +
			"notify.connections[2].oauth_client_id: set the key that belongs to the secret"},
		{"OAuth client", func(c *Config) {
			a := good
			a.Kind, a.ClientID, a.ClientSecret = KindBitbucketCloud, "key", secret.New("hunter2")
			c.Notify.Connections = []Connection{a}
		}, ""},
		{"mail in the clear", func(c *Config) { c.Mail.Listen = "0.0.0.0:25" },
			"mail.listen: other machines can reach 0.0.0.0:25, and clients would send their tokens in the clear; set mail.tls.cert and mail.tls.key, or set mail.plain_auth to true if you trust the network"},
		{"mail in the clear, named", func(c *Config) { c.Mail.Listen, c.Mail.PlainAuth = "relay.internal:25", true }, ""},
		{"mail within TLS", func(c *Config) { c.Mail.Listen, c.Mail.TLS = ":25", MailTLS{pair, pair} }, ""},
		{"mail on loopback", func(c *Config) { c.Mail.Listen = "[::1]:25" }, ""},
		{"mail", func(c *Config) {
			c.Mail.Listen, c.Mail.TLS.Key, c.Mail.Smarthost, c.Mail.SmarthostTLS = "2525", "k.pem", "mail.example.com", "maybe"
			c.Mail.SmarthostPassword = secret.New("hunter2")
			c.Mail.MaxMessage, c.Mail.MaxRecipients, c.Mail.MaxClients, c.Mail.Connections = 1, 99, 0, -1
			c.Mail.GiveUpAfter, c.Mail.PerTransaction = Duration(time.Second), 0
		},
			"mail.listen: \"2525\" is not an address; write host:port, such as 127.0.0.1:2525 or off\n" +
				"mail.tls: set both cert and key, or neither\n" +
				"mail.smarthost: \"mail.example.com\" is not an address; write host:port, such as mail.example.com:587\n" +
				"mail.smarthost_user: set both smarthost_user and smarthost_password, or neither\n" +
				"mail.smarthost_tls: \"maybe\" is not known; write starttls, tls or none\n" +
				"mail.max_message: 1 is too small; an SMTP server must accept at least 64KiB\n" +
				"mail.give_up_after: 1s is too short; use at least 1m, so that a message is tried twice\n" +
				"mail.max_recipients: 99 is too few; an SMTP server must accept at least 100\n" +
				"mail.max_clients: 0 is too few; the relay needs at least 1\n" +
				"mail.connections: -1 is too few; the relay needs at least 1\n" +
				"mail.recipients_per_transaction: 0 is too few; a message needs at least 1"},
		{"smarthost without a host", func(c *Config) { c.Mail.Smarthost = ":25" }, `mail.smarthost: ":25" has no host; write it as mail.example.com:587`},
		{"no relay", func(c *Config) { c.Mail.Listen = MailOff }, ""},
		{"alerts", func(c *Config) {
			c.Alerts.WebhookURL, c.Alerts.After = secret.New("chat.example.com/secret"), Duration(48*time.Hour)
		},
			"alerts.webhook_url: this is not an http or https URL; copy it again from the chat platform\n" +
				"alerts.after: 2d is not from 0s to 1d"},
		{"retention", func(c *Config) { c.Retention = Retention{} },
			"retention.events: 0s is too short; use at least 10m\n" +
				"retention.deliveries: 0s is too short; use at least 1m\n" +
				"retention.mail_errors: 0s is too short; use at least 1m\n" +
				"retention.samples: 0s is too short; use at least 1d\n" +
				"retention.audit: 0s is too short; use at least 1m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			test.edit(c)
			got := ""
			if err := c.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(got, "hunter2") || strings.Contains(got, "aHVudGVyMg") {
				t.Error("a secret is in the message")
			}
		})
	}
}

func TestWarnsOfConnectionWithoutSecret(t *testing.T) {
	_, warnings, err := Load(write(t, "c.yaml", `
notify:
  connections:
    - {name: a, kind: bitbucket-dc, base_url: "http://a"}
    - {name: c, kind: bitbucket-dc, base_url: "http://c", webhook_secret: sixteen--letters}
`), nil, nil)
	want := []string{"The connection a has no webhook_secret, so all its webhooks are refused. Set webhook_secret, or unsigned: true."}
	if diff := cmp.Diff(want, warnings); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
