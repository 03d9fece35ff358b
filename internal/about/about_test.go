package about

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The licence of everything that is built into the program is inside; go generate
// adds those of a new module.
func TestEveryModuleHasItsLicence(t *testing.T) {
	list, err := Modules()
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, m := range list {
		have = append(have, m.Path)
		if m.Licence == "" || m.Licence == "own licence" {
			t.Errorf("the licence of %s has no name", m.Path)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}`, "outrigger/cmd/outrigger").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := append(strings.Fields(string(out)), GoItself)
	slices.Sort(want)
	slices.Sort(have)
	want = slices.Compact(want)
	for _, path := range want {
		if !slices.Contains(have, path) {
			t.Errorf("the licence of %s is missing: run go generate ./internal/about", path)
		}
	}
	for _, path := range have {
		if !slices.Contains(want, path) {
			t.Errorf("%s is no longer inside: run go generate ./internal/about", path)
		}
	}
}

func TestLicenceTexts(t *testing.T) {
	list, err := Licences()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if len(l.Text) < 500 || len(l.Modules) == 0 {
			t.Errorf("the licence of %v is %q", l.Modules, l.Text)
		}
	}
}
