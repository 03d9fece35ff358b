// Package config is the settings of the program: one struct with defaults,
// filled from a strict YAML file, then the environment, then flags, and judged
// in sentences that name the key.
//
// The struct is the only list of settings. Its tags carry the key, the default
// and the sentence; the environment names, `outrigger config print` and the
// messages about unknown keys come from it.
package config

import (
	"outrigger/internal/secret"
)

// Config is every setting. Make one with Default or Load; the zero value has
// no defaults. Relative paths are relative to the working directory.
//
// Tags: `key` is the name in the file, `default` is written as in the file,
// `doc` is the sentence that `config print` shows, `else` says in words what
// holds where there is no default value.
type Config struct {
	Listen         string       `key:"listen" default:"127.0.0.1:8090" doc:"Host and port of the HTTP server; an empty host is every address of the machine. With tls.cert and tls.key it is HTTPS."`
	BaseURL        string       `key:"base_url" else:"the address of the listener" doc:"The URL under which users and platforms reach the server. It may have a path."`
	TrustedProxies []string     `key:"trusted_proxies" else:"none" doc:"CIDRs of the proxies whose X-Forwarded-For and X-Forwarded-Proto headers count."`
	AllowedHosts   []string     `key:"allowed_hosts" else:"none" doc:"More host names, without a port, that browsers may reach the console by, besides that of base_url, localhost and IP addresses."`
	HSTS           bool         `key:"hsts" default:"false" doc:"Whether answers over https tell browsers to use nothing else for this host name for a year. It holds for every port of the name, those of other programs too."`
	TLS            TLS          `key:"tls"`
	DataDir        string       `key:"data_dir" default:"./outrigger-data" doc:"The folder of the SQLite file, the generated key and the first password."`
	DatabaseURL    secret.Value `key:"database_url" else:"SQLite in data_dir" doc:"The PostgreSQL database, as postgres://user:password@host/name."`
	SecretKey      secret.Value `key:"secret_key" else:"a key generated into data_dir/secret.key" doc:"The key that encrypts stored secrets: 32 bytes in base64, as from openssl rand -base64 32. It must be given when several nodes share a database."`
	PreviousKey    secret.Value `key:"secret_key_previous" else:"none" doc:"What secret_key was before it was changed: what that one encrypted still opens. outrigger secrets rotate encrypts it with the new key; then remove this setting."`
	AdminPassword  secret.Value `key:"admin_password" else:"a password generated into data_dir/initial-password" doc:"The password of the first administrator, admin. It is only read when there is no user yet."`
	NodeID         string       `key:"node_id" else:"the host name" doc:"The name of this node, unique in a cluster."`
	Cluster        Cluster      `key:"cluster"`
	Log            Log          `key:"log"`
	Metrics        Metrics      `key:"metrics"`
	Mail           Mail         `key:"mail"`
	Notify         Notify       `key:"notify"`
	Threads        Threads      `key:"threads"`
	CAFile         string       `key:"ca_file" else:"the system's certificates" doc:"A PEM file of more certificates to trust for outgoing TLS."`
	Retention      Retention    `key:"retention"`
}

// TLS is the certificate of the HTTP listener.
type TLS struct {
	Cert string `key:"cert" else:"plain HTTP" doc:"The PEM file of the server's certificate, with its chain. It is read again when it changes."`
	Key  string `key:"key" else:"plain HTTP" doc:"The PEM file of the certificate's private key. It is read again when it changes."`
}

// Cluster is about several nodes on one database.
type Cluster struct {
	Enabled bool `key:"enabled" default:"false" doc:"Whether other nodes share the database. It needs database_url and secret_key."`
}

// Log is where the log goes and how much of it.
type Log struct {
	Format string `key:"format" else:"text on a terminal, else json" doc:"How log lines are written to standard output: text or json."`
	Level  string `key:"level" default:"info" doc:"The least important lines that are written: debug, info, warn or error."`
}

// Metrics is about /metrics.
type Metrics struct {
	Public bool `key:"public" default:"false" doc:"Whether /metrics answers without a token of scope monitoring."`
}

// Notify is about chat notifications.
type Notify struct {
	AllowedNetworks []string     `key:"allowed_networks" else:"none" doc:"CIDRs or host names, besides public addresses, that webhook URLs may reach; http is allowed there."`
	ProxiedHosts    []string     `key:"proxied_hosts" default:"hooks.slack.com,*.logic.azure.com,*.api.powerplatform.com" doc:"Host names that a proxy may be asked for though they do not resolve here, *.example.com for every name below example.com. It only matters where there is a proxy."`
	ChannelRate     float64      `key:"channel_rate" default:"1" doc:"How many messages a second a channel gets."`
	ChannelBurst    int          `key:"channel_burst" default:"4" doc:"How many messages a channel may get at once after a pause."`
	MaxAge          Duration     `key:"max_age" default:"7d" doc:"How long a message waits for its channel; an older one has failed as expired."`
	MaxWaiting      int          `key:"max_waiting" default:"10000" doc:"How many messages wait on a channel; beyond it the oldest has failed as expired."`
	DigestAbove     int          `key:"digest_above" default:"20" doc:"How many messages may wait on a channel before they go out as digests, one message for up to 50; 0 for never."`
	Connections     []Connection `key:"connections" doc:"The code-hosting platforms that this file declares. They can be changed nowhere else."`
}

// Connection is a code-hosting platform whose webhooks come in at
// /hooks/{name}.
type Connection struct {
	Name          string       `key:"name" doc:"What the connection is called, in its webhook URL /hooks/NAME too: lower-case letters, digits and dashes."`
	Kind          string       `key:"kind" doc:"The kind of platform: bitbucket-dc."`
	BaseURL       string       `key:"base_url" doc:"The platform's own base URL; links in messages begin with it."`
	User          string       `key:"user" doc:"The platform's account by which its REST API is asked, for groups and builds; none where token is an HTTP access token."`
	Token         secret.Value `key:"token" doc:"The account's password or token. Without it the platform is asked for nothing."`
	Manage        bool         `key:"manage_webhooks" default:"false" doc:"Whether Outrigger creates a webhook in each project of the platform, which takes an account that administers them; it never writes anything else there."`
	WebhookSecret secret.Value `key:"webhook_secret" doc:"The secret that the platform signs its webhooks with."`
	Unsigned      bool         `key:"unsigned" default:"false" doc:"Whether webhooks without a signature are taken when there is no webhook_secret."`
}

// KindBitbucketDC is the kind of a self-hosted platform.
const KindBitbucketDC = "bitbucket-dc"

// Retention is how long things are kept. What still waits is never dropped by
// it.
type Retention struct {
	Events     Duration `key:"events" default:"7d" doc:"How long received events are kept; at least 10m, the time in which a repeated event is recognised by its body."`
	Deliveries Duration `key:"deliveries" default:"30d" doc:"How long finished deliveries are kept, with their attempts."`
	MailErrors Duration `key:"mail_errors" default:"90d" doc:"How long messages that could not be delivered are kept in the mail error queue."`
	Samples    Duration `key:"samples" default:"30d" doc:"How long the sizes of mail queues are kept, from which their course is plotted; at least 1d."`
	Audit      Duration `key:"audit" default:"365d" doc:"How long the audit trail is kept."`
}

// Default is the settings with nothing configured.
func Default() *Config {
	c := new(Config)
	fillDefaults(settings(c))
	return c
}
