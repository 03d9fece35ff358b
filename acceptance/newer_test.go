package acceptance

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/loadtest"
)

// A database that a newer program upgraded ends the start with one sentence, and is
// left as it is.
func TestADatabaseOfANewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	storedDatabases(t, func(t *testing.T, s *storedDatabase) {
		p := s.process(t, binary)
		start(t, p)
		stopped(t, p)
		needs := func(release int) {
			driver, source := "pgx", s.url
			if s.url == "" {
				driver, source = "sqlite", filepath.Join(s.dir, "outrigger.db")
			}
			d, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			_, err = d.ExecContext(t.Context(), `INSERT INTO schema_meta (name, value) VALUES ('needs_release', $1)
				ON CONFLICT (name) DO UPDATE SET value = excluded.value`, release)
			if err != nil {
				t.Fatal(err)
			}
		}
		needs(1000)
		if err := p.Spawn(); err != nil {
			t.Fatal(err)
		}
		<-p.Exited()
		lines := strings.Split(strings.TrimSpace(p.Log()), "\n")
		last := lines[len(lines)-1]
		if p.ExitCode() != 1 || !strings.Contains(last, "needs schema release 1000") || !strings.HasSuffix(last, "Install the newer program on this node.") {
			t.Errorf("exit code %d, and the last line is: %s", p.ExitCode(), last)
		}
		needs(1)
		start(t, p)
		s.everythingIsThere(t, p)
	})
}

// stopped ends a node in order.
func stopped(t *testing.T, p *loadtest.Process) {
	t.Helper()
	if _, err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}
