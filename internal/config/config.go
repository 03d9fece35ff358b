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
	Listen         string       `key:"listen" default:"127.0.0.1:8090" doc:"Host and port of the HTTP server. An empty host listens on every address of the machine. With tls.cert and tls.key it serves HTTPS. unix:/path listens on a Unix socket instead."`
	BaseURL        string       `key:"base_url" else:"the address of the listener" doc:"The URL at which users and platforms reach the server. It may have a path."`
	TrustedProxies []string     `key:"trusted_proxies" else:"none" doc:"CIDRs of the proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted; unix stands for all that connect to the Unix socket of listen."`
	AllowedHosts   []string     `key:"allowed_hosts" else:"none" doc:"Additional host names, without a port, at which browsers may reach the console. The host of base_url, localhost and IP addresses are always allowed."`
	HSTS           bool         `key:"hsts" default:"false" doc:"Whether to send Strict-Transport-Security, which tells browsers to use only HTTPS for this host name for a year. It applies to every port of the host, including those of other programs."`
	TLS            TLS          `key:"tls"`
	DataDir        string       `key:"data_dir" default:"./outrigger-data" doc:"The folder for the SQLite database, the generated key and the initial password."`
	BackupDir      string       `key:"backup_dir" else:"data_dir" doc:"The folder in which the server makes a backup before it is downloaded. It must exist, and needs as much free space as the database has, besides a tenth of its disk (at most 20 GiB), which stays free."`
	DatabaseURL    secret.Value `key:"database_url" else:"SQLite in data_dir" doc:"The URL of the PostgreSQL database, such as postgres://user:password@host/name."`
	SecretKey      secret.Value `key:"secret_key" else:"a key generated into data_dir/secret.key" doc:"The key that encrypts stored secrets: 32 bytes in base64, such as openssl rand -base64 32 prints. Required when several nodes share a database."`
	PreviousKey    secret.Value `key:"secret_key_previous" else:"none" doc:"The previous secret_key, so that secrets it encrypted can still be read. Run outrigger secrets rotate to encrypt them with the new key, then remove this setting."`
	AdminPassword  secret.Value `key:"admin_password" else:"a password generated into data_dir/initial-password" doc:"The password of the first administrator, admin. It is read only when there are no users yet."`
	NodeID         string       `key:"node_id" else:"the host name" doc:"The name of this node, unique in a cluster."`
	Cluster        Cluster      `key:"cluster"`
	Identity       Identity     `key:"identity"`
	Log            Log          `key:"log"`
	Metrics        Metrics      `key:"metrics"`
	Mail           Mail         `key:"mail"`
	Notify         Notify       `key:"notify"`
	Threads        Threads      `key:"threads"`
	CAFile         string       `key:"ca_file" else:"the system's certificates" doc:"A PEM file with additional certificates to trust for outgoing TLS."`
	Alerts         Alerts       `key:"alerts"`
	Retention      Retention    `key:"retention"`
}

// TLS is the certificate of the HTTP listener.
type TLS struct {
	Cert string `key:"cert" else:"plain HTTP" doc:"The PEM file of the server's certificate, with its chain. It is reloaded when it changes."`
	Key  string `key:"key" else:"plain HTTP" doc:"The PEM file of the certificate's private key. It is reloaded when it changes."`
}

// Cluster is about several nodes on one database.
type Cluster struct {
	Enabled bool `key:"enabled" default:"false" doc:"Whether other nodes share the database. Needs database_url and secret_key."`
}

// Log is where the log goes and how much of it.
type Log struct {
	Format string `key:"format" else:"text on a terminal, else json" doc:"The format of log lines on standard output: text or json."`
	Level  string `key:"level" default:"info" doc:"The lowest level to log: debug, info, warn or error."`
}

// Metrics is about /metrics.
type Metrics struct {
	Public bool `key:"public" default:"false" doc:"Whether /metrics can be read without signing in. Otherwise it needs a token of scope monitoring."`
}

// Notify is about chat notifications.
type Notify struct {
	AllowedNetworks []string     `key:"allowed_networks" else:"none" doc:"CIDRs or host names that webhook URLs may use besides public addresses, each with a port (10.0.0.0/8:443, [fd00::/8]:443, chat.example.com:8443) or, without one, on every port. Plain http is allowed for them. What answers there is shown to administrators only; others see the status."`
	ProxiedHosts    []string     `key:"proxied_hosts" default:"hooks.slack.com,*.logic.azure.com,*.api.powerplatform.com" doc:"Host names that may be requested through a proxy even if this server cannot resolve them; *.example.com stands for every name below example.com. Used only with a proxy."`
	ChannelRate     float64      `key:"channel_rate" default:"1" doc:"The most messages per second that are sent to one channel."`
	ChannelBurst    int          `key:"channel_burst" default:"4" doc:"The most messages that are sent to one channel at once after a pause."`
	MaxAge          Duration     `key:"max_age" default:"7d" doc:"How long a message may wait for its channel. Older messages fail as expired."`
	MaxWaiting      int          `key:"max_waiting" default:"10000" doc:"The most messages that may wait for one channel. Above that, the oldest fail as expired."`
	DigestAbove     int          `key:"digest_above" default:"20" doc:"How many messages may wait for one channel before they are combined into digests of up to 50. 0 turns digests off."`
	Connections     []Connection `key:"connections" doc:"The code-hosting platforms to receive webhooks from. Connections declared here can be changed only here."`
}

// Connection is a code-hosting platform whose webhooks come in at
// /hooks/{name}.
type Connection struct {
	Name          string       `key:"name" doc:"The name of the connection, also used in its webhook URL /hooks/NAME: lower-case letters, digits and dashes."`
	Kind          string       `key:"kind" doc:"The kind of platform: bitbucket-dc for the self-hosted edition, bitbucket-cloud for the cloud edition."`
	BaseURL       string       `key:"base_url" doc:"The base URL of the platform. Links in messages begin with it."`
	User          string       `key:"user" doc:"The account for the platform's REST API, which is asked for groups and builds. Leave it out if token is an HTTP access token."`
	Token         secret.Value `key:"token" doc:"The password or token of the account. Without it, the REST API is not used."`
	TokenExpires  Date         `key:"token_expires" else:"none" doc:"The day on which the token ends, such as 2027-01-31. The overview says so 30, 7 and 1 days before."`
	Manage        bool         `key:"manage_webhooks" default:"false" doc:"Whether Outrigger creates a webhook in every project of the platform. The account must administer the projects. Outrigger changes nothing else on the platform."`
	ClientID      string       `key:"oauth_client_id" doc:"With kind bitbucket-cloud, the key of the OAuth consumer with which users authorise their accounts. With kind bitbucket-dc, the client id of the incoming application link with which users sign in on the platform's pages, if identity.platform names this connection."`
	ClientSecret  secret.Value `key:"oauth_client_secret" doc:"The secret of the OAuth consumer or of the application link."`
	SecretExpires Date         `key:"oauth_client_secret_expires" else:"none" doc:"The day on which that secret ends, as for token_expires."`
	WebhookSecret secret.Value `key:"webhook_secret" doc:"The secret with which the platform signs its webhooks."`
	Unsigned      bool         `key:"unsigned" default:"false" doc:"Whether to accept unsigned webhooks when there is no webhook_secret."`
}

// KindBitbucketDC is the kind of a self-hosted platform, KindBitbucketCloud that
// of the cloud platform.
const (
	KindBitbucketDC    = "bitbucket-dc"
	KindBitbucketCloud = "bitbucket-cloud"
)

// Alerts is about telling a chat channel what needs attention.
type Alerts struct {
	WebhookURL secret.Value `key:"webhook_url" else:"none" doc:"The webhook URL of a Teams or Slack channel that is told what needs attention on the overview, and when it no longer does. The same addresses are allowed as for rules (notify.allowed_networks)."`
	After      Duration     `key:"after" default:"5m" doc:"How long something must need attention, or no longer need it, before the channel is told. Longer means fewer messages about short problems."`
}

// Retention is how long things are kept. What still waits is never dropped by
// it.
type Retention struct {
	Events     Duration `key:"events" default:"7d" doc:"How long received events are kept. What retention names is deleted once an hour, and once a minute if one of them is shorter than an hour. At least 10m, the time during which a repeated event is recognised by its body."`
	Deliveries Duration `key:"deliveries" default:"30d" doc:"How long finished deliveries and their attempts are kept."`
	MailErrors Duration `key:"mail_errors" default:"90d" doc:"How long undeliverable messages are kept in the mail error queue."`
	Samples    Duration `key:"samples" default:"30d" doc:"How long the sizes of mail queues and the numbers of notifications are kept for the plots. At least 1d."`
	Audit      Duration `key:"audit" default:"365d" doc:"How long the audit trail is kept."`
}

// Default is the settings with nothing configured.
func Default() *Config {
	c := new(Config)
	fillDefaults(settings(c))
	return c
}
