package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is legal and dangerous is said, and what is neither is not.
func TestDangers(t *testing.T) {
	data := t.TempDir()
	key := filepath.Join(data, "secret.key")
	pair := certificateUntil(t, time.Now().AddDate(1, 0, 0))
	private, shared, open := write(t, "private.pem", pair), write(t, "shared.pem", pair), write(t, "open.pem", pair)
	for path, mode := range map[string]os.FileMode{private: 0o600, shared: 0o640, open: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	connection := func(more string) string {
		return "notify:\n  connections:\n    - {name: code, kind: bitbucket-dc, base_url: https://code.example.com, " + more + "}\n"
	}
	plain := func(url, more string) string {
		return "notify:\n  connections:\n    - {name: code, kind: bitbucket-dc, base_url: '" + url + "', webhook_secret: sixteen--letters, " + more + "}\n"
	}
	for _, c := range []struct {
		yaml string
		key  os.FileMode // mode of secret.key; 0: there is none
		want string      // how the only warning begins; "": there is none
	}{
		{"", 0, ""},
		{"", 0o600, ""},
		{"", 0o640, key + " can be read by other users of this machine (mode 0640)"},
		{"listen: :8090", 0, "listen: other machines reach :8090 over plain HTTP"},
		{"listen: 0.0.0.0:8090", 0, "listen: other machines reach 0.0.0.0:8090"},
		{"listen: outrigger.example.com:80", 0, "listen: other machines reach outrigger.example.com:80"},
		{"listen: '[::]:8090'", 0, "listen: other machines reach [::]:8090"},
		{"listen: localhost:8090", 0, ""},
		{"listen: '[::1]:8090'", 0, ""},
		{"listen: 127.1.2.3:8090", 0, ""},
		{"listen: :8090\ntls: {cert: " + private + ", key: " + private + "}", 0, ""},
		{"listen: :8090\ntls: {cert: " + open + ", key: " + shared + "}", 0, ""},
		{"listen: :8090\ntls: {cert: /gone.pem, key: " + private + "}", 0,
			"tls: the server does not start without this file: open /gone.pem: no such file or directory."},
		{"listen: :8090\ntls: {cert: " + open + ", key: " + open + "}", 0, open + " can be read by other users"},
		{plain("http://code.example.com", "token: hidden-one"), 0, "notify.connections: code: the credentials for http://code.example.com are sent in the clear; use https."},
		{plain("http://localhost:7990", "token: hidden-one"), 0, ""},
		{plain("http://code.example.com", "unsigned: false"), 0, ""},
		{connection("unsigned: true"), 0, "notify.connections: code accepts unsigned webhooks"},
		{connection("webhook_secret: fifteen-letters"), 0, "notify.connections: the webhook_secret of code has fewer than 16 characters"},
		{connection("webhook_secret: sixteen--letters"), 0, ""},
		{connection("webhook_secret: short, unsigned: true"), 0, "notify.connections: the webhook_secret of code has fewer than 16 characters"},
		{"trusted_proxies: [0.0.0.0/0]", 0, "trusted_proxies: 0.0.0.0/0 is the whole internet"},
		{"trusted_proxies: ['::/0']", 0, "trusted_proxies: ::/0 is the whole internet"},
		{"trusted_proxies: [0.0.0.0/1]", 0, "trusted_proxies: 0.0.0.0/1 is"},
		{"trusted_proxies: [10.0.0.0/8, 'fc00::/7']", 0, ""},
		{"notify: {allowed_networks: [0.0.0.0/0]}", 0, "notify.allowed_networks: 0.0.0.0/0 lets webhook URLs reach every address"},
		{"notify: {allowed_networks: [10.0.0.0/8, chat.example.com]}", 0,
			"notify.allowed_networks: 10.0.0.0/8 lets webhook URLs reach every port of a network that is not public; write the port of the chat platform too, such as 10.0.0.0/8:443."},
		{"notify: {allowed_networks: ['10.0.0.0/8:443', '10.1.2.3:8443', '[fd80::/9]:443', chat.example.com, 'chat.example.com:80']}", 0, ""},
		{"notify: {allowed_networks: [10.1.2.3]}", 0, "notify.allowed_networks: 10.1.2.3 lets webhook URLs reach every port"},
		{"notify: {allowed_networks: ['fd12::/16']}", 0,
			"notify.allowed_networks: fd12::/16 lets webhook URLs reach every port of a network that is not public; write the port of the chat platform too, such as [fd12::/16]:443."},
		{"notify: {allowed_networks: [9.0.0.0/8]}", 0, ""}, // public
		{"notify: {allowed_networks: [192.0.0.0/8]}", 0, "notify.allowed_networks: 192.0.0.0/8 lets webhook URLs reach every port"},
		{"notify: {allowed_networks: ['0.0.0.0/0:443']}", 0, "notify.allowed_networks: 0.0.0.0/0:443 lets webhook URLs reach every address"},
		{"notify: {allowed_networks: ['169.254.0.0/16:80']}", 0, "notify.allowed_networks: 169.254.0.0/16:80 lets webhook URLs reach the cloud metadata service"},
		{"notify: {allowed_networks: ['127.0.0.1:8065', '[::1]:8065', 'localhost:8065']}", 0, ""},
		{"notify: {allowed_networks: [127.0.0.0/8]}", 0, "notify.allowed_networks: 127.0.0.0/8 lets webhook URLs reach this machine itself"},
		{"notify: {allowed_networks: ['::1']}", 0, "notify.allowed_networks: ::1 lets webhook URLs reach this machine itself, where other services may trust local requests; list only the network of the chat platform, with its port, such as [::1]:443."},
		{"notify: {allowed_networks: [localhost]}", 0, "notify.allowed_networks: localhost lets"},
		{"notify: {allowed_networks: [169.254.0.0/16]}", 0, "notify.allowed_networks: 169.254.0.0/16 lets webhook URLs reach the cloud metadata service"},
		{"notify: {allowed_networks: ['fd00:ec2::254/128']}", 0, "notify.allowed_networks: fd00:ec2::254/128 lets webhook URLs reach the cloud metadata service"},
		{"metrics: {public: true}", 0, "metrics.public: "},
		{"base_url: http://outrigger.example.com", 0, "base_url: http://outrigger.example.com is plain HTTP"},
		{"base_url: https://outrigger.example.com", 0, ""},
		{"base_url: http://localhost:8090", 0, ""},
		{"mail: {listen: ':2525', plain_auth: true}", 0, "mail.plain_auth: clients may sign in to :2525 without TLS"},
		{"mail: {listen: '0.0.0.0:2525', plain_auth: true, tls: {cert: " + private + ", key: " + private + "}}", 0, "mail.plain_auth: "},
		{"mail: {listen: '127.0.0.1:2525', plain_auth: true}", 0, ""},
		{"mail: {listen: off, plain_auth: true}", 0, ""},
		{"mail: {smarthost: 'mail.example.com:25', smarthost_tls: none, smarthost_user: u, smarthost_password: hidden-one}", 0, "mail.smarthost_tls: the password for mail.example.com:25 is sent in the clear"},
		{"mail: {smarthost: 'localhost:25', smarthost_tls: none, smarthost_user: u, smarthost_password: hidden-one}", 0, ""},
		{"mail: {smarthost: 'mail.example.com:25', smarthost_tls: none}", 0, ""},
		{"mail: {tls: {cert: " + open + ", key: " + open + "}}", 0, open + " can be read by other users"},
		{"mail: {source: remote, remote: {url: 'http://jira.example.com', token: hidden-one}}", 0, "mail.remote.url: the credentials for http://jira.example.com are sent in the clear"},
		{"mail: {source: remote, remote: {url: 'http://127.0.0.1:8080', token: hidden-one}}", 0, ""},
		{"mail: {source: jmx, jmx: {url: 'http://jira.example.com/metrics', user: u, password: hidden-one}}", 0, "mail.jmx.url: "},
		{"mail: {source: jmx, jmx: {url: 'http://jira.example.com/metrics'}}", 0, ""},
		{"mail: {nodes: [{node_id: n, source: remote, remote: {url: 'http://jira.example.com', token: hidden-one}}]}", 0, "mail.nodes[0].remote.url: "},
		{"threads: {target: jira-cloud, jira_cloud: {url: 'http://site.example.com', user: a@example.com, token: hidden-one}}", 0, "threads.jira_cloud.url: "},
		{"threads: {mappings: {remote: {url: 'http://jira.example.com', token: hidden-one}}}", 0, "threads.mappings.remote.url: "},
		{"database_url: postgres://u:hidden-one@db.example.com/o", 0, "database_url: the password and data for db.example.com may be sent in the clear"},
		{"database_url: postgres://u:hidden-one@db.example.com/o?sslmode=disable", 0, "database_url: "},
		{"database_url: postgres://u:hidden-one@db.example.com/o?sslmode=verify-full", 0, ""},
		{"database_url: postgres://u:hidden-one@127.0.0.1/o", 0, ""},
		{"database_url: postgres://u@db.example.com/o", 0, ""},
		{"database_url: postgres:///o?host=/run/postgresql", 0, ""},
		{"threads: {source: sql, sql: {url: 'mysql://u:hidden-one@db.example.com/jira', query: SELECT 1}}", 0, "threads.sql.url: "},
		{"threads: {source: sql, sql: {url: 'mysql://u:hidden-one@db.example.com/jira?tls=true', query: SELECT 1}}", 0, ""},
	} {
		_ = os.Remove(key)
		if c.key != 0 {
			if err := os.WriteFile(key, nil, c.key); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(key, c.key); err != nil { // whatever the umask
				t.Fatal(err)
			}
		}
		_, warnings, err := Load(write(t, "c.yaml", "data_dir: "+data+"\n"+c.yaml), nil, nil)
		if err != nil {
			t.Errorf("%q: %v", c.yaml, err)
			continue
		}
		if c.want == "" && len(warnings) != 0 || c.want != "" && (len(warnings) != 1 || !strings.HasPrefix(warnings[0], c.want)) {
			t.Errorf("%q: %q, want %q", c.yaml, warnings, c.want)
		}
		for _, w := range warnings {
			if strings.Contains(w, "fifteen-letters") || strings.Contains(w, "hidden-one") {
				t.Errorf("the secret is shown: %s", w)
			}
		}
	}
}

// A data folder that others may change, and a database that others may read, are
// said; both at once too.
func TestOpenDataFolder(t *testing.T) {
	for _, c := range []struct {
		folder, database os.FileMode
		want             []string // how the warnings begin, after the folder's path
	}{
		{0o700, 0o600, nil},
		{0o755, 0o600, nil},
		{0o770, 0o600, nil},
		{0o777, 0o600, []string{" can be changed by other users of this machine (mode 0777)"}},
		{0o700, 0o644, []string{"/outrigger.db can be read by other users of this machine (mode 0644)"}},
		{0o702, 0o640, []string{" can be changed by other users", "/outrigger.db can be read by other users"}},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "outrigger.db")
		if err := os.WriteFile(file, nil, c.database); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Chmod(file, c.database), os.Chmod(dir, c.folder)); err != nil { // whatever the umask
			t.Fatal(err)
		}
		_, warnings, err := Load(write(t, "c.yaml", "data_dir: "+dir), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		said := slices.EqualFunc(warnings, c.want, func(got, want string) bool { return strings.HasPrefix(got, dir+want) })
		if !said {
			t.Errorf("a folder of mode %04o with a database of mode %04o: %q, want %q", c.folder, c.database, warnings, c.want)
		}
	}
}

// A configuration file that others may read is said where it holds a secret
// itself, and not where that is in a file of its own or in the environment.
func TestReadableConfigurationFile(t *testing.T) {
	apart := write(t, "secret", "hidden-one-and-long")
	for yaml, holds := range map[string]bool{
		"":                                    false,
		"listen: 127.0.0.1:8090":              false,
		"admin_password: hidden-one-and-long": true,
		"admin_password:":                     false,
		"admin_password_file: " + apart:       false,
		"notify:\n  connections:\n    - {name: code, kind: bitbucket-dc, base_url: https://code.example.com, webhook_secret: hidden-one-and-long}": true,
		"notify:\n  connections:\n    - {name: code, kind: bitbucket-dc, base_url: https://code.example.com, webhook_secret_file: " + apart + "}":  false,
	} {
		for mode, others := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o604: true, 0o666: true} {
			path := write(t, "c.yaml", yaml)
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			_, warnings, err := Load(path, []string{"OUTRIGGER_SECRET_KEY=" + strings.Repeat("A", 43) + "="}, nil)
			if err != nil {
				t.Fatalf("%q: %v", yaml, err)
			}
			said := len(warnings) == 1 && strings.HasPrefix(warnings[0], path+" can be read by other users of this machine (mode ")
			if said != (holds && others) || len(warnings) > 1 || strings.Contains(strings.Join(warnings, ""), "hidden-one") {
				t.Errorf("%q with mode %o: %q", yaml, mode, warnings)
			}
		}
	}
}
