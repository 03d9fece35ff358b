package config

import (
	"cmp"
	"slices"
	"strings"
)

// preset is what mail.provider sets where the file, the environment or a flag
// does not.
type preset struct {
	smarthost, tls           string
	connections, rate, quota int
	tokenURL, scope          string   // with mail.oauth
	userScope                string   // with a refresh token
	grants                   []string // nil: it takes no tokens
}

// The scopes for sending. Microsoft 365: "Authenticate an IMAP, POP or SMTP
// connection using OAuth".
const (
	microsoftScope     = "https://outlook.office365.com/.default"
	microsoftUserScope = "https://outlook.office.com/SMTP.Send offline_access"
	googleScope        = "https://mail.google.com/"
)

// presets are what the providers document. Microsoft 365: "SMTP submission
// improvements in Exchange Online" (3 connections, 30 messages a minute) and
// "Exchange Online limits" (10,000 recipients in 24 hours). What Gmail and Amazon
// SES allow differs between accounts; the endpoint of Amazon SES, between regions.
var presets = map[string]preset{
	"microsoft365": {"smtp.office365.com:587", "starttls", 3, 30, 10_000, "", microsoftScope, microsoftUserScope,
		[]string{ClientCredentials, RefreshToken}},
	"gmail": {"smtp.gmail.com:587", "starttls", 8, 0, 0, "https://oauth2.googleapis.com/token", googleScope, googleScope,
		[]string{JWTBearer, RefreshToken}},
	"ses": {"", "starttls", 8, 0, 0, "", "", "", nil},
}

// usePreset sets what mail.provider stands for, but for the keys that are given.
func (m *Mail) usePreset(given map[string]bool) {
	p, ok := presets[m.Provider]
	if m.OAuth.On() {
		m.OAuth.usePreset(&p, given["mail.oauth.grant"])
	}
	if !ok {
		return
	}
	for _, s := range []struct {
		key   string
		to    *string
		value string
	}{{"mail.smarthost", &m.Smarthost, p.smarthost}, {"mail.smarthost_tls", &m.SmarthostTLS, p.tls}} {
		if !given[s.key] {
			*s.to = s.value
		}
	}
	for _, n := range []struct {
		key   string
		to    *int
		value int
	}{{"mail.connections", &m.Connections, p.connections}, {"mail.rate", &m.Rate, p.rate}, {"mail.quota", &m.Quota, p.quota}} {
		if !given[n.key] {
			*n.to = n.value
		}
	}
}

// usePreset has the grant follow from what is there, and the rest from the
// provider.
func (o *MailOAuth) usePreset(p *preset, given bool) {
	switch {
	case given:
	case !o.RefreshToken.IsZero():
		o.Grant = RefreshToken
	case slices.Contains(p.grants, JWTBearer) && !o.ClientKey.IsZero():
		o.Grant = JWTBearer
	case p.grants != nil && !slices.Contains(p.grants, o.Grant):
		o.Grant = RefreshToken
	}
	scope := p.scope
	if o.Grant == RefreshToken {
		scope = p.userScope
	}
	o.TokenURL, o.Scope = cmp.Or(o.TokenURL, p.tokenURL), cmp.Or(o.Scope, scope)
}

// judgeMailGrant judges whether the provider has that way to tokens.
func (c *Config) judgeMailGrant(j *judge) {
	p, known := presets[c.Mail.Provider]
	grant := c.Mail.OAuth.Grant
	switch {
	case !known || slices.Contains(p.grants, grant):
	case p.grants == nil:
		j.wrong("mail.oauth", "%s takes no tokens; remove it, and set smarthost_user and smarthost_password to SMTP credentials",
			presetName(c.Mail.Provider))
	case grant == JWTBearer:
		j.wrong("mail.oauth.grant", "%s does not know %s; write %s, which takes a client_key too, or %s", presetName(c.Mail.Provider), grant,
			ClientCredentials, RefreshToken)
	case grant == ClientCredentials:
		j.wrong("mail.oauth.grant", "%s does not know %s; write %s with the client_key of a service account, or %s",
			presetName(c.Mail.Provider), grant, JWTBearer, RefreshToken)
	}
}

// dangersMail are sentences about a sign-in that will soon be refused.
func (c *Config) dangersMail(w *sentences) {
	if m := &c.Mail; !m.SmarthostPassword.IsZero() && strings.HasPrefix(m.Smarthost, "smtp.office365.com:") {
		w.warn("mail.smarthost_password: Microsoft 365 refuses passwords from the end of December 2026 on, unless an administrator of the " +
			"tenant allows them; set mail.oauth instead.")
	}
}

func (c *Config) judgeMailLimits(j *judge) {
	m := &c.Mail
	names := []string{"", "microsoft365", "gmail", "ses"}
	switch {
	case !slices.Contains(names, m.Provider):
		j.wrong("mail.provider", "%q is not known; write microsoft365, gmail or ses, or leave it out and set mail.smarthost", m.Provider)
	case m.Provider == "ses" && m.Smarthost == "":
		j.wrong("mail.smarthost", "set the SMTP endpoint of your region, such as email-smtp.eu-central-1.amazonaws.com:587; mail.provider "+
			"ses does not know the region")
	case m.Provider != "" && m.SmarthostUser == "" && m.Smarthost == presets[m.Provider].smarthost:
		j.wrong("mail.smarthost_user", "set the user name for signing in; %s accepts no mail without", presetName(m.Provider))
	}
	if m.Rate < 0 {
		j.wrong("mail.rate", "%d is too few; write the messages a minute, or 0 for no limit", m.Rate)
	}
	switch {
	case m.Quota < 0:
		j.wrong("mail.quota", "%d is too few; write the recipients in 24 hours, or 0 for no limit", m.Quota)
	case m.Quota > 0 && m.Quota < m.PerTransaction:
		j.wrong("mail.quota", "%d is less than mail.recipients_per_transaction (%d), and a message to that many recipients could never be "+
			"sent; raise the quota or lower the other", m.Quota, m.PerTransaction)
	}
}

func presetName(provider string) string {
	return strings.NewReplacer("microsoft365", "Microsoft 365", "gmail", "Gmail", "ses", "Amazon SES").Replace(provider)
}
