package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/url"
	"slices"
	"strings"

	"outrigger/internal/secret"
)

// MailOAuth is signing in to the smarthost with a token.
type MailOAuth struct {
	TokenURL      string       `key:"token_url" else:"no tokens; smarthost_password is used"`
	ClientID      string       `key:"client_id" else:"none"`
	ClientSecret  secret.Value `key:"client_secret" else:"none"`
	SecretExpires Date         `key:"client_secret_expires" else:"none"`
	ClientKey     secret.Value `key:"client_key" else:"none"`
	Scope         string       `key:"scope" else:"none"`
	Grant         string       `key:"grant" default:"client_credentials"`
	RefreshToken  secret.Value `key:"refresh_token" else:"none"`
}

func (MailOAuth) words() map[string]string {
	return map[string]string{
		"token_url": "The URL at which the provider issues tokens for signing in to the smarthost by XOAUTH2 or OAUTHBEARER. It must be " +
			"https, except on this machine. smarthost_user is then the mailbox.",
		"client_id":     "The id of the application that is registered at the provider; for a Google service account, its e-mail address.",
		"client_secret": "The secret of the application.",
		"client_secret_expires": "The day on which that secret ends, such as 2027-01-31. The overview says so 30, 7 and 1 days before. The " +
			"end of client_key is read from its certificate.",
		"client_key": "The RSA private key of the application in PEM, instead of a secret: requests are signed with it. Add its certificate " +
			"in PEM where the provider knows the key by that, as Microsoft does.",
		"scope": "The scopes to request, separated by spaces. mail.provider sets those of Microsoft 365 " +
			"(https://outlook.office365.com/.default; with a refresh token, https://outlook.office.com/SMTP.Send offline_access) and Gmail " +
			"(https://mail.google.com/).",
		"grant": "How tokens are requested: client_credentials (the application signs in by itself), refresh_token (on behalf of a user who " +
			"agreed once; the default where refresh_token is set) or jwt_bearer (a Google service account; the default with mail.provider " +
			"gmail and client_key).",
		"refresh_token": "The refresh token, for the grant refresh_token. Where the provider replaces it, the new one is stored, encrypted, " +
			"and used until another one is entered here.",
	}
}

// The grants of mail.oauth.
const (
	ClientCredentials = "client_credentials"
	RefreshToken      = "refresh_token"
	JWTBearer         = "jwt_bearer"
)

const microsoftHost = "login.microsoftonline.com"

// On reports whether the smarthost is signed in to with tokens.
func (o *MailOAuth) On() bool {
	return o.TokenURL != "" || o.ClientID != "" || !o.ClientSecret.IsZero() || !o.ClientKey.IsZero() || !o.RefreshToken.IsZero()
}

// Key reads client_key: an RSA private key, and its certificate or nil.
func (o *MailOAuth) Key() (key *rsa.PrivateKey, cert *x509.Certificate, err error) {
	text := o.ClientKey.Reveal()
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return nil, nil, errors.New("this is JSON; write only the text of its private_key, with real line ends")
	}
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch block.Type {
		case "CERTIFICATE":
			if cert != nil {
				continue // of the chain
			}
			if cert, err = x509.ParseCertificate(block.Bytes); err != nil {
				return nil, nil, errors.New("its certificate cannot be read; export it again in PEM")
			}
		case "PRIVATE KEY", "RSA PRIVATE KEY":
			parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
			}
			rsaKey, ok := parsed.(*rsa.PrivateKey)
			if err != nil || !ok {
				return nil, nil, errors.New("this is not an RSA private key; openssl genpkey -algorithm RSA generates one")
			}
			key = rsaKey
		case "ENCRYPTED PRIVATE KEY":
			return nil, nil, errors.New("the key is encrypted; openssl pkey writes it without a password")
		}
	}
	if key == nil {
		return nil, nil, errors.New("there is no private key in PEM in it; it begins with -----BEGIN PRIVATE KEY-----")
	}
	if cert != nil && !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, errors.New("the certificate belongs to another key; use both of one pair")
	}
	return key, cert, nil
}

func (c *Config) judgeMailOAuth(j *judge) {
	const key = "mail.oauth."
	m, o := &c.Mail, &c.Mail.OAuth
	if !o.On() {
		if o.Scope != "" || o.Grant != ClientCredentials {
			j.wrong(key+"token_url", "set the URL at which the provider issues tokens")
		}
		return
	}
	o.judgeURL(j, key+"token_url")
	switch o.ClientID {
	case "":
		j.wrong(key+"client_id", "set the id of the application that is registered at the provider")
	case "CLIENT_ID":
		j.wrong(key+"client_id", "replace CLIENT_ID by the id of the application that is registered at the provider")
	}
	switch {
	case m.SmarthostUser == "":
		j.wrong("mail.smarthost_user", "set the mailbox that mail is sent from; tokens are used together with it")
	case strings.ContainsFunc(m.SmarthostUser, func(r rune) bool { return r < ' ' || r == 0x7f }):
		j.wrong("mail.smarthost_user", "a mailbox must not contain line ends or other control characters")
	}
	if !m.SmarthostPassword.IsZero() {
		j.wrong("mail.smarthost_password", "remove it; with mail.oauth, a token is used instead")
	}
	if m.SmarthostTLS == "none" {
		j.wrong("mail.smarthost_tls", "a token must not be sent in the clear; use starttls or tls with mail.oauth")
	}
	if !o.ClientKey.IsZero() {
		if _, _, err := o.Key(); err != nil {
			j.wrong(key+"client_key", "%w", err)
		}
	}
	if strings.Contains(o.TokenURL, microsoftHost) && o.Scope == "" {
		scope := microsoftScope
		if o.Grant == RefreshToken {
			scope = microsoftUserScope
		}
		j.wrong(key+"scope", "set %s; Microsoft issues no token without it", scope)
	}
	o.judgeGrant(j, key)
	c.judgeMailGrant(j)
}

func (o *MailOAuth) judgeURL(j *judge, key string) {
	u, err := url.Parse(o.TokenURL)
	switch {
	case o.TokenURL == "":
		j.wrong(key, "set the URL at which the provider issues tokens, such as https://%s/TENANT/oauth2/v2.0/token", microsoftHost)
		return
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		j.wrong(key, "this is not a URL; write it as https://%s/TENANT/oauth2/v2.0/token", microsoftHost)
		return
	case u.Scheme != "https" && !(u.Scheme == "http" && thisMachine(u.Hostname())):
		j.wrong(key, "the secrets for %s would be sent in the clear; use https", u.Host)
	}
	if u.Host != microsoftHost {
		return
	}
	switch tenant, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/"); {
	case slices.Contains([]string{"tenant", "tenant_id", "tenant-id"}, strings.ToLower(strings.Trim(tenant, "{}<>"))):
		j.wrong(key, "replace %s by the id of your tenant (Directory ID)", tenant)
	case o.Grant == ClientCredentials && slices.Contains([]string{"common", "organizations", "consumers"}, tenant):
		j.wrong(key, "the grant client_credentials needs the id of your tenant in place of %s", tenant)
	}
}

// judgeGrant judges what each grant needs, and what it does not use.
func (o *MailOAuth) judgeGrant(j *judge, key string) {
	hasSecret, hasKey, hasRefresh := !o.ClientSecret.IsZero(), !o.ClientKey.IsZero(), !o.RefreshToken.IsZero()
	if hasSecret && hasKey {
		j.wrong(key+"client_secret", "set either client_secret or client_key")
	}
	switch o.Grant {
	case ClientCredentials:
		if !hasSecret && !hasKey {
			j.wrong(key+"client_secret", "set client_secret or client_key; the grant %s needs one of them", o.Grant)
		}
	case RefreshToken:
		if !hasRefresh {
			j.wrong(key+"refresh_token", "set the refresh token that the provider issued when the user agreed")
		}
	case JWTBearer:
		if !hasKey {
			j.wrong(key+"client_key", "set the private key of the service account; the grant %s needs it", o.Grant)
		}
		if hasSecret {
			j.wrong(key+"client_secret", "remove it; the grant %s uses client_key", o.Grant)
		}
	default:
		j.wrong(key+"grant", "%q is not known; write %s, %s or %s", o.Grant, ClientCredentials, RefreshToken, JWTBearer)
		return
	}
	if hasRefresh && o.Grant != RefreshToken {
		j.wrong(key+"refresh_token", "remove it, or set grant to %s; %s does not use it", RefreshToken, o.Grant)
	}
}
