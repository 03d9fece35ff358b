package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is legal and dangerous is said, and what is neither is not.
func TestDangers(t *testing.T) {
	data := t.TempDir()
	key := filepath.Join(data, "secret.key")
	private, shared, open := write(t, "private.pem", "k"), write(t, "shared.pem", "k"), write(t, "open.pem", "k")
	for path, mode := range map[string]os.FileMode{private: 0o600, shared: 0o640, open: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	connection := func(more string) string {
		return "notify:\n  connections:\n    - {name: code, kind: bitbucket-dc, base_url: https://code.example.com, " + more + "}\n"
	}
	for _, c := range []struct {
		yaml string
		key  os.FileMode // mode of secret.key; 0: there is none
		want string      // how the only warning begins; "": there is none
	}{
		{"", 0, ""},
		{"", 0o600, ""},
		{"", 0o640, key + " can be read by other users of this machine (mode 0640)"},
		{"listen: :8090", 0, "listen: :8090 is reached from other machines by plain http"},
		{"listen: 0.0.0.0:8090", 0, "listen: 0.0.0.0:8090 is reached"},
		{"listen: outrigger.example.com:80", 0, "listen: outrigger.example.com:80 is reached"},
		{"listen: '[::]:8090'", 0, "listen: [::]:8090 is reached"},
		{"listen: localhost:8090", 0, ""},
		{"listen: '[::1]:8090'", 0, ""},
		{"listen: 127.1.2.3:8090", 0, ""},
		{"listen: :8090\ntls: {cert: " + private + ", key: " + private + "}", 0, ""},
		{"listen: :8090\ntls: {cert: " + open + ", key: " + shared + "}", 0, ""},
		{"listen: :8090\ntls: {cert: " + open + ", key: " + open + "}", 0, open + " can be read by other users"},
		{connection("unsigned: true"), 0, "notify.connections: code takes unsigned webhooks"},
		{connection("webhook_secret: fifteen-letters"), 0, "notify.connections: the webhook_secret of code has fewer than 16 characters"},
		{connection("webhook_secret: sixteen--letters"), 0, ""},
		{connection("webhook_secret: short, unsigned: true"), 0, "notify.connections: the webhook_secret of code has fewer than 16 characters"},
		{"trusted_proxies: [0.0.0.0/0]", 0, "trusted_proxies: 0.0.0.0/0 is the whole internet"},
		{"trusted_proxies: ['::/0']", 0, "trusted_proxies: ::/0 is the whole internet"},
		{"trusted_proxies: [0.0.0.0/1]", 0, "trusted_proxies: 0.0.0.0/1 is"},
		{"trusted_proxies: [10.0.0.0/8, 'fc00::/7']", 0, ""},
		{"notify: {allowed_networks: [0.0.0.0/0]}", 0, "notify.allowed_networks: 0.0.0.0/0 lets webhook URLs reach every address"},
		{"notify: {allowed_networks: [10.0.0.0/8, chat.example.com]}", 0, ""},
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
			if strings.Contains(w, "fifteen-letters") {
				t.Errorf("the secret is shown: %s", w)
			}
		}
	}
}
