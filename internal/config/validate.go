package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"outrigger/internal/egress"
	"outrigger/internal/secret"
)

const (
	// minEvents is the time in which a repeated event is recognised by its
	// body; an event forgotten sooner would be taken twice.
	minEvents = Duration(10 * time.Minute)
	// minKept keeps a retention of zero, which would delete everything at
	// once, from being written by mistake.
	minKept = Duration(time.Minute)
	// maxAlertsAfter keeps a wrong unit from silencing alerts.
	maxAlertsAfter = Duration(24 * time.Hour)
	// minSamples is what the plot of a mail queue shows.
	minSamples = Duration(24 * time.Hour)
)

// connectionName is what fits in a webhook URL without escaping.
var connectionName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// hostName is what can be resolved; egress, which uses it, looks closer.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$`)

// Validate judges the settings together and names everything that is wrong, a
// line each, beginning with the key.
func (c *Config) Validate() error { return errors.Join(c.problems()...) }

// judge collects what is wrong.
type judge []error

func (j *judge) wrong(key, format string, args ...any) {
	*j = append(*j, fmt.Errorf("%s: "+format, append([]any{key}, args...)...))
}

// oneOf judges a value of which a few are known.
func (j *judge) oneOf(key, value string, known ...string) {
	if last := len(known) - 1; !slices.Contains(known, value) {
		j.wrong(key, "%q is not known; write %s or %s", value, strings.Join(known[:last], ", "), known[last])
	}
}

func (c *Config) problems() []error {
	var j judge
	c.judgeListener(&j)
	c.judgeDatabase(&j)
	c.judgeLog(&j)
	c.judgeMail(&j)
	c.judgeMailSources(&j)
	c.judgeThreads(&j)
	c.judgeNotify(&j)
	c.judgeIdentity(&j)
	c.judgeAlerts(&j)
	for _, r := range []struct {
		key       string
		kept, min Duration
	}{
		{"retention.events", c.Retention.Events, minEvents},
		{"retention.deliveries", c.Retention.Deliveries, minKept},
		{"retention.mail_errors", c.Retention.MailErrors, minKept},
		{"retention.samples", c.Retention.Samples, minSamples},
		{"retention.audit", c.Retention.Audit, minKept},
	} {
		if r.kept < r.min {
			j.wrong(r.key, "%s is too short; use at least %s", r.kept, r.min)
		}
	}
	return j
}

func (c *Config) judgeAlerts(j *judge) {
	if raw := c.Alerts.WebhookURL.Reveal(); raw != "" {
		// The URL is a secret, and an error of net/url would quote it.
		if u, err := url.Parse(raw); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			j.wrong("alerts.webhook_url", "this is not an http or https URL; copy it again from the chat platform")
		}
	}
	if c.Alerts.After < 0 || c.Alerts.After > maxAlertsAfter {
		j.wrong("alerts.after", "%s is not from 0s to %s", c.Alerts.After, maxAlertsAfter)
	}
}

func (c *Config) judgeListener(j *judge) {
	c.judgeListen(j)
	if c.BaseURL != "" {
		judgeURL(j, "base_url", c.BaseURL)
	}
	for _, cidr := range c.TrustedProxies {
		if _, err := netip.ParsePrefix(cidr); err != nil && cidr != TrustSocket {
			j.wrong("trusted_proxies", "%q is not a CIDR; write it as 10.0.0.0/8 or 10.1.2.3/32, or unix for what connects to the Unix socket", cidr)
		}
	}
	for _, name := range c.AllowedHosts {
		if !hostName.MatchString(name) {
			j.wrong("allowed_hosts", "%q is not a host name; write it without scheme and port, such as outrigger.example.com", name)
		}
	}
	judgeCertificate(j, "tls", c.TLS.Cert, c.TLS.Key)
}

func (c *Config) judgeDatabase(j *judge) {
	if c.DataDir == "" {
		j.wrong("data_dir", "set the data folder")
	}
	if !c.DatabaseURL.IsZero() {
		// The parser's own error would quote the URL with its password.
		u, err := url.Parse(c.DatabaseURL.Reveal())
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
			j.wrong("database_url", "this is not a PostgreSQL URL; write it as postgres://user:password@host:5432/name")
		}
	}
	judgeKey(j, "secret_key", c.SecretKey)
	judgeKey(j, "secret_key_previous", c.PreviousKey)
	if !c.PreviousKey.IsZero() && c.SecretKey.IsZero() {
		j.wrong("secret_key_previous", "secret_key is missing; set it to the key that replaced the previous one")
	}
	if c.Cluster.Enabled && c.DatabaseURL.IsZero() {
		j.wrong("cluster.enabled", "several nodes need a shared PostgreSQL database; set database_url")
	}
	if c.Cluster.Enabled && c.SecretKey.IsZero() {
		j.wrong("cluster.enabled", "several nodes need a shared key; set the same secret_key (or secret_key_file) on every node")
	}
	if !isNodeID(c.NodeID) {
		j.wrong("node_id", "a node id has at most 255 bytes and no spaces")
	}
}

func judgeKey(j *judge, name string, value secret.Value) {
	if value.IsZero() {
		return
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value.Reveal()))
	if err != nil || len(key) != secret.KeySize {
		j.wrong(name, "the key is not %d bytes in base64; openssl rand -base64 %d generates one", secret.KeySize, secret.KeySize)
	}
}

func (c *Config) judgeLog(j *judge) {
	if c.Log.Format != "" {
		j.oneOf("log.format", c.Log.Format, "text", "json")
	}
	j.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
}

func (c *Config) judgeNotify(j *judge) {
	for _, n := range c.Notify.AllowedNetworks {
		if _, err := egress.ParseAllowed(n); err != nil {
			j.wrong("notify.allowed_networks", "%v", err)
		}
	}
	for _, n := range c.Notify.ProxiedHosts {
		if !hostName.MatchString(strings.TrimPrefix(n, "*.")) {
			j.wrong("notify.proxied_hosts", "%q is not a host name; write chat.example.com, or *.example.com for every name below example.com", n)
		}
	}
	if rate := c.Notify.ChannelRate; !(rate > 0 && rate <= 1e9) {
		j.wrong("notify.channel_rate", "%v is not a rate; write a number of messages a second, above 0", rate)
	}
	if c.Notify.ChannelBurst < 1 {
		j.wrong("notify.channel_burst", "%d is too few; use at least 1", c.Notify.ChannelBurst)
	}
	if c.Notify.MaxAge < Duration(time.Minute) {
		j.wrong("notify.max_age", "%v is too short; use at least 1m, so that a message can be tried again", c.Notify.MaxAge)
	}
	if c.Notify.MaxWaiting < 1 {
		j.wrong("notify.max_waiting", "%d is too few; use at least 1", c.Notify.MaxWaiting)
	}
	if c.Notify.DigestAbove < 0 {
		j.wrong("notify.digest_above", "%d is not a number of messages; 0 turns digests off", c.Notify.DigestAbove)
	}
	seen := map[string]bool{}
	for i, conn := range c.Notify.Connections {
		key := fmt.Sprintf("notify.connections[%d]", i)
		conn.judge(j, key)
		if seen[conn.Name] && conn.Name != "" {
			j.wrong(key+".name", "the name %s is used twice; every connection needs its own name", conn.Name)
		}
		seen[conn.Name] = true
		if conn.Kind != KindBitbucketCloud && conn.Name != c.Identity.Platform && (conn.ClientID != "" || !conn.ClientSecret.IsZero()) {
			j.wrong(key+".oauth_client_id", "only connections of kind %s, and the one that identity.platform names, have an OAuth client; "+
				"leave it out", KindBitbucketCloud)
		}
		if conn.Manage && c.BaseURL == "" {
			j.wrong(key+".manage_webhooks", "base_url is missing; the platform needs it to reach Outrigger")
		}
	}
}

func (c *Connection) judge(j *judge, key string) {
	if !connectionName.MatchString(c.Name) {
		j.wrong(key+".name", "%q is not a valid name; use 1 to 63 lower-case letters, digits and dashes, with no dash at either end", c.Name)
	}
	j.oneOf(key+".kind", c.Kind, KindBitbucketDC, KindBitbucketCloud)
	if c.BaseURL == "" {
		j.wrong(key+".base_url", "set the base URL of the platform")
	} else {
		judgeURL(j, key+".base_url", c.BaseURL)
	}
	if c.User != "" && c.Token.IsZero() {
		j.wrong(key+".token", "set the password or token of %s", c.User)
	}
	c.judgeClient(j, key)
	if c.Manage && c.Token.IsZero() && c.Kind != KindBitbucketCloud {
		j.wrong(key+".manage_webhooks", "token is missing; creating webhooks needs an account that administers the projects")
	}
}

// judgeClient judges the OAuth client.
func (c *Connection) judgeClient(j *judge, key string) {
	switch {
	case c.ClientID == "" && !c.ClientSecret.IsZero():
		j.wrong(key+".oauth_client_id", "set the key that belongs to the secret")
	case c.ClientID != "" && c.ClientSecret.IsZero():
		j.wrong(key+".oauth_client_secret", "set the secret that belongs to the key")
	}
}

func judgeURL(j *judge, key, raw string) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		j.wrong(key, "this is not a URL; write it as https://host or https://host/path")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		j.wrong(key, "a base URL has only a scheme, a host and optionally a path")
	}
}

// judgePageURL is judgeURL for a whole URL, which may have a query.
func judgePageURL(j *judge, key, raw string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		j.wrong(key, "the URL is missing")
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		j.wrong(key, "this is not a URL; write it as https://host/path")
	case u.User != nil || u.Fragment != "":
		j.wrong(key, "the URL must not contain a user, a password or a fragment; set user and password as keys of their own")
	}
}

// warnings are sentences about settings that are allowed and probably not
// meant.
func (c *Config) warnings() (w sentences) {
	for _, conn := range c.Notify.Connections {
		if conn.WebhookSecret.IsZero() && !conn.Unsigned {
			w.warn("The connection %s has no webhook_secret, so all its webhooks are refused. Set webhook_secret, or unsigned: true.", conn.Name)
		}
	}
	return append(w, c.dangers()...)
}
