package config

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A provider sets what is not set beside it, wherever that is set.
func TestMailProviders(t *testing.T) {
	type values struct {
		Smarthost, TLS           string
		Connections, Rate, Quota int
	}
	const user = "smarthost_user: u, smarthost_password: p"
	microsoft := values{"smtp.office365.com:587", "starttls", 3, 30, 10000}
	for _, c := range []struct {
		name, mail string
		env        []string
		want       values
	}{
		{"none", "{smarthost: 'mail.example.com:25'}", nil, values{"mail.example.com:25", "starttls", 8, 0, 0}},
		{"none, with limits", "{rate: 5, quota: 500}", nil, values{"", "starttls", 8, 5, 500}},
		{"microsoft365", "{provider: microsoft365, " + user + "}", nil, microsoft},
		{"microsoft365 from the environment", "{" + user + "}", []string{"OUTRIGGER_MAIL_PROVIDER=microsoft365"}, microsoft},
		{"each key beside it", "{provider: microsoft365, smarthost: 'localhost:26', smarthost_tls: tls, connections: 2, rate: 20, quota: 100, " + user + "}", nil,
			values{"localhost:26", "tls", 2, 20, 100}},
		{"defaults beside it", "{provider: microsoft365, connections: 8, rate: 0, quota: 0, " + user + "}", nil,
			values{"smtp.office365.com:587", "starttls", 8, 0, 0}},
		{"from the environment beside it", "{provider: microsoft365, " + user + "}",
			[]string{"OUTRIGGER_MAIL_RATE=0", "OUTRIGGER_MAIL_CONNECTIONS=1"}, values{"smtp.office365.com:587", "starttls", 1, 0, 10000}},
		{"keys without a value beside it", "{provider: microsoft365, smarthost: , rate: , " + user + "}", nil, microsoft},
		{"gmail", "{provider: gmail, quota: 2000, " + user + "}", nil, values{"smtp.gmail.com:587", "starttls", 8, 0, 2000}},
		{"ses", "{provider: ses, smarthost: 'email-smtp.eu-central-1.amazonaws.com:587', rate: 840, " + user + "}", nil,
			values{"email-smtp.eu-central-1.amazonaws.com:587", "starttls", 8, 840, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := Load(write(t, "c.yaml", "mail: "+c.mail+"\n"), c.env, nil)
			if err != nil {
				t.Fatal(err)
			}
			m := &got.Mail
			if diff := cmp.Diff(c.want, values{m.Smarthost, m.SmarthostTLS, m.Connections, m.Rate, m.Quota}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// With tokens, a provider also sets where they are issued, and for what.
func TestMailProvidersWithTokens(t *testing.T) {
	const microsoft = "https://login.microsoftonline.com/t1/oauth2/v2.0/token"
	key, _ := pair(t)
	for _, c := range []struct{ mail, url, scope, grant string }{
		{"{provider: microsoft365, smarthost_user: u, oauth: {token_url: 'https://login.microsoftonline.com/t1/oauth2/v2.0/token', client_id: c, client_secret: s}}",
			microsoft, "https://outlook.office365.com/.default", ClientCredentials},
		{"{provider: microsoft365, smarthost_user: u, oauth: {grant: refresh_token, token_url: '" + microsoft + "', client_id: c, refresh_token: r}}",
			microsoft, "https://outlook.office.com/SMTP.Send offline_access", RefreshToken},
		{"{provider: microsoft365, smarthost_user: u, oauth: {token_url: '" + microsoft + "', client_id: c, refresh_token: r}}",
			microsoft, "https://outlook.office.com/SMTP.Send offline_access", RefreshToken},
		{"{provider: gmail, smarthost_user: u, oauth: {client_id: c, client_key: " + strconv.Quote(key) + "}}",
			"https://oauth2.googleapis.com/token", "https://mail.google.com/", JWTBearer},
		{"{provider: gmail, smarthost_user: u, oauth: {client_id: c, client_secret: s, refresh_token: r}}",
			"https://oauth2.googleapis.com/token", "https://mail.google.com/", RefreshToken},
		{"{provider: gmail, smarthost_user: u, oauth: {grant: refresh_token, client_id: c, client_secret: s, refresh_token: r}}",
			"https://oauth2.googleapis.com/token", "https://mail.google.com/", RefreshToken},
		{"{provider: gmail, smarthost_user: u, oauth: {grant: refresh_token, token_url: 'https://x.example/token', scope: mine, client_id: c, refresh_token: r}}",
			"https://x.example/token", "mine", RefreshToken},
		{"{provider: gmail, smarthost_user: u, smarthost_password: p}", "", "", ClientCredentials},
		{"{smarthost: 'mail.example.com:587', smarthost_user: u, oauth: {token_url: 'https://x.example/token', client_id: c, refresh_token: r}}",
			"https://x.example/token", "", RefreshToken},
	} {
		got, _, err := Load(write(t, "c.yaml", "mail: "+c.mail+"\n"), nil, nil)
		if o := got.Mail.OAuth; err != nil || o.TokenURL != c.url || o.Scope != c.scope || o.Grant != c.grant {
			t.Errorf("%s: %q, %q, %q, %v", c.mail, o.TokenURL, o.Scope, o.Grant, err)
		}
	}
}

// What a provider does not know, and what is left to fill in, is said.
func TestWrongTokensOfProviders(t *testing.T) {
	for _, c := range []struct{ name, mail, want string }{
		{"no tenant", "{provider: microsoft365, smarthost_user: u, oauth: {client_id: c, client_secret: s}}",
			"mail.oauth.token_url: set the URL at which the provider issues tokens, such as https://login.microsoftonline.com/TENANT/oauth2/v2.0/token"},
		{"what the example has in its place", "{provider: microsoft365, smarthost_user: u, oauth: {token_url: 'https://login.microsoftonline.com/TENANT_ID/oauth2/v2.0/token', client_id: CLIENT_ID, client_secret: s}}",
			"mail.oauth.token_url: replace TENANT_ID by the id of your tenant (Directory ID)\nmail.oauth.client_id: replace CLIENT_ID by the id of the application that is registered at the provider"},
		{"a Google account at Microsoft", "{provider: microsoft365, smarthost_user: u, oauth: {grant: jwt_bearer, token_url: 'https://login.microsoftonline.com/t1/oauth2/v2.0/token', client_id: c, client_key: x}}",
			"mail.oauth.grant: Microsoft 365 does not know jwt_bearer; write client_credentials, which takes a client_key too, or refresh_token"},
		{"an application at Google", "{provider: gmail, smarthost_user: u, oauth: {grant: client_credentials, client_id: c, client_secret: s}}",
			"mail.oauth.grant: Gmail does not know client_credentials; write jwt_bearer with the client_key of a service account, or refresh_token"},
		{"a secret alone at Google", "{provider: gmail, smarthost_user: u, oauth: {client_id: c, client_secret: s}}",
			"mail.oauth.refresh_token: set the refresh token that the provider issued when the user agreed"},
		{"Amazon", "{provider: ses, smarthost: 'email-smtp.eu-central-1.amazonaws.com:587', smarthost_user: u, oauth: {token_url: 'https://x.example/token', client_id: c, client_secret: s}}",
			"mail.oauth: Amazon SES takes no tokens; remove it, and set smarthost_user and smarthost_password to SMTP credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Load(write(t, "c.yaml", "mail: "+c.mail+"\n"), nil, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A password for Microsoft 365 is warned of, by whatever address it is reached.
func TestPasswordsForMicrosoft(t *testing.T) {
	for mail, warned := range map[string]bool{
		"{provider: microsoft365, smarthost_user: u, smarthost_password: p}":                                true,
		"{smarthost: 'smtp.office365.com:587', smarthost_user: u, smarthost_password: p}":                   true,
		"{provider: gmail, smarthost_user: u, smarthost_password: p}":                                       false,
		"{provider: microsoft365, smarthost: 'relay.example:25', smarthost_user: u, smarthost_password: p}": false,
	} {
		_, warnings, err := Load(write(t, "c.yaml", "mail: "+mail+"\n"), nil, nil)
		if err != nil || strings.Contains(strings.Join(warnings, "\n"), "mail.smarthost_password: Microsoft 365") != warned {
			t.Errorf("%s: %q, %v", mail, warnings, err)
		}
	}
}

func TestWrongMailLimits(t *testing.T) {
	for _, c := range []struct{ name, mail, want string }{
		{"an unknown provider", "{provider: office365}",
			`mail.provider: "office365" is not known; write microsoft365, gmail or ses, or leave it out and set mail.smarthost`},
		{"no region", "{provider: ses}",
			"mail.smarthost: set the SMTP endpoint of your region, such as email-smtp.eu-central-1.amazonaws.com:587; mail.provider ses does not know the region"},
		{"nobody signs in", "{provider: gmail}",
			"mail.smarthost_user: set the user name for signing in; Gmail accepts no mail without"},
		{"negative", "{rate: -1, quota: -2}",
			"mail.rate: -1 is too few; write the messages a minute, or 0 for no limit\nmail.quota: -2 is too few; write the recipients in 24 hours, or 0 for no limit"},
		{"less than a message", "{quota: 49}",
			"mail.quota: 49 is less than mail.recipients_per_transaction (50), and a message to that many recipients could never be sent; raise the quota or lower the other"},
		{"no number", "{rate: 30/min}", `mail.rate: "30/min" is not a whole number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Load(write(t, "c.yaml", "mail: "+c.mail+"\n"), nil, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
