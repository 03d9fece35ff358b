// Package notifytest has what tests of the packages below notify share: golden
// files, and checks of decoded webhook bodies.
package notifytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
)

// Golden compares a JSON text with testdata/name.json of the calling test's
// package, where it stands indented; an error shows the difference. Where
// UPDATE_GOLDEN is set it writes the file instead.
func Golden(name string, got []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		return fmt.Errorf("%s is not JSON: %w: %s", name, err, got)
	}
	b.WriteByte('\n')
	return GoldenText(name+".json", b.String())
}

// GoldenText compares a text with testdata/file of the calling test's package,
// as Golden does.
func GoldenText(name, got string) error {
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(got), 0o644)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if d := cmp.Diff(string(want), got); d != "" {
		return fmt.Errorf("%s differs (-want +got); run with UPDATE_GOLDEN=1 if that is meant:\n%s", file, d)
	}
	return nil
}
