package app

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// command is a process that starts no server.
func command(t *testing.T, cfg *config.Config) *App {
	t.Helper()
	a := newApp(t, cfg, Options{})
	return a
}

// A rotation of the key file: the server sends as before, also without the old
// key.
func TestRotateKeyFile(t *testing.T) {
	t.Parallel()
	url, _, messages := chatRoom(t)
	cfg := withChat(t)
	a := start(t, cfg)
	if _, refusal := saveRule(t, a, url); refusal != "" {
		t.Fatal(refusal)
	}
	if _, _, err := command(t, cfg).RotateSecrets(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("under a running server: %v", err)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sealed, lost, err := command(t, cfg).RotateSecrets(t.Context()); sealed != 2 || lost != 0 || err != nil { // a URL and the canary
		t.Fatalf("encrypted %d, lost %d: %v", sealed, lost, err)
	}
	previous := filepath.Join(cfg.DataDir, "secret.key.previous")
	if err := os.Rename(previous, filepath.Join(t.TempDir(), "old")); err != nil {
		t.Fatal(err)
	}
	b := start(t, cfg)
	opened(t, b, 1)
	<-messages
}

// A rotation that was interrupted after it made the new key is run again; the
// server works in between.
func TestRotateIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	url, _, messages := chatRoom(t)
	cfg := withChat(t)
	a := start(t, cfg)
	if _, refusal := saveRule(t, a, url); refusal != "" {
		t.Fatal(refusal)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := secret.NewKeyFile(cfg.DataDir); err != nil {
		t.Fatal(err)
	}
	b := start(t, cfg)
	opened(t, b, 1)
	<-messages
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sealed, lost, err := command(t, cfg).RotateSecrets(t.Context()); sealed != 2 || lost != 0 || err != nil {
		t.Errorf("encrypted %d, lost %d: %v", sealed, lost, err)
	}
	if _, _, err := command(t, cfg).RotateSecrets(t.Context()); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "secret.key.previous") {
		t.Errorf("over the previous key: %v", err)
	}
}

// With a lost key the server does not start, and says what to do; after that
// the rule asks for its URL, events wait, and the URL brings them.
func TestForgetALostKey(t *testing.T) {
	t.Parallel()
	url, _, messages := chatRoom(t)
	cfg := withChat(t)
	a := start(t, cfg)
	rule, refusal := saveRule(t, a, url)
	if refusal != "" {
		t.Fatal(refusal)
	}
	if status, body := put(t, a, "POST", "/rest/outrigger/1.0/connections/dc/hooks", `{"name":"atl","projectKey":"ATL"}`); status != http.StatusCreated {
		t.Fatalf("making a hook: %d %s", status, body)
	}
	if _, body := put(t, a, "GET", "/rest/outrigger/1.0/connections/dc/hooks", ""); strings.Contains(body, "secretLost") {
		t.Errorf("a secret is lost before the key is: %s", body)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(cfg.DataDir, "secret.key")); err != nil {
		t.Fatal(err)
	}
	if err := command(t, cfg).Start(t.Context()); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "secrets forget") {
		t.Errorf("without the key: %v", err)
	}
	if lost, err := command(t, cfg).ForgetSecrets(t.Context()); lost != 2 || err != nil {
		t.Fatalf("lost %d: %v", lost, err)
	}
	b := start(t, cfg)
	opened(t, b, 1)
	if _, entries := put(t, b, "GET", "/rest/outrigger/1.0/audit", ""); !strings.Contains(entries, `"action":"forget","object":"secrets","after":{"discarded":"2"}`) {
		t.Errorf("the audit trail has %s", entries)
	}
	hookSecretIsLost(t, b)
	if state, reason, _ := await(t, b, rule); state != "broken" || !strings.Contains(reason, "Enter the URL again") {
		t.Errorf("the channel is %s: %s", state, reason)
	}
	if n := len(messages); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	if status, body := put(t, b, "POST", "/rest/mtbs/1.0/configuration/filter", fmt.Sprintf(
		`{"id":%d,"name":"all","webhookUrl":%q,"eventTypes":["PULL_REQUEST_OPENED"]}`, rule, url)); status != http.StatusOK {
		t.Fatalf("saving the URL: %d %s", status, body)
	}
	<-messages
}

// hookSecretIsLost looks for a hook whose secret is lost, and rotates it.
func hookSecretIsLost(t *testing.T, a *App) {
	t.Helper()
	const hooks, page = "/rest/outrigger/1.0/connections/dc/hooks", "/notifications/connections/dc"
	if _, body := put(t, a, "GET", hooks, ""); strings.Count(body, `"secretLost":true`) != 1 {
		t.Errorf("the hooks are %s", body)
	}
	_, body := consolePage(t, a, page, nil)
	wants(t, "the connection", body, `<span class="badge bad">lost</span>`, "refused until you rotate")
	_, body = consolePage(t, a, page+"/hooks/atl/rotate", nil)
	wants(t, "the rotation", body, "The present secret is lost")
	if _, body = consolePage(t, a, page+"/hooks/atl/rotate", url.Values{}); strings.Contains(body, "Old secret") {
		t.Errorf("a secret that is lost is said to be valid: %s", body)
	}
	if _, body := put(t, a, "GET", hooks, ""); strings.Contains(body, "secretLost") || strings.Contains(body, "previousUntil") {
		t.Errorf("after the rotation the hooks are %s", body)
	}
}
