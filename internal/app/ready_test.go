package app

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// startLoosely is start for a process that cannot stop in order at the end.
func startLoosely(t *testing.T, cfg *config.Config) *App {
	t.Helper()
	a := newApp(t, cfg, Options{Version: "v0"})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Stop(context.Background()) })
	if status, body := get(t, a.URL()+"/readyz"); status != 200 {
		t.Fatalf("readyz after the start: %d %s", status, body)
	}
	return a
}

// waitReady waits until /readyz has a status and says some words.
func waitReady(t *testing.T, a *App, want int, words string) {
	t.Helper()
	var status int
	var body string
	defer func() {
		if t.Failed() {
			t.Logf("readyz is %d %s", status, body)
		}
	}()
	eventually(t, func() bool {
		status, body = get(t, a.URL()+"/readyz")
		return status == want && strings.Contains(body, words)
	})
}

func onPostgres(t *testing.T, databaseURL string) *config.Config {
	cfg := settings(t)
	cfg.DatabaseURL = secret.New(databaseURL)
	return cfg
}

// A data folder that is gone: not ready, and nothing is taken any more.
func TestNotReadyWithoutItsFolder(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	a := startLoosely(t, cfg)
	eventually(t, func() bool { return os.RemoveAll(cfg.DataDir) == nil }) // the server may make a file in it meanwhile
	waitReady(t, a, 503, "was changed under the running server")
	if status := do(t, "POST", a.URL()+"/rest/outrigger/1.0/users", `{"name":"ada","password":"staple horse battery"}`); status != 503 {
		t.Errorf("a user was made: %d", status)
	}
}

// Another release has claimed the schema while this one runs: it refuses
// everything with a sentence.
func TestNotReadyOnAnotherReleasesSchema(t *testing.T) {
	for name, cfg := range map[string]*config.Config{"sqlite": settings(t), "postgres": onPostgres(t, dbtest.PostgresURL(t, migrations()...))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startLoosely(t, cfg)
			err := a.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `INSERT INTO schema_meta (name, value) VALUES ('needs_release', $1)`, db.Release+1)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			const sentence = "This database was upgraded by a newer program"
			waitReady(t, a, 503, sentence)
			if status, body := get(t, a.URL()+"/rest/outrigger/1.0/users", asAdmin); status != 503 || !strings.Contains(body, sentence) {
				t.Errorf("a request was answered %d %s", status, body)
			}
		})
	}
}

// A database that takes no writes, or hangs: not ready until it does again.
func TestNotReadyWithoutWrites(t *testing.T) {
	for name, c := range map[string]struct{ begin, end, says string }{
		"hanging": {
			`BEGIN; LOCK TABLE cluster_nodes IN EXCLUSIVE MODE`, `ROLLBACK`, "The database has not accepted a write for",
		},
		"read-only": {
			`ALTER DATABASE %name SET default_transaction_read_only = on; %cut`,
			`ALTER DATABASE %name SET default_transaction_read_only = off; %cut`, "takes no writes now",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := dbtest.PostgresURL(t, migrations()...)
			a := startLoosely(t, onPostgres(t, at))
			conn, err := pgx.Connect(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			u, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.NewReplacer("%name", strings.TrimPrefix(u.Path, "/"),
				"%cut", `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			exec := func(script string) {
				t.Helper()
				// A session that is read-only itself could not end it.
				statements := append([]string{`SET default_transaction_read_only = off`}, strings.Split(script, ";")...)
				for _, statement := range statements { // each its own transaction: who connects again finds what was altered
					if _, err := conn.PgConn().Exec(t.Context(), words.Replace(statement)).ReadAll(); err != nil {
						t.Fatal(err)
					}
				}
			}
			exec(c.begin)
			waitReady(t, a, 503, c.says)
			exec(c.end)
			waitReady(t, a, 200, "ready")
		})
	}
}

// A database that is missing or empty beside a key is no first start, unless
// that is what is meant.
func TestAKeyWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	first := newApp(t, cfg, Options{})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	database, key := filepath.Join(cfg.DataDir, "outrigger.db"), filepath.Join(cfg.DataDir, "secret.key")
	before, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, lose := range map[string]func() error{
		"missing": func() error { return os.Remove(database) },
		"empty":   func() error { return os.WriteFile(database, nil, 0o600) },
	} {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		a := newApp(t, cfg, Options{})
		err = a.Start(t.Context())
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "serve --new-database") {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(database); err == nil && info.Size() > 0 {
			t.Errorf("%s: a database of %d bytes was made", name, info.Size())
		}
	}
	meant := newApp(t, cfg, Options{NewDatabase: true})
	if err := meant.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := meant.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(key); err != nil || string(after) != string(before) {
		t.Errorf("the key is another one: %v", err)
	}
}
