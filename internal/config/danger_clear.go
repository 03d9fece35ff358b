package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"outrigger/internal/secret"
)

// clearDangers are sentences about passwords and tokens that this server sends
// to other machines where they can be read on the way.
func (c *Config) clearDangers(w *sentences) {
	if m := &c.Mail; m.SmarthostTLS == "none" && !m.SmarthostPassword.IsZero() && !Loopback(m.Smarthost) {
		w.warn("mail.smarthost_tls: the password for %s is sent in the clear; use starttls or tls.", m.Smarthost)
	}
	for _, to := range c.SignedIn() {
		if u, err := url.Parse(to.URL); err == nil && u.Scheme == "http" && !thisMachine(u.Hostname()) {
			w.warn("%s: the credentials for %s are sent in the clear; use https.", to.Key, to.URL)
		}
	}
	for _, d := range []struct {
		key string
		url secret.Value
	}{{"database_url", c.DatabaseURL}, {"threads.sql.url", c.Threads.SQL.URL}} {
		if host := clearDatabase(d.url.Reveal()); host != "" {
			w.warn("%s: the password and data for %s may be sent in the clear; add sslmode=verify-full (PostgreSQL) or tls=true (MySQL) to "+
				"the URL.", d.key, host)
		}
	}
}

// Remote is a server that is asked over HTTP with credentials.
type Remote struct {
	Key string // of the setting that has its URL
	URL string
}

// SignedIn are the servers that the configuration has credentials for.
func (c *Config) SignedIn() (list []Remote) {
	add := func(key, url string, credentials ...secret.Value) {
		if slices.ContainsFunc(credentials, func(v secret.Value) bool { return !v.IsZero() }) {
			list = append(list, Remote{key, url})
		}
	}
	for i := range c.Notify.Connections {
		n := &c.Notify.Connections[i]
		add("notify.connections: "+n.Name, n.BaseURL, n.Token, n.ClientSecret)
	}
	add("threads.jira_cloud.url", c.Threads.JiraCloud.URL, c.Threads.JiraCloud.Token)
	remote := c.Threads.Mappings.Remote
	add("threads.mappings.remote.url", remote.URL, remote.Password, remote.Token)
	source := func(prefix string, s MailSource) {
		add(prefix+".jmx.url", s.JMX.URL, s.JMX.Password)
		add(prefix+".remote.url", s.Remote.URL, s.Remote.Password, s.Remote.Token)
	}
	source("mail", c.Mail.Own())
	for i := range c.Mail.Nodes {
		source(fmt.Sprintf("mail.nodes[%d]", i), c.Mail.Nodes[i].From())
	}
	return list
}

// clearDatabase returns the other machine that a password for a database may go
// to without TLS, "" where there is none. PostgreSQL's default, prefer, goes on
// in clear when the server, or who answers in its place, has no TLS.
func clearDatabase(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || thisMachine(u.Hostname()) {
		return ""
	}
	if _, password := u.User.Password(); !password {
		return ""
	}
	setting, safe := u.Query().Get("sslmode"), []string{"require", "verify-ca", "verify-full"}
	if strings.HasPrefix(u.Scheme, "mysql") {
		setting, safe = u.Query().Get("tls"), []string{"true", "skip-verify"}
	}
	if slices.Contains(safe, setting) {
		return ""
	}
	return u.Hostname()
}
