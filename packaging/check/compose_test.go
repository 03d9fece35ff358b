package check

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// The compose file is one that the specification's own reader takes, and says what
// every node needs.
func TestCompose(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../compose")); err != nil {
		t.Fatal(err)
	}
	o, err := cli.NewProjectOptions([]string{filepath.Join(dir, "compose.yaml")}, cli.WithEnv([]string{"OUTRIGGER_VERSION=v9", "SITE=tools.example.com"}), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Services) != 4 {
		t.Errorf("there are the services %v", p.ServiceNames())
	}
	for _, name := range []string{"node_1", "node_2"} {
		s := p.Services[name]
		if s.Image != "outrigger:v9" || !s.ReadOnly || len(s.CapDrop) != 1 || s.HealthCheck == nil || len(s.Volumes) != 1 {
			t.Errorf("%s is %+v", name, s)
		}
		if id := s.Environment["OUTRIGGER_NODE_ID"]; id == nil || *id != name {
			t.Errorf("%s calls itself %v", name, id)
		}
	}
	if _, err := p.WithServicesEnvironmentResolved(true); err != nil {
		t.Error(err)
	}
	for name, c := range p.Configs {
		if _, err := os.Stat(c.File); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
