package config

import (
	"fmt"
	"strings"
	"time"

	"outrigger/internal/secret"
)

// MailPostfix is how the source postfix asks.
type MailPostfix struct {
	Postqueue string `key:"postqueue" default:"/usr/sbin/postqueue"`
	ConfigDir string `key:"config_dir" else:"the default folder of Postfix"`
}

func (MailPostfix) words() map[string]string {
	return map[string]string{
		"postqueue": "The postqueue program of the local Postfix.",
		"config_dir": "The folder of main.cf. Unless Outrigger runs as root, a folder other than the default must be listed in " +
			"alternate_config_directories.",
	}
}

// MailJMX is where the source jmx finds the host application's figures.
type MailJMX struct {
	URL       string       `key:"url" else:"none"`
	Kind      string       `key:"kind" default:"prometheus"`
	User      string       `key:"user" else:"none"`
	Password  secret.Value `key:"password" else:"none"`
	Size      string       `key:"size" else:"the usual names of mail.queue.numItems, and jira_mail_queue_gauge"`
	ErrorSize string       `key:"error_size" else:"the usual names of mail.queue.numErrors, and jira_mail_queue_error_gauge"`
}

func (MailJMX) words() map[string]string {
	return map[string]string{
		"url": "The complete URL of the exporter's metrics page, or of Jolokia, such as http://host:8778/jolokia/.",
		"kind": "What answers at the URL: prometheus (the metrics page of a JMX exporter, or of an exporter inside the host application) or " +
			"jolokia.",
		"user":     "The user name for Basic authentication.",
		"password": "The password of that user.",
		"size": "The metric for the size of the queue. For prometheus, a name, optionally with labels: name{label=\"value\"}. For jolokia, " +
			"MBEAN/ATTRIBUTE.",
		"error_size": "The metric for the size of the error queue, in the same form.",
	}
}

// MailRemote is the server that the source remote asks.
type MailRemote struct {
	URL      string       `key:"url" else:"none"`
	User     string       `key:"user" else:"none"`
	Password secret.Value `key:"password" else:"none"`
	Token    secret.Value `key:"token" else:"none"`
}

func (MailRemote) words() map[string]string {
	return map[string]string{
		"url":      "The base URL of another server with the mail queue API. Its /rest/mailqueue/1.0/status is requested.",
		"user":     "The user name for Basic authentication.",
		"password": "The password or token of that user.",
		"token":    "A Bearer token, instead of user and password.",
	}
}

// MailNode is a node that is only watched.
type MailNode struct {
	NodeID  string      `key:"node_id"`
	Source  string      `key:"source"`
	Postfix MailPostfix `key:"postfix"`
	JMX     MailJMX     `key:"jmx"`
	Remote  MailRemote  `key:"remote"`
}

func (MailNode) words() map[string]string {
	return map[string]string{
		"node_id": "The id of the node as it is listed. It must differ from the ids of Outrigger's own nodes.",
		"source":  "Where the size of its queue is read: postfix, jmx or remote.",
	}
}

// The sources of sizes.
const (
	SourceRelay   = "relay"
	SourcePostfix = "postfix"
	SourceJMX     = "jmx"
	SourceRemote  = "remote"
)

// The kinds of jmx.
const (
	JMXPrometheus = "prometheus"
	JMXJolokia    = "jolokia"
)

// MailSource is one source with what it needs.
type MailSource struct {
	Kind    string // SourceRelay …
	Postfix MailPostfix
	JMX     MailJMX
	Remote  MailRemote
}

// Own is the source of this node.
func (m *Mail) Own() MailSource { return MailSource{m.Source, m.Postfix, m.JMX, m.Remote} }

// From is the source of a node that is watched.
func (n *MailNode) From() MailSource { return MailSource{n.Source, n.Postfix, n.JMX, n.Remote} }

// minHandover keeps a zero from being written by mistake. A node is OFFLINE 20 s
// after its last heartbeat, which is the real least.
const minHandover = Duration(time.Second)

func (c *Config) judgeMailSources(j *judge) {
	c.Mail.Own().judge(j, "mail", []string{SourceRelay, SourcePostfix, SourceJMX, SourceRemote})
	if c.Mail.HandoverAfter < minHandover {
		j.wrong("mail.handover_after", "%s is too short; use at least %s", c.Mail.HandoverAfter, minHandover)
	}
	seen := map[string]bool{}
	for i, n := range c.Mail.Nodes {
		key := fmt.Sprintf("mail.nodes[%d]", i)
		n.From().judge(j, key, []string{SourcePostfix, SourceJMX, SourceRemote})
		switch {
		case n.NodeID == "" || !isNodeID(n.NodeID):
			j.wrong(key+".node_id", "%q is not a node id; an id has 1 to 255 bytes and no spaces", n.NodeID)
		case seen[n.NodeID]:
			j.wrong(key+".node_id", "the id %s is used twice; every node needs its own id", n.NodeID)
		case n.NodeID == c.NodeID:
			j.wrong(key+".node_id", "%s is the id of this node; a watched node needs its own id", n.NodeID)
		}
		seen[n.NodeID] = true
	}
}

// isNodeID reports whether a name can be that of a node.
func isNodeID(name string) bool {
	return len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func (s MailSource) judge(j *judge, key string, known []string) {
	j.oneOf(key+".source", s.Kind, known...)
	switch {
	case s.Kind == SourcePostfix && s.Postfix.Postqueue == "":
		j.wrong(key+".postfix.postqueue", "set the path of the program; it is usually /usr/sbin/postqueue")
	case s.Kind == SourceJMX:
		s.JMX.judge(j, key+".jmx")
	case s.Kind == SourceRemote:
		s.Remote.judge(j, key+".remote")
	}
}

func (m *MailJMX) judge(j *judge, key string) {
	judgePageURL(j, key+".url", m.URL)
	j.oneOf(key+".kind", m.Kind, JMXPrometheus, JMXJolokia)
	judgeSignIn(j, key, m.User, m.Password)
}

func (m *MailRemote) judge(j *judge, key string) {
	if m.URL == "" {
		j.wrong(key+".url", "set the base URL of the server")
	} else {
		judgeURL(j, key+".url", m.URL)
	}
	if !m.Token.IsZero() && m.User != "" {
		j.wrong(key, "set either user and password, or token")
	}
	judgeSignIn(j, key, m.User, m.Password)
}

func judgeSignIn(j *judge, key, user string, password secret.Value) {
	if (user == "") != password.IsZero() {
		j.wrong(key, "set both user and password, or neither")
	}
	if strings.Contains(user, ":") {
		j.wrong(key+".user", "a user name must not contain a colon")
	}
}
