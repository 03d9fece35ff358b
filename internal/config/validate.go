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

	"outrigger/internal/secret"
)

const (
	// minEvents is the time in which a repeated event is recognised by its
	// body; an event forgotten sooner would be taken twice.
	minEvents = Duration(10 * time.Minute)
	// minKept keeps a retention of zero, which would delete everything at
	// once, from being written by mistake.
	minKept = Duration(time.Minute)
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

func (c *Config) problems() []error {
	var j judge
	c.judgeListener(&j)
	c.judgeDatabase(&j)
	c.judgeLog(&j)
	c.judgeMail(&j)
	c.judgeMailSources(&j)
	c.judgeThreads(&j)
	c.judgeNotify(&j)
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
			j.wrong(r.key, "%s is too short; keep them for at least %s", r.kept, r.min)
		}
	}
	return j
}

func (c *Config) judgeListener(j *judge) {
	judgeAddress(j, "listen", c.Listen, "127.0.0.1:8090 or :8090")
	if c.BaseURL != "" {
		judgeURL(j, "base_url", c.BaseURL)
	}
	for _, cidr := range c.TrustedProxies {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			j.wrong("trusted_proxies", "%q is no CIDR; write it as 10.0.0.0/8 or 10.1.2.3/32", cidr)
		}
	}
	for _, name := range c.AllowedHosts {
		if !hostName.MatchString(name) {
			j.wrong("allowed_hosts", "%q is no host name; write it without scheme and port, such as outrigger.example.com", name)
		}
	}
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		j.wrong("tls", "cert and key go together; give both or neither")
	}
}

func (c *Config) judgeDatabase(j *judge) {
	if c.DataDir == "" {
		j.wrong("data_dir", "the folder is missing")
	}
	if !c.DatabaseURL.IsZero() {
		// The parser's own error would quote the URL with its password.
		u, err := url.Parse(c.DatabaseURL.Reveal())
		if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
			j.wrong("database_url", "this is no PostgreSQL URL; write it as postgres://user:password@host:5432/name")
		}
	}
	judgeKey(j, "secret_key", c.SecretKey)
	judgeKey(j, "secret_key_previous", c.PreviousKey)
	if !c.PreviousKey.IsZero() && c.SecretKey.IsZero() {
		j.wrong("secret_key_previous", "a previous key needs secret_key too, the one that took its place")
	}
	if c.Cluster.Enabled && c.DatabaseURL.IsZero() {
		j.wrong("cluster.enabled", "several nodes need one PostgreSQL; set database_url")
	}
	if c.Cluster.Enabled && c.SecretKey.IsZero() {
		j.wrong("cluster.enabled", "several nodes need one key; set secret_key, or secret_key_file, alike on each of them")
	}
	if !isNodeID(c.NodeID) {
		j.wrong("node_id", "a name has no spaces and at most 255 bytes")
	}
}

func judgeKey(j *judge, name string, value secret.Value) {
	if value.IsZero() {
		return
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value.Reveal()))
	if err != nil || len(key) != secret.KeySize {
		j.wrong(name, "the key is not %d bytes in base64; openssl rand -base64 %d makes one", secret.KeySize, secret.KeySize)
	}
}

func (c *Config) judgeLog(j *judge) {
	if !slices.Contains([]string{"", "text", "json"}, c.Log.Format) {
		j.wrong("log.format", "%q is not known; write text or json", c.Log.Format)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		j.wrong("log.level", "%q is not known; write debug, info, warn or error", c.Log.Level)
	}
}

func (c *Config) judgeNotify(j *judge) {
	for _, n := range c.Notify.AllowedNetworks {
		if _, err := netip.ParsePrefix(n); err == nil {
			continue
		}
		if _, err := netip.ParseAddr(n); err != nil && !hostName.MatchString(n) {
			j.wrong("notify.allowed_networks", "%q is neither a CIDR nor a host name; write 10.0.0.0/8 or chat.example.com", n)
		}
	}
	for _, n := range c.Notify.ProxiedHosts {
		if !hostName.MatchString(strings.TrimPrefix(n, "*.")) {
			j.wrong("notify.proxied_hosts", "%q is no host name; write chat.example.com, or *.example.com for every name below example.com", n)
		}
	}
	if rate := c.Notify.ChannelRate; !(rate > 0 && rate <= 1e9) {
		j.wrong("notify.channel_rate", "%v is no rate; write messages a second, above 0", rate)
	}
	if c.Notify.ChannelBurst < 1 {
		j.wrong("notify.channel_burst", "%d is too few; a burst is at least 1 message", c.Notify.ChannelBurst)
	}
	if c.Notify.MaxAge < Duration(time.Minute) {
		j.wrong("notify.max_age", "%v is too short for a channel to be tried again; write at least 1m", c.Notify.MaxAge)
	}
	if c.Notify.MaxWaiting < 1 {
		j.wrong("notify.max_waiting", "%d is too few; at least 1 message waits", c.Notify.MaxWaiting)
	}
	if c.Notify.DigestAbove < 0 {
		j.wrong("notify.digest_above", "%d is no number of messages; write 0 for no digests", c.Notify.DigestAbove)
	}
	seen := map[string]bool{}
	for i, conn := range c.Notify.Connections {
		key := fmt.Sprintf("notify.connections[%d]", i)
		conn.judge(j, key)
		if seen[conn.Name] && conn.Name != "" {
			j.wrong(key+".name", "there is another connection called %s; each has its own name", conn.Name)
		}
		seen[conn.Name] = true
		if conn.Manage && c.BaseURL == "" {
			j.wrong(key+".manage_webhooks", "the platform must be told where Outrigger is; set base_url too")
		}
	}
}

func (c *Connection) judge(j *judge, key string) {
	if !connectionName.MatchString(c.Name) {
		j.wrong(key+".name", "%q is no name; it has 1 to 63 lower-case letters, digits and dashes, no dash at either end", c.Name)
	}
	if c.Kind != KindBitbucketDC {
		j.wrong(key+".kind", "%q is not known; write %s", c.Kind, KindBitbucketDC)
	}
	if c.BaseURL == "" {
		j.wrong(key+".base_url", "the platform's base URL is missing")
	} else {
		judgeURL(j, key+".base_url", c.BaseURL)
	}
	if c.User != "" && c.Token.IsZero() {
		j.wrong(key+".token", "the password or token of %s is missing", c.User)
	}
	if c.Manage && c.Token.IsZero() {
		j.wrong(key+".manage_webhooks", "webhooks are created by an account that administers the projects; give its token too")
	}
}

func judgeURL(j *judge, key, raw string) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		j.wrong(key, "this is no URL; write it as https://host or https://host/path")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		j.wrong(key, "a base URL has a scheme, a host and perhaps a path, and nothing else")
	}
}

// judgePageURL is judgeURL for a whole URL, which may have a query.
func judgePageURL(j *judge, key, raw string) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		j.wrong(key, "the URL is missing")
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		j.wrong(key, "this is no URL; write it as https://host/path")
	case u.User != nil || u.Fragment != "":
		j.wrong(key, "a URL here has no user and no fragment; user and password are keys of their own")
	}
}

// warnings are sentences about settings that are allowed and probably not
// meant.
func (c *Config) warnings() []string {
	var w []string
	for _, conn := range c.Notify.Connections {
		if conn.WebhookSecret.IsZero() && !conn.Unsigned {
			w = append(w, fmt.Sprintf("The connection %s has no webhook_secret: every webhook of it will be refused, unless it says unsigned: true.", conn.Name))
		}
	}
	return append(w, c.dangers()...)
}
