package app

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// revival is a server whose database was saved before access was ended.
type revival struct {
	t   *testing.T
	cfg *config.Config
	*App
	tokens   map[string]identity.Token // by name
	plain    map[string]secret.Value
	sessions []string
}

// ended are the users whose tokens are revoked after the backup, stay those whose are
// not.
var ended, stay = []string{"ann", "bob", "cem"}, []string{"dan", "eve"}

// newRevival has users with a token of every scope, and several sessions.
func newRevival(t *testing.T, cfg *config.Config) *revival {
	t.Helper()
	w := &revival{t: t, cfg: cfg, App: start(t, cfg), tokens: map[string]identity.Token{}, plain: map[string]secret.Value{}}
	for _, user := range append(ended, stay...) {
		if _, err := w.identity.CreateUser(t.Context(), user, secret.New("a good long password")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.identity.Grant(t.Context(), user, identity.SysAdmin, identity.Resource{}); err != nil {
			t.Fatal(err)
		}
		for _, scope := range identity.Scopes() {
			name := user + " " + string(scope)
			plain, token, err := w.identity.CreateToken(t.Context(), user, name, scope, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			w.plain[name], w.tokens[name] = plain, token
		}
		session, _, err := w.identity.SignIn(t.Context(), user, "a good long password", "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		w.sessions = append(w.sessions, session)
	}
	return w
}

// end revokes the tokens of some users after the backup.
func (w *revival) end() {
	w.t.Helper()
	for _, user := range ended {
		if _, err := w.identity.RevokeTokens(w.t.Context(), user); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.identity.EndSessions(w.t.Context(), user, 0); err != nil {
			w.t.Fatal(err)
		}
	}
}

// works reports whether a token is let in where its scope allows it.
func (w *revival) works(name string) bool {
	w.t.Helper()
	p, err := w.identity.Bearer(w.t.Context(), w.plain[name].Reveal())
	return err == nil && p.Token != 0
}

// noSession holds that no session of before the restore is left.
func (w *revival) noSession() {
	w.t.Helper()
	for _, session := range w.sessions {
		if p, err := w.identity.Session(w.t.Context(), session); err == nil {
			w.t.Errorf("a session of %s goes on after the restore", p.Name)
		}
	}
}

// again starts the server that was restored.
func (w *revival) again() *revival {
	w.t.Helper()
	next := *w
	next.App = start(w.t, w.cfg)
	return &next
}

func (w *revival) stop() {
	w.t.Helper()
	if err := w.Stop(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *revival) command() *App {
	w.t.Helper()
	a := newApp(w.t, w.cfg, Options{})
	return a
}

// A token that was revoked after the backup stays revoked, where the replaced
// database can be read; the others work on, and all sessions end. Twice.
func TestARestoreCarriesRevocationsOver(t *testing.T) {
	t.Parallel()
	w := newRevival(t, settings(t))
	file := savedBackup(t, w.App)
	w.end()
	for range 2 {
		w.stop()
		if _, err := w.command().Restore(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		w = w.again()
		w.noSession()
		for _, scope := range identity.Scopes() {
			for _, user := range ended {
				if w.works(user + " " + string(scope)) {
					t.Errorf("the revoked token %s %s works again", user, scope)
				}
			}
			for _, user := range stay {
				if !w.works(user + " " + string(scope)) {
					t.Errorf("the token %s %s does not work", user, scope)
				}
			}
		}
	}
}

// Where what was revoked cannot be known, tokens that can read or change anything
// rest, and those of machines work.
func TestTokensRestAfterARestore(t *testing.T) {
	t.Parallel()
	for name, restore := range map[string]func(*revival) *revival{
		"a database that cannot be read": func(w *revival) *revival {
			file := savedBackup(t, w.App)
			w.end()
			w.stop()
			content, err := os.ReadFile(databaseOf(w.cfg))
			if err == nil {
				copy(content[len(content)/4:], make([]byte, len(content)/2))
				err = os.WriteFile(databaseOf(w.cfg), content, 0o600)
			}
			if err == nil {
				_, err = w.command().Restore(w.t.Context(), file)
			}
			if err != nil {
				w.t.Fatal(err)
			}
			return w.again()
		},
		"no database": func(w *revival) *revival {
			file := savedBackup(t, w.App)
			w.end()
			w.stop()
			if err := os.Remove(databaseOf(w.cfg)); err != nil {
				w.t.Fatal(err)
			}
			if _, err := w.command().Restore(w.t.Context(), file); err != nil {
				w.t.Fatal(err)
			}
			return w.again()
		},
		"another database": func(w *revival) *revival {
			file := savedBackup(t, w.App)
			w.end()
			w.stop()
			if err := errors.Join(os.Remove(databaseOf(w.cfg)), os.Remove(filepath.Join(w.cfg.DataDir, "database-seen.json"))); err != nil {
				w.t.Fatal(err)
			}
			w = w.again()
			w.stop()
			if _, err := w.command().Restore(w.t.Context(), file); err != nil {
				w.t.Fatal(err)
			}
			return w.again()
		},
		"by hand": func(w *revival) *revival {
			w.stop()
			before, err := os.ReadFile(databaseOf(w.cfg))
			if err != nil {
				w.t.Fatal(err)
			}
			w = w.again()
			w.end()
			w.stop()
			putBack(w.t, w.cfg, before)
			return w.again()
		},
		"marked": func(w *revival) *revival {
			w.stop()
			if err := w.command().MarkRestored(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			return w.again()
		},
		"started with --hold": func(w *revival) *revival {
			w.stop()
			next := *w
			next.App = startWith(w.t, w.cfg, Options{Hold: true})
			return &next
		},
		"PostgreSQL, marked while it runs": func(w *revival) *revival {
			w.stop()
			cfg := *w.cfg
			cfg.Cluster.Enabled = true
			cfg.DatabaseURL, cfg.SecretKey = secret.New(dbtest.PostgresURL(w.t, migrations()...)), secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
			w = newRevival(w.t, &cfg)
			if err := w.command().MarkRestored(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
			if err := <-w.Failed(); !errors.Is(err, ErrHeld) {
				w.t.Error(err)
			}
			w.stop()
			return w.again()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := restore(newRevival(t, settings(t)))
			w.noSession()
			for token, is := range w.tokens {
				rests := is.Scope == identity.All || is.Scope == identity.Read || is.Scope == identity.Backup
				if w.works(token) == rests {
					t.Errorf("the token %q: rests %v", token, rests)
				}
			}
			if status, body := get(t, w.URL()+"/rest/outrigger/1.0/users", func(r *http.Request) {
				r.Header.Set("Authorization", "Bearer "+w.plain["dan all"].Reveal())
			}); status != http.StatusForbidden || !strings.Contains(body, "backup confirm --keep-token") {
				t.Errorf("the answer to a token that rests: %d %s", status, body)
			}
		})
	}
}
