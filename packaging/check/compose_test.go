package check

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// project is the compose file as the specification's own reader takes it.
func project(t *testing.T) *types.Project {
	t.Helper()
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
	return p
}

// The compose file says what every node needs.
func TestCompose(t *testing.T) {
	p := project(t)
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

var (
	composeCommand = regexp.MustCompile(`(?m)^docker compose .*$`)
	composeService = regexp.MustCompile(`\bnode_\d+\b`)
)

// Each command of docker compose in the documentation names a service that is there,
// and the configuration that it has.
func TestComposeCommands(t *testing.T) {
	p := project(t)
	found := 0
	for _, page := range []string{"install.md", "upgrade.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range composeCommand.FindAllString(string(text), -1) {
			found++
			for _, name := range composeService.FindAllString(command, -1) {
				s, there := p.Services[name]
				if _, config, has := strings.Cut(command, " --config "); has && there && s.Configs[0].Target != config {
					there = false
				}
				if !there {
					t.Errorf("%s: %s", page, command)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d commands were found", found)
	}
}
