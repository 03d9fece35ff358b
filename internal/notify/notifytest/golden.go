// Package notifytest has what tests of the packages below notify share: an
// example event of every type, and golden files.
package notifytest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares a JSON text with testdata/name.json of the calling test's
// package, where it stands indented. Where UPDATE_GOLDEN is set it writes the file.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatalf("%s is not JSON: %v\n%s", name, err, got)
	}
	b.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("%s differs (-want +got); run with UPDATE_GOLDEN=1 if that is meant:\n%s", file, d)
	}
}
