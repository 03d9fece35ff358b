package config

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"outrigger/internal/secret"
)

// MailOff is the value of mail.listen that opens no listener.
const MailOff = "off"

// Mail is about the outgoing mail queue.
type Mail struct {
	Source            string       `key:"source" default:"relay" doc:"Where the sizes of this node's mail queue come from: relay, postfix, jmx or remote."`
	Postfix           MailPostfix  `key:"postfix"`
	JMX               MailJMX      `key:"jmx"`
	Remote            MailRemote   `key:"remote"`
	Listen            string       `key:"listen" default:"127.0.0.1:2525" doc:"Host and port of the relay, the SMTP server that the host application sends its mail through; off opens none. Anywhere but on loopback, clients sign in with a user name and a token of scope mail, within TLS."`
	TLS               MailTLS      `key:"tls"`
	PlainAuth         bool         `key:"plain_auth" default:"false" doc:"Whether clients may sign in to the relay without TLS; only for a network that you trust, since tokens can be read on the way."`
	Smarthost         string       `key:"smarthost" else:"none: mail waits" doc:"Host and port of the server that the relay passes all mail to."`
	SmarthostUser     string       `key:"smarthost_user" else:"the relay does not sign in" doc:"The name to sign in to the smarthost with."`
	SmarthostPassword secret.Value `key:"smarthost_password" else:"the relay does not sign in" doc:"The password to sign in to the smarthost with."`
	SmarthostTLS      string       `key:"smarthost_tls" default:"starttls" doc:"How the connection to the smarthost is encrypted: starttls, tls (from the first byte) or none."`
	MaxMessage        Size         `key:"max_message" default:"25MiB" doc:"The largest message that the relay takes."`
	MaxRecipients     int          `key:"max_recipients" default:"1000" doc:"How many recipients a message may have."`
	MaxClients        int          `key:"max_clients" default:"200" doc:"How many connections the relay takes at a time; one address has at most a quarter of them."`
	Connections       int          `key:"connections" default:"8" doc:"How many connections to the smarthost there are at most, which is also how many messages a crash may repeat."`
	GiveUpAfter       Duration     `key:"give_up_after" default:"5d" doc:"How long a message is tried before it comes into the error queue; at least 1m."`
	PerTransaction    int          `key:"recipients_per_transaction" default:"50" doc:"How many recipients of a message the smarthost is given at a time; the others follow at once."`
	Bounces           bool         `key:"bounces" default:"false" doc:"Whether the sender of a message that is given up gets a delivery status notification. The host application's own queue sends none."`
	HandoverAfter     Duration     `key:"handover_after" default:"10m" doc:"How long a node is OFFLINE before another one takes over its messages."`
	Nodes             []MailNode   `key:"nodes" doc:"Nodes of the host application that are only watched. They are listed beside those of Outrigger's own cluster."`
}

// MailTLS is the certificate of the relay.
type MailTLS struct {
	Cert string `key:"cert" else:"no STARTTLS" doc:"The PEM file of the relay's certificate, with its chain. It is read again when it changes."`
	Key  string `key:"key" else:"no STARTTLS" doc:"The PEM file of the certificate's private key. It is read again when it changes."`
}

// minMessage is what every SMTP server takes: RFC 5321, 4.5.3.1.7.
const minMessage = 64 << 10

// minRecipients is what every SMTP server takes: RFC 5321, 4.5.3.1.8.
const minRecipients = 100

// minGiveUp leaves a message a second attempt.
const minGiveUp = Duration(time.Minute)

func (c *Config) judgeMail(j *judge) {
	m := &c.Mail
	if m.Listen != MailOff {
		judgeAddress(j, "mail.listen", m.Listen, "127.0.0.1:2525 or off")
	}
	if (m.TLS.Cert == "") != (m.TLS.Key == "") {
		j.wrong("mail.tls", "cert and key go together; give both or neither")
	}
	if m.TLS.Cert == "" && !m.PlainAuth && m.Listen != MailOff && !onLoopback(m.Listen) {
		j.wrong("mail.listen", "%s can be reached from other machines, where clients sign in with a token that could be read on the way; give mail.tls a certificate, or set mail.plain_auth to true where you trust the network", m.Listen)
	}
	if m.Smarthost != "" {
		judgeAddress(j, "mail.smarthost", m.Smarthost, "mail.example.com:587")
		if host, _, err := net.SplitHostPort(m.Smarthost); err == nil && host == "" {
			j.wrong("mail.smarthost", "%q names no host; write it as mail.example.com:587", m.Smarthost)
		}
	}
	if (m.SmarthostUser == "") != m.SmarthostPassword.IsZero() {
		j.wrong("mail.smarthost_user", "the name and smarthost_password go together; give both or neither")
	}
	if !slices.Contains([]string{"starttls", "tls", "none"}, m.SmarthostTLS) {
		j.wrong("mail.smarthost_tls", "%q is not known; write starttls, tls or none", m.SmarthostTLS)
	}
	if m.MaxMessage < minMessage {
		j.wrong("mail.max_message", "%s is too small; an SMTP server takes at least %s", m.MaxMessage, Size(minMessage))
	}
	if m.GiveUpAfter < minGiveUp {
		j.wrong("mail.give_up_after", "%s is too short; it is at least %s, when a message is tried for the second time", m.GiveUpAfter, minGiveUp)
	}
	for _, n := range []struct {
		key        string
		value, min int
		what       string
	}{
		{"mail.max_recipients", m.MaxRecipients, minRecipients, "an SMTP server takes"},
		{"mail.max_clients", m.MaxClients, 1, "the relay needs"},
		{"mail.connections", m.Connections, 1, "the relay needs"},
		{"mail.recipients_per_transaction", m.PerTransaction, 1, "a message needs"},
	} {
		if n.value < n.min {
			j.wrong(n.key, "%d is too few; %s at least %d", n.value, n.what, n.min)
		}
	}
}

// onLoopback tells whether only this machine can reach an address. One that is
// none is judged elsewhere.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func judgeAddress(j *judge, key, address, example string) {
	if _, port, err := net.SplitHostPort(address); err != nil {
		j.wrong(key, "%q is no address; write host:port, such as %s", address, example)
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		j.wrong(key, "%q is no port; it is a number from 0 to 65535", port)
	}
}
