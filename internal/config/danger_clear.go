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
func (c *Config) clearDangers() []string {
	var w []string
	if m := &c.Mail; m.SmarthostTLS == "none" && !m.SmarthostPassword.IsZero() && !Loopback(m.Smarthost) {
		w = append(w, fmt.Sprintf("mail.smarthost_tls: the password for %s is sent in the clear; use starttls or tls.", m.Smarthost))
	}
	for _, to := range c.signedIn() {
		if u, err := url.Parse(to.url); err == nil && u.Scheme == "http" && !thisMachine(u.Hostname()) && to.signsIn {
			w = append(w, fmt.Sprintf("%s: the credentials for %s are sent in the clear; use https.", to.key, to.url))
		}
	}
	for _, d := range []struct {
		key string
		url secret.Value
	}{{"database_url", c.DatabaseURL}, {"threads.sql.url", c.Threads.SQL.URL}} {
		if host := clearDatabase(d.url.Reveal()); host != "" {
			w = append(w, fmt.Sprintf("%s: the password and data for %s may be sent in the clear; add sslmode=verify-full (PostgreSQL) or tls=true (MySQL) to the URL.", d.key, host))
		}
	}
	return w
}

// remote is a server that is asked over HTTP.
type remote struct {
	key, url string
	signsIn  bool
}

func (c *Config) signedIn() []remote {
	list := []remote{
		{"threads.jira_cloud.url", c.Threads.JiraCloud.URL, !c.Threads.JiraCloud.Token.IsZero()},
		{"threads.mappings.remote.url", c.Threads.Mappings.Remote.URL, !c.Threads.Mappings.Remote.Password.IsZero() || !c.Threads.Mappings.Remote.Token.IsZero()},
	}
	source := func(prefix string, s MailSource) {
		list = append(list,
			remote{prefix + ".jmx.url", s.JMX.URL, !s.JMX.Password.IsZero()},
			remote{prefix + ".remote.url", s.Remote.URL, !s.Remote.Password.IsZero() || !s.Remote.Token.IsZero()})
	}
	source("mail", c.Mail.Own())
	for i := range c.Mail.Nodes {
		source(fmt.Sprintf("mail.nodes[%d]", i), c.Mail.Nodes[i].From())
	}
	return list
}

// clearDatabase gives the other machine that a password for a database may go
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
