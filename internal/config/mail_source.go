package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"outrigger/internal/secret"
)

// MailPostfix is how the source postfix asks.
type MailPostfix struct {
	Postqueue string `key:"postqueue" default:"/usr/sbin/postqueue" doc:"The program that lists the queue of the local Postfix."`
	ConfigDir string `key:"config_dir" else:"Postfix's own" doc:"The folder of main.cf. Another than Postfix's own must be in its alternate_config_directories, unless Outrigger runs as root."`
}

// MailJMX is where the source jmx finds the host application's figures.
type MailJMX struct {
	URL       string       `key:"url" else:"none" doc:"The whole URL of the exporter's text page, or of Jolokia, as http://host:8778/jolokia/."`
	Kind      string       `key:"kind" default:"prometheus" doc:"What answers there: prometheus (the text page of a JMX exporter or of an exporter inside the host application) or jolokia."`
	User      string       `key:"user" else:"none" doc:"The user to sign in as, by Basic authentication."`
	Password  secret.Value `key:"password" else:"none" doc:"That user's password."`
	Size      string       `key:"size" else:"the known spellings of mail.queue.numItems, and jira_mail_queue_gauge" doc:"The metric of the queue's size: for prometheus a name, perhaps with labels as name{label=\"value\"}; for jolokia MBEAN/ATTRIBUTE."`
	ErrorSize string       `key:"error_size" else:"the known spellings of mail.queue.numErrors, and jira_mail_queue_error_gauge" doc:"The metric of the error queue's size, written alike."`
}

// MailRemote is the server that the source remote asks.
type MailRemote struct {
	URL      string       `key:"url" else:"none" doc:"The base URL of another server of the mail queue API, which is asked at /rest/mailqueue/1.0/status below it."`
	User     string       `key:"user" else:"none" doc:"The user to sign in as, by Basic authentication."`
	Password secret.Value `key:"password" else:"none" doc:"That user's password or token."`
	Token    secret.Value `key:"token" else:"none" doc:"A token to show in place of a user and a password."`
}

// MailNode is a node that is only watched.
type MailNode struct {
	NodeID  string      `key:"node_id" doc:"The node's id, as it is listed; that of no node of Outrigger's own."`
	Source  string      `key:"source" doc:"Where its sizes come from: postfix, jmx or remote."`
	Postfix MailPostfix `key:"postfix"`
	JMX     MailJMX     `key:"jmx"`
	Remote  MailRemote  `key:"remote"`
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
		j.wrong("mail.handover_after", "%s is too short; it is at least %s", c.Mail.HandoverAfter, minHandover)
	}
	seen := map[string]bool{}
	for i, n := range c.Mail.Nodes {
		key := fmt.Sprintf("mail.nodes[%d]", i)
		n.From().judge(j, key, []string{SourcePostfix, SourceJMX, SourceRemote})
		switch {
		case n.NodeID == "" || !isNodeID(n.NodeID):
			j.wrong(key+".node_id", "%q is no id; it has no spaces and 1 to 255 bytes", n.NodeID)
		case seen[n.NodeID]:
			j.wrong(key+".node_id", "there is another node called %s; each has its own id", n.NodeID)
		case n.NodeID == c.NodeID:
			j.wrong(key+".node_id", "%s is this node itself; a node that is watched has an id of its own", n.NodeID)
		}
		seen[n.NodeID] = true
	}
}

// isNodeID tells whether a name can be that of a node.
func isNodeID(name string) bool {
	return len(name) <= 255 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func (s MailSource) judge(j *judge, key string, known []string) {
	switch {
	case !slices.Contains(known, s.Kind):
		last := len(known) - 1
		j.wrong(key+".source", "%q is not known; write %s or %s", s.Kind, strings.Join(known[:last], ", "), known[last])
	case s.Kind == SourcePostfix && s.Postfix.Postqueue == "":
		j.wrong(key+".postfix.postqueue", "the program is missing; it is usually /usr/sbin/postqueue")
	case s.Kind == SourceJMX:
		s.JMX.judge(j, key+".jmx")
	case s.Kind == SourceRemote:
		s.Remote.judge(j, key+".remote")
	}
}

func (m *MailJMX) judge(j *judge, key string) {
	judgePageURL(j, key+".url", m.URL)
	if m.Kind != JMXPrometheus && m.Kind != JMXJolokia {
		j.wrong(key+".kind", "%q is not known; write %s or %s", m.Kind, JMXPrometheus, JMXJolokia)
	}
	judgeSignIn(j, key, m.User, m.Password)
}

func (m *MailRemote) judge(j *judge, key string) {
	if m.URL == "" {
		j.wrong(key+".url", "the server's base URL is missing")
	} else {
		judgeURL(j, key+".url", m.URL)
	}
	if !m.Token.IsZero() && m.User != "" {
		j.wrong(key, "there is a user and a token; give one of them")
	}
	judgeSignIn(j, key, m.User, m.Password)
}

func judgeSignIn(j *judge, key, user string, password secret.Value) {
	if (user == "") != password.IsZero() {
		j.wrong(key, "user and password go together; give both or neither")
	}
	if strings.Contains(user, ":") {
		j.wrong(key+".user", "a user's name has no colon")
	}
}
