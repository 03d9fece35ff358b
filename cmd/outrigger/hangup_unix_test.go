//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// SIGHUP does not end the server: it reads the configuration and the TLS files
// again, and names what else has changed.
func TestHangUp(t *testing.T) {
	t.Setenv("OUTRIGGER_MAIL_LISTEN", "off")
	file := filepath.Join(t.TempDir(), "outrigger.yaml")
	configure := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("log: {level: info}\n")
	p := begin(t, "serve", "--config", file, "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"))
	said := func(msg string) (line struct{ Level, Msg, URL, Error, Changed, Settings string }) {
		t.Helper()
		for line.Msg != msg && p.lines.Scan() {
			if err := json.Unmarshal(p.lines.Bytes(), &line); err != nil {
				t.Fatalf("%s: %v", p.lines.Text(), err)
			}
		}
		return line
	}
	url := said("ready").URL
	hangUp := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	configure("log: {level: debug}\nbase_url: http://other.example\nretention: {audit: 100d}\n")
	hangUp()
	if line := said("configuration read again"); line.Level != "INFO" || line.Changed != "log.level: info, now debug" {
		t.Errorf("it says of what was read: %+v", line)
	}
	if line := said("settings changed that need a restart"); line.Level != "INFO" || line.Settings != "base_url, retention.audit" {
		t.Errorf("it says of what needs a restart: %+v", line)
	}
	// Reads are logged at DEBUG only. The end of a compressed answer comes after its
	// line, which waits to be read.
	answered := make(chan error, 1)
	go func() {
		resp, err := http.Get(url + "/sign-in")
		if err == nil {
			err = resp.Body.Close()
		}
		answered <- err
	}()
	if line := said("request"); line.Level != "DEBUG" {
		t.Errorf("a read is logged at %q", line.Level)
	}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	configure("log: {level: loud}\n")
	hangUp()
	if line := said("the configuration was not read again"); !strings.Contains(line.Error, "loud") {
		t.Errorf("it does not say why: %q", line.Error)
	}
	if rest, code := p.end(); code != exitDone || !strings.Contains(rest, `"msg":"stopped"`) {
		t.Errorf("it ended with %d and said\n%s", code, rest)
	}
}
