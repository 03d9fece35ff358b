package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/secret"
)

// pair is a key and its certificate in PEM.
func pair(t *testing.T) (key, cert string) {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	return asPEM("PRIVATE KEY", raw), asPEM("CERTIFICATE", signed)
}

func asPEM(kind string, raw []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
}

// What is wrong or missing for each grant is said in sentences that hold no
// secret.
func TestMailOAuth(t *testing.T) {
	key, cert := pair(t)
	_, otherCert := pair(t)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	const microsoft = "https://login.microsoftonline.com/0a1b/oauth2/v2.0/token"
	hidden := secret.New("hunter2")
	for _, test := range []struct {
		name string
		edit func(m *Mail, o *MailOAuth)
		want string
	}{
		{"Microsoft", func(*Mail, *MailOAuth) {}, ""},
		{"a key", func(_ *Mail, o *MailOAuth) { o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(key) }, ""},
		{"a key and its certificate", func(_ *Mail, o *MailOAuth) { o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(cert+key) }, ""},
		{"a refresh token", func(_ *Mail, o *MailOAuth) { o.Grant, o.RefreshToken = RefreshToken, hidden }, ""},
		{"a refresh token of a public client", func(_ *Mail, o *MailOAuth) {
			o.Grant, o.RefreshToken, o.ClientSecret = RefreshToken, hidden, secret.Value{}
		}, ""},
		{"a service account", func(_ *Mail, o *MailOAuth) {
			o.Grant, o.ClientSecret, o.ClientKey = JWTBearer, secret.Value{}, secret.New(key)
		}, ""},
		{"this machine", func(_ *Mail, o *MailOAuth) { o.TokenURL = "http://127.0.0.1:8080/token" }, ""},
		{"nothing but a grant", func(m *Mail, o *MailOAuth) { *o, m.SmarthostUser = MailOAuth{Grant: RefreshToken}, "" }, "token_url: set the URL at which the provider issues tokens"},
		{"no URL", func(_ *Mail, o *MailOAuth) { o.TokenURL = "" }, "token_url: set the URL at which the provider issues tokens, such as https://login.microsoftonline.com/TENANT/oauth2/v2.0/token"},
		{"no URL at all", func(_ *Mail, o *MailOAuth) { o.TokenURL = "login.microsoftonline.com" }, "token_url: this is not a URL; write it as https://login.microsoftonline.com/TENANT/oauth2/v2.0/token"},
		{"http", func(_ *Mail, o *MailOAuth) { o.TokenURL = "http://login.example.com/token" }, "token_url: the secrets for login.example.com would be sent in the clear; use https"},
		{"a placeholder", func(_ *Mail, o *MailOAuth) { o.TokenURL = strings.Replace(microsoft, "0a1b", "TENANT", 1) }, "token_url: replace TENANT by the id of your tenant (Directory ID)"},
		{"no tenant", func(_ *Mail, o *MailOAuth) { o.TokenURL = strings.Replace(microsoft, "0a1b", "common", 1) }, "token_url: the grant client_credentials needs the id of your tenant in place of common"},
		{"no client", func(_ *Mail, o *MailOAuth) { o.ClientID = "" }, "client_id: set the id of the application that is registered at the provider"},
		{"no mailbox", func(m *Mail, _ *MailOAuth) { m.SmarthostUser = "" }, "mail.smarthost_user: set the mailbox that mail is sent from; tokens are used together with it"},
		{"a line end in the mailbox", func(m *Mail, _ *MailOAuth) { m.SmarthostUser = "a\r\nb" }, "mail.smarthost_user: a mailbox must not contain line ends or other control characters"},
		{"a password too", func(m *Mail, _ *MailOAuth) { m.SmarthostPassword = hidden }, "mail.smarthost_password: remove it; with mail.oauth, a token is used instead"},
		{"without TLS", func(m *Mail, _ *MailOAuth) { m.SmarthostTLS = "none" }, "mail.smarthost_tls: a token must not be sent in the clear; use starttls or tls with mail.oauth"},
		{"no scope", func(_ *Mail, o *MailOAuth) { o.Scope = "" }, "scope: set https://outlook.office365.com/.default; Microsoft issues no token without it"},
		{"no scope elsewhere", func(_ *Mail, o *MailOAuth) { o.Scope, o.TokenURL = "", "https://login.example.com/token" }, ""},
		{"no secret", func(_ *Mail, o *MailOAuth) { o.ClientSecret = secret.Value{} }, "client_secret: set client_secret or client_key; the grant client_credentials needs one of them"},
		{"secret and key", func(_ *Mail, o *MailOAuth) { o.ClientKey = secret.New(key) }, "client_secret: set either client_secret or client_key"},
		{"no refresh token", func(_ *Mail, o *MailOAuth) { o.Grant = RefreshToken }, "refresh_token: set the refresh token that the provider issued when the user agreed"},
		{"a refresh token for nothing", func(_ *Mail, o *MailOAuth) { o.RefreshToken = hidden }, "refresh_token: remove it, or set grant to refresh_token; client_credentials does not use it"},
		{"no key", func(_ *Mail, o *MailOAuth) { o.Grant = JWTBearer },
			"client_key: set the private key of the service account; the grant jwt_bearer needs it\nclient_secret: remove it; the grant jwt_bearer uses client_key"},
		{"another grant", func(_ *Mail, o *MailOAuth) { o.Grant = "password" }, `grant: "password" is not known; write client_credentials, refresh_token or jwt_bearer`},
		{"no PEM", func(_ *Mail, o *MailOAuth) { o.ClientSecret, o.ClientKey = secret.Value{}, hidden }, "client_key: there is no private key in PEM in it; it begins with -----BEGIN PRIVATE KEY-----"},
		{"JSON", func(_ *Mail, o *MailOAuth) {
			o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(`{"private_key":"hunter2"}`)
		}, "client_key: this is JSON; write only the text of its private_key, with real line ends"},
		{"a certificate alone", func(_ *Mail, o *MailOAuth) { o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(cert) }, "client_key: there is no private key in PEM in it; it begins with -----BEGIN PRIVATE KEY-----"},
		{"a key with a password", func(_ *Mail, o *MailOAuth) {
			o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(asPEM("ENCRYPTED PRIVATE KEY", nil))
		}, "client_key: the key is encrypted; openssl pkey writes it without a password"},
		{"another kind of key", func(_ *Mail, o *MailOAuth) {
			o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(asPEM("PRIVATE KEY", raw))
		}, "client_key: this is not an RSA private key; openssl genpkey -algorithm RSA generates one"},
		{"another's certificate", func(_ *Mail, o *MailOAuth) { o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(key+otherCert) }, "client_key: the certificate belongs to another key; use both of one pair"},
		{"a broken certificate", func(_ *Mail, o *MailOAuth) {
			o.ClientSecret, o.ClientKey = secret.Value{}, secret.New(key+asPEM("CERTIFICATE", []byte("x")))
		}, "client_key: its certificate cannot be read; export it again in PEM"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			c.Mail.Smarthost, c.Mail.SmarthostUser = "smtp.office365.com:587", "jira@example.com"
			c.Mail.OAuth = MailOAuth{
				TokenURL: microsoft, ClientID: "app", ClientSecret: hidden, Scope: "https://outlook.office365.com/.default", Grant: ClientCredentials,
			}
			test.edit(&c.Mail, &c.Mail.OAuth)
			got := ""
			if err := c.Validate(); err != nil {
				got = strings.ReplaceAll(err.Error(), "mail.oauth.", "")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
