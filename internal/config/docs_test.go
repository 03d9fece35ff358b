package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents are the texts that show settings, by file.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	texts := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)] = string(text)
	}
	return texts
}

var (
	yamlBlock  = regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```")
	secretPath = regexp.MustCompile(`(?m)^(\s*)(\w+)_file: \S+`)
)

// Every block of YAML in the documentation is a valid configuration file, but for
// those of other programs, which begin with the name of their file.
func TestConfigurationsInTheDocumentation(t *testing.T) {
	key, _ := pair(t)
	secrets := map[string]string{
		"database_url": write(t, "database_url", "postgres://outrigger:password@db.example.com/outrigger?sslmode=verify-full"),
		"secret_key":   write(t, "secret_key", strings.Repeat("A", 43)+"="),
		"url":          write(t, "url", "postgres://jira:password@db.example.com/jira"),
		"webhook_url":  write(t, "webhook_url", "https://hooks.slack.com/services/T0/B0/secret"),
		"client_key":   write(t, "key.pem", key),
	}
	other := write(t, "secret", "a secret of sufficient length")
	yours := strings.NewReplacer("TENANT_ID", "0a1b2c3d-0000-0000-0000-000000000000", "CLIENT_ID", "4e5f6a7b-0000-0000-0000-000000000000")
	found := 0
	for name, text := range documents(t) {
		for _, match := range yamlBlock.FindAllStringSubmatch(text, -1) {
			block := regexp.MustCompile(`(?m)^`+match[1]).ReplaceAllString(yours.Replace(match[2]), "")
			if strings.HasPrefix(block, "# prometheus.yml\n") {
				continue
			}
			found++
			block = secretPath.ReplaceAllStringFunc(block, func(line string) string {
				m := secretPath.FindStringSubmatch(line)
				path := secrets[m[2]]
				if path == "" {
					path = other
				}
				return m[1] + m[2] + "_file: " + path
			})
			if _, _, err := Load(write(t, "c.yaml", block), nil, nil); err != nil {
				t.Errorf("%s: %v\n%s", name, err, block)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d blocks were found", found)
	}
}

// A setting that is named in a text is one that there is.
func TestSettingsInTheDocumentation(t *testing.T) {
	known := []string{}
	groups := map[string]bool{}
	for _, s := range settings(Default()) {
		known = append(known, s.key, s.key+fileSuffix)
		group, _, nested := strings.Cut(s.key, ".")
		if nested {
			groups[group] = true
		}
	}
	named := regexp.MustCompile("`([a-z_]+)\\.([a-z_.]+)(?:: [^`]*)?`")
	found := 0
	for name, text := range documents(t) {
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !groups[match[1]] {
				continue
			}
			found++
			key := match[1] + "." + match[2]
			if !slices.ContainsFunc(known, func(k string) bool { return k == key || strings.HasPrefix(k, key+".") }) {
				t.Errorf("%s names %s, which is no setting", name, key)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d settings were found", found)
	}
}
