package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/config"
	"outrigger/internal/secret"
)

// figureText is how the description of a figure writes itself.
var figureText = regexp.MustCompile(`^Desc\{fqName: "(outrigger_\w+)", help: "(.*?)", (?:unit: ".*?", )?constLabels: .*, variableLabels: \{(.*)\}\}$`)

// The page about metrics has every figure of a server that does everything.
// UPDATE_GOLDEN=1 writes it anew.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Threads.Target = config.TargetJiraCloud
	cfg.Threads.JiraCloud.URL = "https://site.example.com"
	cfg.Threads.JiraCloud.User = "migration@example.com"
	cfg.Threads.JiraCloud.Token = secret.New("hidden")
	a := start(t, cfg)
	all := make(chan *prometheus.Desc)
	go func() {
		a.registry.Describe(all)
		close(all)
	}()
	var items []string
	for desc := range all {
		if m := figureText.FindStringSubmatch(desc.String()); m != nil {
			labels := ""
			if m[3] != "" {
				labels = " (" + strings.ReplaceAll(m[3], ",", ", ") + ")"
			}
			items = append(items, fmt.Sprintf("- `%s`%s: %s\n", m[1], labels, strings.NewReplacer(`\"`, `"`, "*", `\*`).Replace(m[2])))
		}
	}
	slices.Sort(items)
	got := metricsHead + strings.Join(items, "")
	file := filepath.Join("..", "..", "docs", "metrics.md")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the server describes; run with UPDATE_GOLDEN=1 if that is meant", file)
	}
}

const metricsHead = "# Metrics\n\n" +
	"`/metrics` has the figures of one node, for Prometheus: [Monitoring and alerts](monitoring.md#prometheus). Names that end in `_total` are counters, which start at 0 with the process. " +
	"Besides these there are those of Go and of the process (`go_…`, `process_…`).\n\nLabels stand behind the names.\n\n"
