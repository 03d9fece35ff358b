package app

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/backup"
	"outrigger/internal/backup/api"
	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// putBack puts a SQLite database file in the place of another by hand.
func putBack(t *testing.T, cfg *config.Config, content []byte) {
	t.Helper()
	if err := os.WriteFile(databaseOf(cfg), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func databaseOf(cfg *config.Config) string { return filepath.Join(cfg.DataDir, "outrigger.db") }

// A SQLite file of before that was put back by hand is held back; a restart of
// the same file is not.
func TestAFilePutBackByHandIsHeld(t *testing.T) {
	t.Parallel()
	url, answer, messages := chatRoom(t)
	<-answer
	answer <- 503
	cfg := withChat(t)
	a := start(t, cfg)
	if _, refusal := saveRule(t, a, url); refusal != "" {
		t.Fatal(refusal)
	}
	for seq := range int64(3) {
		opened(t, a, seq+1)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(databaseOf(cfg))
	if err != nil {
		t.Fatal(err)
	}
	<-answer
	answer <- 200
	b := start(t, cfg) // the same file: it sends
	for range 3 {
		<-messages
	}
	if err := b.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	putBack(t, cfg, before)
	c := start(t, cfg)
	opened(t, c, 4)
	if _, page := consolePage(t, c, "/", nil); !strings.Contains(page, "Nothing is sent until you confirm it") {
		t.Error("the overview does not say that sending is held back")
	}
	if _, page := consolePage(t, c, "/system/backup/confirm", nil); !strings.Contains(page, "Waiting to be sent: 4 chat messages on 1 channel.") {
		t.Errorf("the question does not say what would go out: %s", page)
	}
	if n := len(messages); n != 0 {
		t.Errorf("%d messages were sent again", n)
	}
	if status, body := confirmRestore(t, c); status != http.StatusNoContent {
		t.Fatalf("confirming: %d %s", status, body)
	}
	for range 4 {
		<-messages
	}
	if status, body := get(t, c.URL()+"/rest/outrigger/1.0/audit?area=system", asAdmin); status != http.StatusOK ||
		!strings.Contains(body, `"hold"`) || !strings.Contains(body, `"confirm"`) {
		t.Errorf("the audit trail: %d %s", status, body)
	}
}

func confirmRestore(t *testing.T, a *App) (status int, body string) {
	t.Helper()
	return get(t, a.URL()+"/rest/outrigger/1.0/backup/confirm", asAdmin, func(r *http.Request) { r.Method = http.MethodPost })
}

func heldBack(t *testing.T, a *App) bool {
	t.Helper()
	status, body := get(t, a.URL()+"/rest/outrigger/1.0/backup/confirm", asAdmin)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	return strings.Contains(body, `"held":true`)
}

// startWith starts a process with options, which the test stops.
// A mark stops every node that sends: it must be started anew, and holds back. What
// one node is told, or the command line, holds for all; two who confirm at once are
// one who does, and one who is told that there is nothing to confirm.
func TestAMarkHoldsAllNodes(t *testing.T) {
	t.Parallel()
	room, _, messages := chatRoom(t)
	url, key := secret.New(dbtest.PostgresURL(t, migrations()...)), secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	configs := map[string]*config.Config{}
	nodes := map[string]*App{}
	for _, id := range []string{"one", "two", "three"} {
		cfg := withChat(t)
		cfg.NodeID, cfg.DatabaseURL, cfg.SecretKey, cfg.Cluster.Enabled = id, url, key, true
		configs[id], nodes[id] = cfg, start(t, cfg)
	}
	if _, refusal := saveRule(t, nodes["one"], room); refusal != "" {
		t.Fatal(refusal)
	}
	opened(t, nodes["one"], 1)
	<-messages
	command := func() *App {
		a := newApp(t, configs["one"], Options{})
		return a
	}
	for round := range 2 {
		if err := command().MarkRestored(t.Context()); err != nil {
			t.Fatal(err)
		}
		for id, a := range nodes {
			if err := <-a.Failed(); !errors.Is(err, ErrHeld) {
				t.Errorf("%s: %v", id, err)
			}
			if err := a.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for id, cfg := range configs {
			nodes[id] = start(t, cfg)
			if !heldBack(t, nodes[id]) {
				t.Errorf("%s is not held back", id)
			}
		}
		opened(t, nodes["two"], int64(2*round+2))
		opened(t, nodes["three"], int64(2*round+3))
		if n := len(messages); n != 0 {
			t.Errorf("%d messages were sent before the confirmation", n)
		}
		if round == 0 {
			answers := make(chan int, 2)
			for _, id := range []string{"one", "three"} {
				go func() {
					status, _ := confirmRestore(t, nodes[id])
					answers <- status
				}()
			}
			if sum := <-answers + <-answers; sum != http.StatusNoContent+http.StatusConflict {
				t.Errorf("two who confirm at once: the sum of the answers is %d", sum)
			}
		} else {
			one := command()
			service, err := one.StartBackup(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			state, err := api.StateOf(t.Context(), service)
			if err := errors.Join(err, service.Confirm(AsCommand(t.Context())), one.Stop(t.Context())); err != nil {
				t.Error(err)
			}
			asked := state.Text + " " + backup.Pending(state.Waiting).String()
			wants(t, "the question", asked, "marked as restored", "2 chat messages on 1 channel")
		}
		for range 2 {
			<-messages
		}
		for id, a := range nodes {
			<-a.backup.Confirmed() // at its next heartbeat
			select {
			case err := <-a.Failed():
				t.Errorf("%s: %v", id, err)
			default:
			}
		}
	}
}

// serve --hold holds back each time that it is asked to.
func TestAStartThatHolds(t *testing.T) {
	t.Parallel()
	cfg := withChat(t)
	for range 2 {
		a := startWith(t, cfg, Options{Hold: true})
		if !heldBack(t, a) {
			t.Error("it is not held back")
		}
		if _, page := consolePage(t, a, "/system/backup", nil); !strings.Contains(page, "The node n1 was started with --hold") {
			t.Errorf("the page does not say why: %s", page)
		}
		if status, body := confirmRestore(t, a); status != http.StatusNoContent {
			t.Fatalf("confirming: %d %s", status, body)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if a := startWith(t, cfg, Options{}); heldBack(t, a) {
		t.Error("a start without it is held back")
	}
}

// A start in a folder or database where there is nothing says so, until someone has
// signed in twice; with ExistingDatabase it is refused, and leaves nothing behind.
func TestANewDatabaseIsSaid(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"sqlite": "", "postgres": dbtest.PostgresURL(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := settings(t)
			cfg.DatabaseURL = secret.New(url)
			refused := newApp(t, cfg, Options{ExistingDatabase: true})
			if err := refused.Start(t.Context()); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "--existing-database expects") {
				t.Errorf("a start where there is nothing: %v", err)
			}
			if _, err := os.Stat(databaseOf(cfg)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a refused start left a database: %v", err)
			}
			var log strings.Builder
			a := startWith(t, cfg, Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
			for i, said := range []bool{true, false, false} {
				_, page := consolePage(t, a, "/", nil)
				if strings.Contains(page, "A new, empty database was begun in the ") != said {
					t.Errorf("sign-in %d: said %v", i+1, !said)
				}
			}
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), "there was no database") {
				t.Errorf("the log: %s", log.String())
			}
			log.Reset()
			b := startWith(t, cfg, Options{ExistingDatabase: true, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
			if err := b.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(log.String(), "there was no database") {
				t.Errorf("the log of the second start: %s", log.String())
			}
		})
	}
}
