//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server whose database was removed while it ran ends as a failure, and its
// last line says why.
func TestStopAfterTheDatabaseWasRemoved(t *testing.T) {
	t.Setenv("OUTRIGGER_MAIL_LISTEN", "off")
	dir := filepath.Join(t.TempDir(), "data")
	p := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", dir)
	for p.lines.Scan() && !strings.Contains(p.lines.Text(), `"msg":"ready"`) {
	}
	if err := os.Remove(filepath.Join(dir, "outrigger.db")); err != nil {
		t.Fatal(err)
	}
	rest, code := p.end()
	lines := strings.Split(strings.TrimSpace(rest), "\n")
	last := lines[len(lines)-1]
	if code != exitFailed || !strings.HasPrefix(last, "outrigger: ") || !strings.Contains(last, "was changed under the running server: outrigger.db is missing") {
		t.Errorf("it ended with %d, and its last line is %s", code, last)
	}
}
