package api

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads/store"
)

// A client that we did not write sends both files, loses its connection three
// times each, and finishes.
func TestTusJSClient(t *testing.T) {
	client := installTusJS(t)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		rnd := rand.NewChaCha8([32]byte{})
		for _, kind := range []string{"hierarchy", "mappings"} {
			content := make([]byte, 3<<20+12345)
			_, _ = rnd.Read(content) // never fails
			file := filepath.Join(t.TempDir(), kind)
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s.wire.set(1_000_000, 700_000, 400_000)
			node := exec.CommandContext(t.Context(), "node", "send.mjs", s.server.URL+"/base"+path, file, kind)
			node.Dir = client
			out, err := node.CombinedOutput()
			if err != nil || s.wire.due(math.MaxInt) {
				t.Fatalf("%v: %s, cuts left: %v", err, out, s.wire.cuts)
			}
			if s.content(kind) != string(content) {
				t.Error("the file that is stored is not the one that was sent")
			}
		}
	}, store.Migrations)
}

// installTusJS returns a folder with the client, from the package registry.
func installTusJS(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tusjs")); err != nil {
		t.Fatal(err)
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v: %s", err, out)
	}
	return dir
}
