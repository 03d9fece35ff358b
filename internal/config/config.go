// Package config is the settings of the program: one struct with defaults,
// filled from a strict YAML file, then the environment, then flags, and judged
// in sentences that name the key.
//
// The struct is the only list of settings. Its tags carry the key and the default,
// its words the sentence; the environment names, `outrigger config print` and the
// messages about unknown keys come from it.
package config

import (
	"outrigger/internal/secret"
)

// Config is every setting. Make one with Default or Load; the zero value has
// no defaults. Relative paths are relative to the working directory.
//
// Tags: `key` is the name in the file, `default` is written as in the file,
// `else` says in words what holds where there is no default value. The method
// words of each struct has the sentences that `config print` shows, by key.
type Config struct {
	Listen         string       `key:"listen" default:"127.0.0.1:8090"`
	BaseURL        string       `key:"base_url" else:"the address of the listener"`
	TrustedProxies []string     `key:"trusted_proxies" else:"none"`
	AllowedHosts   []string     `key:"allowed_hosts" else:"none"`
	HSTS           bool         `key:"hsts" default:"false"`
	TLS            TLS          `key:"tls"`
	DataDir        string       `key:"data_dir" default:"./outrigger-data"`
	BackupDir      string       `key:"backup_dir" else:"data_dir"`
	DatabaseURL    secret.Value `key:"database_url" else:"SQLite in data_dir"`
	SecretKey      secret.Value `key:"secret_key" else:"a key generated into data_dir/secret.key"`
	PreviousKey    secret.Value `key:"secret_key_previous" else:"none"`
	AdminPassword  secret.Value `key:"admin_password" else:"a password generated into data_dir/initial-password"`
	NodeID         string       `key:"node_id" else:"the host name"`
	Cluster        Cluster      `key:"cluster"`
	Identity       Identity     `key:"identity"`
	Log            Log          `key:"log"`
	Metrics        Metrics      `key:"metrics"`
	Mail           Mail         `key:"mail"`
	Notify         Notify       `key:"notify"`
	Threads        Threads      `key:"threads"`
	CAFile         string       `key:"ca_file" else:"the system's certificates"`
	Alerts         Alerts       `key:"alerts"`
	Retention      Retention    `key:"retention"`
}

func (Config) words() map[string]string {
	return map[string]string{
		"listen": "Host and port of the HTTP server. An empty host listens on every address of the machine. With tls.cert and tls.key it " +
			"serves HTTPS. unix:/path listens on a Unix socket instead.",
		"base_url": "The URL at which users and platforms reach the server. It may have a path.",
		"trusted_proxies": "CIDRs of the proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted; unix stands for all that " +
			"connect to the Unix socket of listen.",
		"allowed_hosts": "Additional host names, without a port, at which browsers may reach the console. The host of base_url, localhost " +
			"and IP addresses are always allowed.",
		"hsts": "Whether to send Strict-Transport-Security, which tells browsers to use only HTTPS for this host name for a year. It " +
			"applies to every port of the host, including those of other programs.",
		"data_dir": "The folder for the SQLite database, the generated key and the initial password.",
		"backup_dir": "The folder in which the server makes a backup before it is downloaded. It must exist, and needs as much free space " +
			"as the database has, besides a tenth of its disk (at most 20 GiB), which stays free.",
		"database_url": "The URL of the PostgreSQL database, such as postgres://user:password@host/name.",
		"secret_key": "The key that encrypts stored secrets: 32 bytes in base64, such as openssl rand -base64 32 prints. Required when " +
			"several nodes share a database.",
		"secret_key_previous": "The previous secret_key, so that secrets it encrypted can still be read. Run outrigger secrets rotate to " +
			"encrypt them with the new key, then remove this setting.",
		"admin_password": "The password of the first administrator, admin. It is read only when there are no users yet.",
		"node_id":        "The name of this node, unique in a cluster.",
		"ca_file":        "A PEM file with additional certificates to trust for outgoing TLS.",
	}
}

// TLS is the certificate of the HTTP listener.
type TLS struct {
	Cert string `key:"cert" else:"plain HTTP"`
	Key  string `key:"key" else:"plain HTTP"`
}

func (TLS) words() map[string]string {
	return map[string]string{
		"cert": "The PEM file of the server's certificate, with its chain. It is reloaded when it changes.",
		"key":  "The PEM file of the certificate's private key. It is reloaded when it changes.",
	}
}

// Cluster is about several nodes on one database.
type Cluster struct {
	Enabled bool `key:"enabled" default:"false"`
}

func (Cluster) words() map[string]string {
	return map[string]string{
		"enabled": "Whether other nodes share the database. Needs database_url and secret_key.",
	}
}

// Log is where the log goes and how much of it.
type Log struct {
	Format string `key:"format" else:"text on a terminal, else json"`
	Level  string `key:"level" default:"info"`
}

func (Log) words() map[string]string {
	return map[string]string{
		"format": "The format of log lines on standard output: text or json.",
		"level":  "The lowest level to log: debug, info, warn or error.",
	}
}

// Metrics is about /metrics.
type Metrics struct {
	Public bool `key:"public" default:"false"`
}

func (Metrics) words() map[string]string {
	return map[string]string{
		"public": "Whether /metrics can be read without signing in. Otherwise it needs a token of scope monitoring.",
	}
}

// Alerts is about telling a chat channel what needs attention.
type Alerts struct {
	WebhookURL secret.Value `key:"webhook_url" else:"none"`
	After      Duration     `key:"after" default:"5m"`
}

func (Alerts) words() map[string]string {
	return map[string]string{
		"webhook_url": "The webhook URL of a Teams or Slack channel that is told what needs attention on the overview, and when it no " +
			"longer does. The same addresses are allowed as for rules (notify.allowed_networks).",
		"after": "How long something must need attention, or no longer need it, before the channel is told. Longer means fewer messages " +
			"about short problems.",
	}
}

// Retention is how long things are kept. What still waits is never dropped by
// it.
type Retention struct {
	Events     Duration `key:"events" default:"7d"`
	Deliveries Duration `key:"deliveries" default:"30d"`
	MailErrors Duration `key:"mail_errors" default:"90d"`
	Samples    Duration `key:"samples" default:"30d"`
	Audit      Duration `key:"audit" default:"365d"`
}

func (Retention) words() map[string]string {
	return map[string]string{
		"events": "How long received events are kept. What retention names is deleted once an hour, and once a minute if one of them is " +
			"shorter than an hour. At least 10m, the time during which a repeated event is recognised by its body.",
		"deliveries":  "How long finished deliveries and their attempts are kept.",
		"mail_errors": "How long undeliverable messages are kept in the mail error queue.",
		"samples":     "How long the sizes of mail queues and the numbers of notifications are kept for the plots. At least 1d.",
		"audit":       "How long the audit trail is kept.",
	}
}

// Default is the settings with nothing configured.
func Default() *Config {
	c := new(Config)
	fillDefaults(settings(c))
	return c
}
