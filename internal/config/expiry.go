package config

import "time"

// Expiry is when a credential of the settings ends.
type Expiry struct {
	Key string // of its setting, with the name of the connection
	At  time.Time
}

// Expiries lists the credentials whose end is known: from the dates beside them, and
// from the certificate of mail.oauth.client_key.
func (c *Config) Expiries() (list []Expiry) {
	add := func(key string, at time.Time) {
		if !at.IsZero() {
			list = append(list, Expiry{key, at})
		}
	}
	for i := range c.Notify.Connections {
		n := &c.Notify.Connections[i]
		add(connectionsKey+": token of "+n.Name, n.TokenExpires.Time())
		add(connectionsKey+": oauth_client_secret of "+n.Name, n.SecretExpires.Time())
	}
	add("identity.oidc.client_secret", c.Identity.OIDC.SecretExpires.Time())
	add("mail.oauth.client_secret", c.Mail.OAuth.SecretExpires.Time())
	if !c.Mail.OAuth.ClientKey.IsZero() {
		if _, cert, err := c.Mail.OAuth.Key(); err == nil && cert != nil {
			add("mail.oauth.client_key", cert.NotAfter)
		}
	}
	add("threads.jira_cloud.token", c.Threads.JiraCloud.TokenExpires.Time())
	return list
}
