package loadtest

import (
	"cmp"
	"fmt"
	"strings"
)

// Settings are those of a node that differ from test to test.
type Settings struct {
	Dir             string // configuration, log and, where DataDir is empty, data
	DataDir         string // empty: Dir
	DatabaseURL     string // empty: SQLite in Dir
	NodeID          string // empty: the program's default
	SecretKey       string // base64; needed where nodes share a database
	Clustered       bool
	MailListen      string   // of the relay; empty: it listens nowhere
	Smarthost       string   // where the relay sends
	SmarthostTLS    string   // empty: none
	MailMore        string   // further members of the section mail, as lines of YAML
	CAFile          string   // certificates to trust; empty: the system's
	MailConnections int      // to the smarthost; 0: the default
	Handover        string   // how long a node is gone before others take its mail; empty: the default
	AllowedHosts    []string // that webhook URLs may name, besides this machine
	Threads         string   // the members of the section threads, as YAML in braces; empty: the defaults
}

const (
	// Connection is the connection that every node has.
	Connection = "bench"
	// AdminPassword is the password of the user admin.
	AdminPassword = "correct horse battery staple"

	webhookSecret = "webhook-secret-of-the-load-test"
)

// yaml is the configuration file of a node that listens at addr. Channels are
// not paced, and may be on this machine.
func (s Settings) yaml(addr string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("listen: %q", addr)
	line("data_dir: %q", cmp.Or(s.DataDir, s.Dir))
	line("admin_password: %q", AdminPassword)
	for _, given := range []struct{ name, value string }{
		{"database_url", s.DatabaseURL}, {"node_id", s.NodeID}, {"secret_key", s.SecretKey}, {"ca_file", s.CAFile},
	} {
		if given.value != "" {
			line("%s: %q", given.name, given.value)
		}
	}
	if s.Clustered {
		line("cluster:\n  enabled: true")
	}
	// One address has a quarter, and all clients of a load come from one.
	line("mail:\n  listen: %q\n  max_clients: 1000", cmp.Or(s.MailListen, "off"))
	if s.Smarthost != "" {
		line("  smarthost: %q\n  smarthost_tls: %s", s.Smarthost, cmp.Or(s.SmarthostTLS, "none"))
	}
	for more := range strings.Lines(s.MailMore) {
		b.WriteString("  " + more)
	}
	if s.MailConnections > 0 {
		line("  connections: %d", s.MailConnections)
	}
	if s.Handover != "" {
		line("  handover_after: %s", s.Handover)
	}
	if s.Threads != "" {
		line("threads: %s", s.Threads)
	}
	line("notify:")
	line("  allowed_networks: [%s]", strings.Join(append([]string{"127.0.0.0/8"}, s.AllowedHosts...), ", "))
	line("  channel_rate: 1000000")
	line("  channel_burst: 1000000")
	line("  digest_above: 0") // so that every event is found again in a card of its own
	line("  max_waiting: 1000000000")
	line("  connections:")
	line("    - name: %s", Connection)
	line("      kind: bitbucket-dc")
	line("      base_url: https://code.example.com")
	line("      webhook_secret: %q", webhookSecret)
	return b.String()
}
