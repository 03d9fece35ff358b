package config

import (
	"net"
	"time"

	"outrigger/internal/secret"
)

// MailOff is the value of mail.listen that opens no listener.
const MailOff = "off"

// Mail is about the outgoing mail queue.
type Mail struct {
	Source            string       `key:"source" default:"relay"`
	Postfix           MailPostfix  `key:"postfix"`
	JMX               MailJMX      `key:"jmx"`
	Remote            MailRemote   `key:"remote"`
	Listen            string       `key:"listen" default:"127.0.0.1:2525"`
	TLS               MailTLS      `key:"tls"`
	PlainAuth         bool         `key:"plain_auth" default:"false"`
	Provider          string       `key:"provider" else:"none"`
	Rate              int          `key:"rate" default:"0"`
	Quota             int          `key:"quota" default:"0"`
	Smarthost         string       `key:"smarthost" else:"none; mail waits"`
	SmarthostUser     string       `key:"smarthost_user" else:"no sign-in"`
	SmarthostPassword secret.Value `key:"smarthost_password" else:"no sign-in"`
	SmarthostTLS      string       `key:"smarthost_tls" default:"starttls"`
	OAuth             MailOAuth    `key:"oauth"`
	MaxMessage        Size         `key:"max_message" default:"25MiB"`
	MaxRecipients     int          `key:"max_recipients" default:"1000"`
	MaxClients        int          `key:"max_clients" default:"200"`
	Connections       int          `key:"connections" default:"8"`
	GiveUpAfter       Duration     `key:"give_up_after" default:"5d"`
	PerTransaction    int          `key:"recipients_per_transaction" default:"50"`
	Bounces           bool         `key:"bounces" default:"false"`
	HandoverAfter     Duration     `key:"handover_after" default:"10m"`
	Nodes             []MailNode   `key:"nodes"`
}

func (Mail) words() map[string]string {
	return map[string]string{
		"source": "The mail queue whose size this node reports: relay, postfix, jmx or remote.",
		"listen": "Host and port of the relay, the SMTP server through which the host application sends its mail; off disables it. On any " +
			"address other than loopback, clients must use TLS and sign in with a user name and a token of scope mail.",
		"plain_auth": "Whether clients may sign in to the relay without TLS. Use it only on a trusted network: tokens are then sent in the " +
			"clear.",
		"provider": "The provider of the smarthost: microsoft365, gmail or ses. It sets smarthost (but for ses), smarthost_tls, " +
			"connections, rate and quota to what the provider documents, each unless it is set here, and has sending pause when the provider " +
			"answers that a limit is reached.",
		"rate": "The most messages a minute that all nodes together send with this sign-in. 0 means no limit. mail.provider microsoft365 " +
			"sets 30.",
		"quota": "The most recipients in 24 hours to which all nodes together send with this sign-in. 0 means no limit. mail.provider " +
			"microsoft365 sets 10000.",
		"smarthost":          "Host and port of the mail server to which the relay sends all mail.",
		"smarthost_user":     "The user name for signing in to the smarthost.",
		"smarthost_password": "The password for signing in to the smarthost.",
		"smarthost_tls":      "How the connection to the smarthost is encrypted: starttls, tls (from the first byte) or none.",
		"max_message":        "The largest message that the relay accepts.",
		"max_recipients":     "The most recipients that a message may have.",
		"max_clients":        "The most connections that the relay accepts at a time. One client address gets at most a quarter of them.",
		"connections": "The most connections to the smarthost: of each node, or with mail.provider of all nodes together. It is also the " +
			"most messages that may be sent twice after a crash.",
		"give_up_after":              "How long delivery of a message is tried before it moves to the error queue. At least 1m.",
		"recipients_per_transaction": "The most recipients in one SMTP transaction. The remaining recipients follow in further transactions.",
		"bounces": "Whether the sender gets a delivery status notification when delivery fails for good. The host application's own queue " +
			"sends none.",
		"handover_after": "How long a node must be OFFLINE before another node takes over its messages.",
		"nodes": "Nodes of the host application whose mail queues are only watched. They are listed together with Outrigger's own " +
			"nodes.",
	}
}

// MailTLS is the certificate of the relay.
type MailTLS struct {
	Cert string `key:"cert" else:"no STARTTLS"`
	Key  string `key:"key" else:"no STARTTLS"`
}

func (MailTLS) words() map[string]string {
	return map[string]string{
		"cert": "The PEM file of the relay's certificate, with its chain. It is reloaded when it changes.",
		"key":  "The PEM file of the certificate's private key. It is reloaded when it changes.",
	}
}

// minMessage is what every SMTP server takes: RFC 5321, 4.5.3.1.7.
const minMessage = 64 << 10

// minRecipients is what every SMTP server takes: RFC 5321, 4.5.3.1.8.
const minRecipients = 100

// minGiveUp leaves a message a second attempt.
const minGiveUp = Duration(time.Minute)

func (c *Config) judgeMail(j *judge) {
	m := &c.Mail
	if network, _ := SplitListen(m.Listen); network == "unix" {
		j.wrong("mail.listen", "mail is not taken over a Unix socket; write host:port, such as 127.0.0.1:2525 or off")
	} else if m.Listen != MailOff {
		judgeAddress(j, "mail.listen", m.Listen, "127.0.0.1:2525 or off")
	}
	judgeCertificate(j, "mail.tls", m.TLS.Cert, m.TLS.Key)
	_, _, err := net.SplitHostPort(m.Listen)
	if m.TLS.Cert == "" && !m.PlainAuth && err == nil && !Loopback(m.Listen) {
		j.wrong("mail.listen", "other machines can reach %s, and clients would send their tokens in the clear; set mail.tls.cert and "+
			"mail.tls.key, or set mail.plain_auth to true if you trust the network", m.Listen)
	}
	if m.Smarthost != "" {
		judgeAddress(j, "mail.smarthost", m.Smarthost, "mail.example.com:587")
		if host, _, err := net.SplitHostPort(m.Smarthost); err == nil && host == "" {
			j.wrong("mail.smarthost", "%q has no host; write it as mail.example.com:587", m.Smarthost)
		}
	}
	c.judgeMailLimits(j)
	c.judgeMailOAuth(j)
	if !m.OAuth.On() && (m.SmarthostUser == "") != m.SmarthostPassword.IsZero() {
		j.wrong("mail.smarthost_user", "set both smarthost_user and smarthost_password, or neither")
	}
	j.oneOf("mail.smarthost_tls", m.SmarthostTLS, "starttls", "tls", "none")
	if m.MaxMessage < minMessage {
		j.wrong("mail.max_message", "%s is too small; an SMTP server must accept at least %s", m.MaxMessage, Size(minMessage))
	}
	if m.GiveUpAfter < minGiveUp {
		j.wrong("mail.give_up_after", "%s is too short; use at least %s, so that a message is tried twice", m.GiveUpAfter, minGiveUp)
	}
	for _, n := range []struct {
		key        string
		value, min int
		what       string
	}{
		{"mail.max_recipients", m.MaxRecipients, minRecipients, "an SMTP server must accept"},
		{"mail.max_clients", m.MaxClients, 1, "the relay needs"},
		{"mail.connections", m.Connections, 1, "the relay needs"},
		{"mail.recipients_per_transaction", m.PerTransaction, 1, "a message needs"},
	} {
		if n.value < n.min {
			j.wrong(n.key, "%d is too few; %s at least %d", n.value, n.what, n.min)
		}
	}
}
