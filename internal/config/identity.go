package config

import (
	"net/url"
	"slices"
)

// Identity is where users come from, besides local ones.
type Identity struct {
	Platform string `key:"platform" else:"none"`
	OIDC     OIDC   `key:"oidc"`
}

func (Identity) words() map[string]string {
	return map[string]string{
		"platform": "The connection whose platform knows further users: they sign in with their name and password there and may do here " +
			"what they administer there. It must be one of notify.connections. With oauth_client_id of the connection, they can sign in on the " +
			"platform's own pages too.",
	}
}

func (c *Config) judgeIdentity(j *judge) {
	c.judgeOIDC(j)
	const key = "identity.platform"
	name := c.Identity.Platform
	if name == "" {
		return
	}
	i := slices.IndexFunc(c.Notify.Connections, func(conn Connection) bool { return conn.Name == name })
	if i < 0 {
		j.wrong(key, "there is no connection %q in notify.connections; write the name of one of them", name)
		return
	}
	conn := c.Notify.Connections[i]
	switch name {
	case "local":
		j.wrong(key, "local is the source of users of Outrigger itself; give the connection another name")
	case "oidc":
		j.wrong(key, "oidc is the source of users of single sign-on; give the connection another name")
	}
	if conn.Kind != KindBitbucketDC {
		j.wrong(key, "the connection %s is of kind %q; only %s has users", name, conn.Kind, KindBitbucketDC)
	}
	if u, err := url.Parse(conn.BaseURL); err == nil && u.Scheme != "https" && !thisMachine(u.Hostname()) {
		j.wrong(key, "passwords would be sent to %s in the clear; the base_url of the connection %s must begin with https", u.Host, name)
	}
	if conn.Token.IsZero() {
		j.wrong(key, "permissions are asked for by the account of the connection %s; set its token", name)
	}
}
