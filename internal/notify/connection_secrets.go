package notify

import (
	"net/url"
	"strings"

	"outrigger/internal/fault"
)

// KeepSecrets takes over the secrets of before that c leaves out. The error,
// fault.Invalid, names those that were entered for another server than that of
// c's base URL: they have to be entered again, so that none is ever sent where
// the person who entered it did not mean it to go.
func (c *Connection) KeepSecrets(before *Connection) error {
	var f fault.Fields
	moved := c.Moved(before)
	if c.Token.IsZero() {
		c.Token = before.Token
		if moved && !c.Token.IsZero() {
			f.Add("token", "Enter the token again. It is kept only if scheme, host and port of the base URL are unchanged.")
		}
	}
	if c.OAuthClientSecret.IsZero() && c.OAuthClientID != "" {
		c.OAuthClientSecret = before.OAuthClientSecret
		if moved && !c.OAuthClientSecret.IsZero() {
			f.Add("oauthClientSecret", "Enter the client secret again. It is kept only if scheme, host and port of the base URL are unchanged.")
		}
	}
	return f.Err()
}

// Repurposes reports whether the secrets that c leaves out, and so keeps, would be
// sent to another path than before, with another name, or for changes on the
// platform.
func (c *Connection) Repurposes(before *Connection) bool {
	keeps := c.Token.IsZero() && !before.Token.IsZero() || c.OAuthClientSecret.IsZero() && c.OAuthClientID != "" &&
		!before.OAuthClientSecret.IsZero()
	return keeps && !c.Moved(before) && (c.BaseURL != before.BaseURL || c.User != before.User ||
		c.ManageWebhooks != before.ManageWebhooks || c.OAuthClientID != before.OAuthClientID)
}

// Moved reports whether the base URL names another server than before.
func (c *Connection) Moved(before *Connection) bool {
	return serverOf(c.BaseURL) != serverOf(before.BaseURL)
}

// KnowsSecretOf reports whether the secret of a hook is the connection's server's
// to know: one from before the base URL named that server was told another, or a
// person.
func (c *Connection) KnowsSecretOf(h *Hook) bool {
	return !h.CreatedAt.Before(c.ServerAt) || !h.RotatedAt.Before(c.ServerAt)
}

// serverOf returns scheme, host and port of a base URL; "" for what is no URL,
// which Validate refuses.
func serverOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "" && u.Scheme == "http":
		port = "80"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
