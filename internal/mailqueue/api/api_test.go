package api

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/mailqueue/mailqueuetest"
	"outrigger/internal/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func lease(t *testing.T, d *db.DB, name string) *db.Lease {
	t.Helper()
	leases := db.NewLeases(d, "node_1", nil)
	must(t, leases.Start(t.Context()))
	t.Cleanup(leases.Stop)
	l, err := leases.Acquire(t.Context(), name)
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	return l
}

// server is the wing behind a router, on SQLite: the statements are tested on
// both databases elsewhere.
type server struct {
	*mailqueuetest.World
	t      *testing.T
	router *rest.Router
}

func newServer(t *testing.T) *server {
	d := dbtest.SQLite(t, mailqueuetest.Schema...)
	must(t, d.Migrate(t.Context(), mailqueuetest.Schema...))
	world := mailqueuetest.NewWorld(d)
	router, err := rest.NewRouter(rest.Options{Identity: identitytest.Everybody(), Log: slog.New(slog.DiscardHandler), BaseURL: "https://tools.example.com/outrigger"})
	must(t, err)
	(&API{Service: world.Service, Relay: world.Relay}).Register(router)
	return &server{world, t, router}
}

// do asks as a user ("" is anonymous, "token …" a token) and gives the answer.
func (s *server) do(method, path, user, accept, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "/outrigger"+path, strings.NewReader(body))
	if token, ok := strings.CutPrefix(user, "token "); ok {
		r.Header.Set("Authorization", "Bearer "+token)
	} else if user != "" {
		r.SetBasicAuth(user, "x")
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	return w
}

// golden compares an answer to the letter with a file of testdata, which has a
// line end more. Where UPDATE_GOLDEN is set it writes the file instead.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		must(t, os.WriteFile(file, []byte(got+"\n"), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s differs; run with UPDATE_GOLDEN=1 if that is meant:\n%s", file, diff)
	}
}
