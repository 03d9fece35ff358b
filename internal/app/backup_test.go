package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/fault"
	"outrigger/internal/playground"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

// chatRoom is a chat platform that answers what it is told to, and gives the
// messages that it took.
func chatRoom(t *testing.T) (url string, answer chan int, messages chan string) {
	t.Helper()
	answer, messages = make(chan int, 1), make(chan string, 100)
	answer <- http.StatusOK
	room := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := <-answer
		answer <- status
		if status == http.StatusOK {
			messages <- r.URL.Path
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(room.Close)
	return room.URL + "/a", answer, messages
}

// withChat are settings with a connection, for a chat on this machine.
func withChat(t *testing.T) *config.Config {
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	return cfg
}

// opened posts the webhook of a pull request.
func opened(t *testing.T, a *App, seq int64) {
	t.Helper()
	platform := &playground.Platform{HookURL: a.URL() + "/hooks/dc", Secret: "s", Clock: time.Now}
	for _, s := range samples.Samples() {
		if s.Name == "pull-request-opened" {
			if status, err := platform.Post(t.Context(), s, seq); err != nil || status != http.StatusAccepted {
				t.Fatalf("webhook: %d, %v", status, err)
			}
		}
	}
}

// savedBackup downloads a backup of a running server into a file.
func savedBackup(t *testing.T, a *App) string {
	t.Helper()
	status, body := get(t, a.URL()+"/rest/outrigger/1.0/backup", asAdmin)
	if status != http.StatusOK || !strings.HasPrefix(body, "SQLite format 3\x00") {
		t.Fatalf("%d %.200s", status, body)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// restored is a backup restored on another machine, which has the key of the
// server that it was made on.
func restored(t *testing.T, from *config.Config, file string) *config.Config {
	t.Helper()
	cfg := withChat(t)
	a := newApp(t, cfg, Options{})
	if _, err := a.Restore(t.Context(), file); !fault.Is(err, fault.Conflict) {
		t.Fatalf("without the key: %v", err)
	}
	key, err := os.ReadFile(filepath.Join(from.DataDir, "secret.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(cfg.DataDir, "secret.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Restore(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// After a restore everything is there, events are taken, and nothing is sent
// until an administrator says so; then all of it goes out.
func TestRestoreHoldsBackSending(t *testing.T) {
	t.Parallel()
	url, answer, messages := chatRoom(t)
	<-answer
	answer <- http.StatusServiceUnavailable
	cfg := withChat(t)
	a := start(t, cfg)
	if _, refusal := saveRule(t, a, url); refusal != "" {
		t.Fatal(refusal)
	}
	opened(t, a, 1)
	file := savedBackup(t, a)
	if left, _ := filepath.Glob(filepath.Join(cfg.DataDir, "backup-*")); left != nil {
		t.Errorf("left lying: %v", left)
	}
	stop(t, a) // it would send its message again
	<-answer
	answer <- http.StatusOK

	again := restored(t, cfg, file)
	b := start(t, again)
	opened(t, b, 2)
	if _, page := consolePage(t, b, "/", nil); !strings.Contains(page, "Nothing is sent until you confirm it") {
		t.Errorf("the overview does not say that sending is held back: %s", page)
	}
	if n := len(messages); n != 0 {
		t.Errorf("%d messages were sent before a confirmation", n)
	}
	confirm := b.URL() + "/rest/outrigger/1.0/backup/confirm"
	post := func(r *http.Request) { r.Method = http.MethodPost }
	if status, body := get(t, confirm, asAdmin, post); status != http.StatusNoContent {
		t.Fatalf("confirming: %d %s", status, body)
	}
	for range 2 {
		<-messages
	}
	if status, body := get(t, confirm, asAdmin, post); status != http.StatusConflict {
		t.Errorf("confirming again: %d %s", status, body)
	}
	if _, page := consolePage(t, b, "/system/backup", nil); !strings.Contains(page, "admin confirmed it") {
		t.Errorf("the page does not say who confirmed: %s", page)
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := start(t, again)
	opened(t, c, 3)
	<-messages
}

// A restore that is not confirmed is so after the next start too, and what was
// held back never began need not end.
func TestRestoreIsHeldAfterARestart(t *testing.T) {
	t.Parallel()
	url, _, messages := chatRoom(t)
	cfg := withChat(t)
	a := start(t, cfg)
	if _, refusal := saveRule(t, a, url); refusal != "" {
		t.Fatal(refusal)
	}
	again := restored(t, cfg, savedBackup(t, a))
	for range 2 {
		b := start(t, again)
		opened(t, b, 1)
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(messages); n != 0 {
		t.Errorf("%d messages were sent before a confirmation", n)
	}
}

// What is no whole backup changes nothing.
func TestRestoreRefusesDamagedFiles(t *testing.T) {
	t.Parallel()
	cfg := withChat(t)
	a := start(t, cfg)
	file := savedBackup(t, a)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	restoring := newApp(t, cfg, Options{})
	if _, err := restoring.Restore(t.Context(), file); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is using the data folder") {
		t.Errorf("under a running server: %v", err)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	garbled := append([]byte(nil), whole...)
	copy(garbled[len(garbled)/2:], make([]byte, 9000))
	before, err := os.ReadFile(filepath.Join(cfg.DataDir, "outrigger.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": nil, "text": []byte("CREATE TABLE x"), "cut short": whole[:len(whole)-5000], "the half": whole[:len(whole)/2],
		"a page": whole[:4096], "garbled": garbled,
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := restoring.Restore(t.Context(), file); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "not a complete Outrigger backup") || strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := restoring.Restore(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(cfg.DataDir, "outrigger.db"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the database was changed: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(cfg.DataDir, "restore-*")); left != nil {
		t.Errorf("left lying: %v", left)
	}
}
