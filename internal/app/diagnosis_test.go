package app

import (
	"archive/zip"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/diagnosis"
	"outrigger/internal/secret"
)

// A diagnosis has what a report of a fault needs, no secret and no environment, and is
// in the audit trail.
func TestDiagnosis(t *testing.T) {
	const hidden = "s3cret-of-the-test"
	t.Setenv("ONLY_IN_THE_ENVIRONMENT", "of-the-environment")
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{connectionNamed("main", hidden)}
	cfg.Notify.Connections[0].Token = secret.New(hidden + "-token")
	recent := new(diagnosis.Lines)
	log := NewLogger(config.Log{Format: "json"}, slog.LevelInfo, recent)
	a := startWith(t, cfg, Options{NewDatabase: true, Version: "v9.8.7", Log: log, Recent: recent})
	log.Warn("a line of the test", "token", hidden, "url", "https://chat.example.com/services/"+hidden[:4])

	status, body := put(t, a, "POST", diagnosis.Path, "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	archive, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(text)
	}
	for name, wanted := range map[string][]string{
		"versions.txt":   {"v9.8.7", "n1", "SQLite", "modernc.org/sqlite"},
		"settings.txt":   {"notify.connections[0].webhook_secret: <secret>\n", "notify.connections[0].name: main\n", "log.level: info\n", "mail.smarthost_password: \n"},
		"metrics.txt":    {"outrigger_ready 1", "outrigger_build_info"},
		"goroutines.txt": {"goroutine profile: total", "outrigger/internal/"},
		"log.txt":        {`"msg":"a line of the test"`, "https://chat.example.com/…"},
	} {
		for _, want := range wanted {
			if !strings.Contains(parts[name], want) {
				t.Errorf("%s has no %q:\n%.2000s", name, want, parts[name])
			}
		}
	}
	for name, text := range parts {
		for _, never := range []string{hidden, hidden[:4], password, os.Getenv("ONLY_IN_THE_ENVIRONMENT")} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %q", name, never)
			}
		}
	}
	if _, body := get(t, a.URL()+"/rest/outrigger/1.0/audit?object=diagnosis", asAdmin); strings.Count(body, `"action":"download"`) != 1 {
		t.Errorf("the audit trail has %s", body)
	}
}
