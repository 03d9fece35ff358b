package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/secret"
)

func TestMailSources(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*Mail)
		want []string
	}{
		{"another source", func(m *Mail) { m.Source = "imap" }, []string{
			`mail.source: "imap" is not known; write relay, postfix, jmx or remote`,
		}},
		{"postfix", func(m *Mail) { m.Source = SourcePostfix }, nil},
		{"postfix without its program", func(m *Mail) { m.Source, m.Postfix.Postqueue = SourcePostfix, "" }, []string{
			"mail.postfix.postqueue: set the path of the program; it is usually /usr/sbin/postqueue",
		}},
		{"jmx", func(m *Mail) {
			m.Source, m.JMX.URL, m.JMX.User, m.JMX.Password = SourceJMX, "http://app:8778/jolokia/?ignoreErrors=true", "monitor", secret.New("x")
		}, nil},
		{"jmx without a URL", func(m *Mail) { m.Source = SourceJMX }, []string{"mail.jmx.url: the URL is missing"}},
		{"jmx of another kind", func(m *Mail) {
			m.Source, m.JMX = SourceJMX, MailJMX{URL: "ftp://u:hunter2@x", Kind: "rmi", User: "a:b"}
		}, []string{
			"mail.jmx.url: this is not a URL; write it as https://host/path",
			`mail.jmx.kind: "rmi" is not known; write prometheus or jolokia`,
			"mail.jmx: set both user and password, or neither",
			"mail.jmx.user: a user name must not contain a colon",
		}},
		{"jmx with a user in its URL", func(m *Mail) { m.Source, m.JMX.URL = SourceJMX, "http://u:hunter2@x/metrics" }, []string{
			"mail.jmx.url: the URL must not contain a user, a password or a fragment; set user and password as keys of their own",
		}},
		{"remote", func(m *Mail) {
			m.Source, m.Remote.URL, m.Remote.Token = SourceRemote, "https://x/outrigger", secret.New("t")
		}, nil},
		{"remote with nothing", func(m *Mail) { m.Source = SourceRemote }, []string{"mail.remote.url: set the base URL of the server"}},
		{"remote with too much", func(m *Mail) {
			m.Source = SourceRemote
			m.Remote = MailRemote{URL: "https://x", User: "u", Password: secret.New("p"), Token: secret.New("t")}
		}, []string{"mail.remote: set either user and password, or token"}},
		{"handover", func(m *Mail) { m.HandoverAfter = 0 }, []string{"mail.handover_after: 0s is too short; use at least 1s"}},
		{"nodes", func(m *Mail) {
			m.Nodes = []MailNode{
				{NodeID: "node_1", Source: SourceRemote, Remote: MailRemote{URL: "https://x"}},
				{NodeID: "node 2", Source: SourceRelay},
				{NodeID: "node_1", Source: SourceJMX, JMX: MailJMX{Kind: JMXJolokia}},
				{NodeID: "n1", Source: SourcePostfix, Postfix: MailPostfix{Postqueue: "/usr/sbin/postqueue"}},
			}
		}, []string{
			`mail.nodes[1].source: "relay" is not known; write postfix, jmx or remote`,
			`mail.nodes[1].node_id: "node 2" is not a node id; an id has 1 to 255 bytes and no spaces`,
			"mail.nodes[2].jmx.url: the URL is missing",
			"mail.nodes[2].node_id: the id node_1 is used twice; every node needs its own id",
			"mail.nodes[3].node_id: n1 is the id of this node; a watched node needs its own id",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			c.NodeID = "n1"
			test.edit(&c.Mail)
			got := ""
			if err := c.Validate(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(strings.Join(test.want, "\n"), got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(got, "hunter2") {
				t.Error("a password is in the message")
			}
		})
	}
}

// A node that is watched has the defaults of its source, and its secrets come
// from files as well.
func TestMailNodesInTheFile(t *testing.T) {
	c, _, err := Load(write(t, "c.yaml", `
mail:
  nodes:
    - node_id: node_1
      source: jmx
      jmx: {url: "http://node-1:9090/metrics", user: monitor, password_file: `+write(t, "password", "hunter2\n")+`}
    - node_id: node_2
      source: postfix
`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, two := c.Mail.Nodes[0].From(), c.Mail.Nodes[1].From()
	if one.Kind != SourceJMX || one.JMX.Kind != JMXPrometheus || one.JMX.Password.Reveal() != "hunter2" {
		t.Errorf("%+v", one)
	}
	if two.Postfix.Postqueue != "/usr/sbin/postqueue" {
		t.Errorf("%+v", two)
	}
}
