package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/secret"
)

var exportedSecret = cmp.Comparer(func(a, b secret.Value) bool { return a.Equal(b) })

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaultsAreValid(t *testing.T) {
	c, warnings, err := Load("", nil, nil)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("Load: %v %v", warnings, err)
	}
	if diff := cmp.Diff(Default(), c, exportedSecret); diff != "" {
		t.Error(diff)
	}
	if c.Listen != "127.0.0.1:8090" || c.Notify.ChannelBurst != 4 || c.Retention.Events != Duration(7*24*time.Hour) {
		t.Errorf("defaults are %+v", c)
	}
}

func TestLayers(t *testing.T) {
	path := write(t, "c.yaml", `
listen: :1
data_dir: /from-file
node_id: 007
trusted_proxies:
  - 10.0.0.0/8
  - fd00::/8
metrics: {public: true}
log:
  level: debug
notify:
  channel_rate: 0.5
  allowed_networks: [10.0.0.0/8, chat.example.com]
  connections:
    - name: main
      kind: bitbucket-dc
      base_url: https://code.example.com/git
      webhook_secret: s3cret
    - name: old
      kind: bitbucket-dc
      base_url: http://old.example.com
      unsigned: true
retention:
  events: 90m
  deliveries:
`)
	c, _, err := Load(path, []string{
		"OUTRIGGER_LISTEN=:2", "OUTRIGGER_DATA_DIR=/from-env", "OUTRIGGER_NOTIFY_CHANNEL_BURST=9",
		"OUTRIGGER_TRUSTED_PROXIES= 192.0.2.0/24 ,", "OUTRIGGER_LOG_LEVEL=", "HOME=/root",
	}, map[string]string{"listen": ":3", "data_dir": ""})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen, want.DataDir, want.NodeID = ":3", "/from-env", "007"
	want.TrustedProxies = []string{"192.0.2.0/24"}
	want.Metrics.Public = true
	want.Log.Level = "debug"
	want.Notify.ChannelRate, want.Notify.ChannelBurst = 0.5, 9
	want.Notify.AllowedNetworks = []string{"10.0.0.0/8", "chat.example.com"}
	want.Notify.Connections = []Connection{
		{Name: "main", Kind: KindBitbucketDC, BaseURL: "https://code.example.com/git", WebhookSecret: secret.New("s3cret")},
		{Name: "old", Kind: KindBitbucketDC, BaseURL: "http://old.example.com", Unsigned: true},
	}
	want.Retention.Events = Duration(90 * time.Minute)
	if diff := cmp.Diff(want, c, exportedSecret); diff != "" {
		t.Error(diff)
	}
}

// Everything that is wrong with a file is named at once, with line and column.
func TestFileMistakes(t *testing.T) {
	for _, test := range []struct{ name, yaml, want string }{
		{"unknown key", "listen: :1\nlisten_adress: x\n", "F:2:1: the key listen_adress is unknown."},
		{"near miss", "log:\n  levle: info\n", "F:2:3: the key levle is unknown; did you mean level?"},
		{"unknown keys, all", "a: 1\nnotify:\n  b: 2\n", "F:1:1: the key a is unknown.\nF:3:3: the key b is unknown."},
		{"unknown key in an item", "notify:\n  connections:\n    - name: a\n      kind: bitbucket-dc\n      base_url: http://a\n      secret: b\n", "F:6:7: the key secret is unknown."},
		{"duplicate", "listen: :1\ndata_dir: x\nlisten: :2\n", "F:3:1: the key listen is already in line 1"},
		{"duplicate group", "log: {level: info}\nlog: {level: warn}\n", "F:2:1: the key log is already in line 1"},
		{"secret twice", "secret_key: a\nsecret_key_file: b\n", "F:2:1: secret_key is set twice, as a value and as a file; set one of them\nsecret_key: the key is not 32 bytes in base64; openssl rand -base64 32 generates one"},
		{"no boolean", "cluster:\n  enabled: yes please\n", `F:2:12: cluster.enabled: "yes please" is not true or false`},
		{"no duration", "retention:\n  audit: 3 weeks\n", `F:2:10: retention.audit: "3 weeks" is not a duration; write it as 90s, 10m, 12h or 7d`},
		{"no number", "notify: {channel_rate: fast, channel_burst: 1.5}\n", "F:1:24: notify.channel_rate: \"fast\" is not a number\nF:1:45: notify.channel_burst: \"1.5\" is not a whole number"},
		{"mapping for an item", "notify: {allowed_networks: [10.0.0.0/8:443]}\n", "F:1:39: notify.allowed_networks takes a single value; put one with a colon in it in quotes"},
		{"list for a value", "listen: [a, b]\n", "F:1:9: listen takes a single value"},
		{"value for a list", "trusted_proxies: 10.0.0.0/8\n", "F:1:18: trusted_proxies is a list; write each item on a line of its own after a dash"},
		{"value for a group", "log: info\n", `F:1:6: expected keys with values, such as "format: …"`},
		{"list for the file", "- a\n", `F:1:1: expected keys with values, such as "listen: …"`},
		{"alias", "listen: &a :1\n", "F:1:9: listen: anchors, aliases and tags are not supported; write the value itself"},
		{"two documents", "listen: :1\n---\nlisten: :2\n", "F:3:7: a second YAML document begins here; the file may have only one"},
		{"not YAML", "listen: \"open\n", "F:1:9: this is not YAML: could not find end character of double-quoted text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, "c.yaml", test.yaml)
			_, _, err := Load(path, nil, nil)
			if err == nil {
				t.Fatal("it was accepted")
			}
			if diff := cmp.Diff(strings.ReplaceAll(test.want, "F:", path+":"), err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	_, _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("got %v", err)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if _, _, err := Load(write(t, "empty.yaml", empty), nil, nil); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func TestSecretFiles(t *testing.T) {
	for content, want := range map[string]string{
		"word": "word", "word\n": "word", "word\r\n": "word", "word\n\n": "word\n", " word \n": " word ", "word\r": "word\r",
	} {
		path := write(t, "password", content)
		c, _, err := Load("", []string{"OUTRIGGER_ADMIN_PASSWORD_FILE=" + path}, nil)
		if err != nil || c.AdminPassword.Reveal() != want {
			t.Errorf("%q gave %q, %v", content, c.AdminPassword.Reveal(), err)
		}
	}

	word := write(t, "word", "from the file\n")
	conf := write(t, "c.yaml", "admin_password_file: "+word+`
notify:
  connections:
    - name: a
      kind: bitbucket-dc
      base_url: http://a
      webhook_secret_file: `+word+"\n")
	c, _, err := Load(conf, nil, nil)
	if err != nil || c.AdminPassword.Reveal() != "from the file" || c.Notify.Connections[0].WebhookSecret.Reveal() != "from the file" {
		t.Errorf("got %q, %v", c.AdminPassword.Reveal(), err)
	}
	c, _, err = Load(conf, []string{"OUTRIGGER_ADMIN_PASSWORD=from the environment"}, nil)
	if err != nil || c.AdminPassword.Reveal() != "from the environment" {
		t.Errorf("the environment did not go over the file's file: %q, %v", c.AdminPassword.Reveal(), err)
	}

	empty := write(t, "empty", "\n")
	_, _, err = Load("", []string{
		"OUTRIGGER_ADMIN_PASSWORD_FILE=/nowhere", "OUTRIGGER_DATABASE_URL_FILE=" + empty,
		"OUTRIGGER_SECRET_KEY=a", "OUTRIGGER_SECRET_KEY_FILE=b",
	}, nil)
	want := "OUTRIGGER_SECRET_KEY: the secret is set twice, as a value and as a file; set one of them\n" +
		"admin_password_file: the file cannot be read: open /nowhere: no such file or directory\n" +
		"database_url_file: the file " + empty + " is empty"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestUnknownVariables(t *testing.T) {
	_, warnings, err := Load("", []string{
		"OUTRIGGER_LISTEM=x", "OUTRIGGER_NOTIFY_CONNECTIONS=x", "OUTRIGGER_WHATEVER=x", "OUTRIGGER_EMPTY=", "PATH=/bin",
		"OUTRIGGER_SHARED=x", "OUTRIGGER_SERVER=x", "OUTRIGGER_TOKEN=x", "OUTRIGGER_CONFIG=x",
	}, nil)
	want := []string{
		"The environment variable OUTRIGGER_LISTEM is not an Outrigger setting; did you mean OUTRIGGER_LISTEN?",
		"The environment variable OUTRIGGER_NOTIFY_CONNECTIONS is ignored: notify.connections can be set only in the configuration file.",
		"The environment variable OUTRIGGER_WHATEVER is not an Outrigger setting.",
	}
	if diff := cmp.Diff(want, warnings); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestVariableMistakes(t *testing.T) {
	_, _, err := Load("", []string{"OUTRIGGER_METRICS_PUBLIC=on", "OUTRIGGER_LISTEN=nowhere"}, nil)
	want := "OUTRIGGER_METRICS_PUBLIC: \"on\" is not true or false\n" +
		`listen: "nowhere" is not an address; write host:port, such as 127.0.0.1:8090, :8090 or unix:/run/outrigger/http.sock`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// No file, however broken, brings the program down or gets its lines quoted.
func FuzzFile(f *testing.F) {
	f.Add("listen: :1\nlog: {level: info}\n")
	f.Add("notify:\n  connections:\n    - name: a\n      webhook_secret: |\n        x\n")
	f.Add("a: &a [*a]\n<<: *a\n")
	f.Add("? {a: b}\n: c\n")
	f.Fuzz(func(t *testing.T, content string) {
		path := write(t, "c.yaml", content)
		c, _, err := Load(path, nil, nil)
		if err == nil && c.Validate() != nil {
			t.Error("Load accepted what Validate refuses")
		}
	})
}
