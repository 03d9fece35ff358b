package check

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// Every module of every binary of make dist is in its list of parts and in the
// licences. DIST is the folder.
func TestParts(t *testing.T) {
	dist := os.Getenv("DIST")
	if dist == "" {
		dist = "../../dist"
	}
	lists, err := filepath.Glob(filepath.Join(dist, "*.cdx.json"))
	if err != nil || len(lists) != 2 {
		t.Fatalf("lists in %s: %v, %v; run make dist first", dist, lists, err)
	}
	notices, err := os.ReadFile(filepath.Join(dist, "NOTICES.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		f, err := os.Open(list)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var bom cyclonedx.BOM
		if err := cyclonedx.NewBOMDecoder(f, cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		licensed := map[string]bool{}
		for _, c := range *bom.Components {
			licensed[c.Name+" "+c.Version] = c.Licenses != nil
		}
		info, err := buildinfo.ReadFile(strings.TrimSuffix(list, ".cdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Deps) < 20 || len(licensed) != len(info.Deps)+1 {
			t.Errorf("%s has %d parts, the binary %d modules", list, len(licensed), len(info.Deps))
		}
		for _, m := range info.Deps {
			if !licensed[m.Path+" "+m.Version] || !strings.Contains(string(notices), "\n"+m.Path+" "+m.Version+"\n") {
				t.Errorf("%s %s is missing in %s or its licence in NOTICES.txt", m.Path, m.Version, list)
			}
		}
	}
}
