package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/notify/api"
)

// The command says of every pattern and name what the engines of the platforms
// say.
func TestTryBranchSaysWhatTheEnginesSay(t *testing.T) {
	dir := os.Getenv("OUTRIGGER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the vectors are not here (%v); set OUTRIGGER_SHARED to where they are", err)
	}
	for _, dialect := range []string{"java", "javascript"} {
		f, err := os.Open(filepath.Join(dir, "vectors", dialect+"-regex.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		n := 0
		for ; lines.Scan(); n++ {
			var v struct {
				Pattern string
				OK      bool
				Cases   [][2]any
			}
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			names := make([]string, len(v.Cases))
			for i, c := range v.Cases {
				names[i] = c[0].(string)
			}
			var out bytes.Buffer
			err := tryBranchCmd{Dialect: dialect, JSON: true, Pattern: v.Pattern, Branches: names}.Run(streams{out: &out, err: io.Discard})
			if (err == nil) != v.OK && !strings.Contains(v.Pattern, `\N{`) && !strings.Contains(v.Pattern, `\X`) {
				t.Errorf("%s %q: %v; the engine takes it: %v", dialect, v.Pattern, err, v.OK)
			}
			if err != nil {
				continue
			}
			var said []api.TriedBranch
			if err := json.Unmarshal(out.Bytes(), &said); err != nil || len(said) != len(names) {
				t.Fatalf("%s %q: %v, %s", dialect, v.Pattern, err, out.String())
			}
			for i, c := range v.Cases {
				if said[i].Match != c[1] {
					t.Errorf("%s %q on %q: %v", dialect, v.Pattern, names[i], said[i].Match)
				}
			}
		}
		if err := lines.Err(); err != nil || n == 0 {
			t.Fatalf("read %d vectors: %v", n, err)
		}
	}
}
