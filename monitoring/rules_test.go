package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// promtool runs Prometheus' own tool, which scripts/install.sh installs.
func promtool(t *testing.T, args ...string) string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	return string(said)
}

// The rules are right, and each fires when rules_test.yml says.
func TestRules(t *testing.T) {
	promtool(t, "check", "rules", "rules.yml")
	promtool(t, "test", "rules", "rules_test.yml")
}

// Each rule has a test of when it fires, and says what is wrong and what to do.
func TestEveryRuleIsTested(t *testing.T) {
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert               string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(Rules, &rules); err != nil {
		t.Fatal(err)
	}
	type expected struct {
		Name   string `yaml:"alertname"`
		Alerts []any  `yaml:"exp_alerts"`
	}
	var tests struct {
		Tests []struct {
			Alerts []expected `yaml:"alert_rule_test"`
		}
	}
	text, err := os.ReadFile("rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	fires := map[string]bool{}
	for _, test := range tests.Tests {
		for _, e := range test.Alerts {
			fires[e.Name] = fires[e.Name] || len(e.Alerts) > 0
		}
	}
	for _, r := range rules.Groups[0].Rules {
		if severity := r.Labels["severity"]; severity != "critical" && severity != "warning" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s has the labels %v and the annotations %v", r.Alert, r.Labels, r.Annotations)
		}
		if !fires[r.Alert] {
			t.Errorf("no test has %s fire", r.Alert)
		}
	}
	if len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 15 {
		t.Errorf("%+v", rules)
	}
}

// Prometheus understands each expression of the dashboard.
func TestExpressionsOfTheDashboard(t *testing.T) {
	type rule struct {
		Record, Expr string
	}
	var recorded []rule
	for _, row := range Rows {
		for _, p := range row.Panels {
			for _, line := range p.Lines {
				recorded = append(recorded, rule{fmt.Sprintf("line:%d", len(recorded)), strings.ReplaceAll(line.Expr, "$__rate_interval", "5m")})
			}
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": recorded}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := promtool(t, "check", "rules", file); !strings.Contains(said, fmt.Sprintf("%d rules found", len(recorded))) {
		t.Errorf("of %d expressions: %s", len(recorded), said)
	}
}
