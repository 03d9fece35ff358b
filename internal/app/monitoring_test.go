package app

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"outrigger/internal/config"
	"outrigger/internal/secret"
	"outrigger/monitoring"
)

// watchedExpressions are those of the alert rules and of the dashboard.
func watchedExpressions(t *testing.T) (list []string) {
	t.Helper()
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	if err := yaml.Unmarshal(monitoring.Rules, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			list = append(list, r.Expr)
		}
	}
	for _, row := range monitoring.Rows {
		for _, p := range row.Panels {
			for _, line := range p.Lines {
				list = append(list, line.Expr)
			}
		}
	}
	return list
}

var (
	figureName   = regexp.MustCompile(`\b(?:outrigger|process|go)_\w+`)
	selected     = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	condition    = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"`)
	grouped      = regexp.MustCompile(`by \(([^)]*)\)`)
	counted      = regexp.MustCompile(`(?:rate|increase)\((\w+)`)
	ofHistograms = regexp.MustCompile(`_(?:bucket|sum|count)$`)
)

// servedFigure is what /metrics has by a name.
type servedFigure struct {
	labels []string
	kind   dto.MetricType
	values map[string][]string // of its labels, as far as there are any now
}

// servedFigures is what a server describes, and what it answers now.
func servedFigures(t *testing.T, a *App) map[string]*servedFigure {
	t.Helper()
	served := map[string]*servedFigure{}
	all := make(chan *prometheus.Desc)
	go func() {
		a.registry.Describe(all)
		close(all)
	}()
	for desc := range all {
		if m := figureText.FindStringSubmatch(desc.String()); m != nil {
			served[m[1]] = &servedFigure{labels: strings.Split(m[3], ","), kind: dto.MetricType_GAUGE, values: map[string][]string{}}
			if strings.HasSuffix(m[1], "_total") {
				served[m[1]].kind = dto.MetricType_COUNTER
			}
		}
	}
	families, err := a.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		f := served[family.GetName()]
		if f == nil {
			f = &servedFigure{values: map[string][]string{}}
			served[family.GetName()] = f
		}
		f.kind = family.GetType()
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				f.labels, f.values[l.GetName()] = append(f.labels, l.GetName()), append(f.values[l.GetName()], l.GetValue())
			}
		}
	}
	return served
}

// Each figure that the alert rules and the dashboard name is on /metrics, with the
// labels and the states that they name, and is a counter where they count.
func TestRulesAndDashboardNameWhatIsThere(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Threads.Target = config.TargetJiraCloud
	cfg.Threads.JiraCloud.URL = "https://site.example.com"
	cfg.Threads.JiraCloud.User = "migration@example.com"
	cfg.Threads.JiraCloud.Token = secret.New("hidden")
	a := start(t, cfg)
	if status, _ := get(t, a.URL()+"/metrics", asAdmin); status != http.StatusOK {
		t.Fatal(status)
	}
	served := servedFigures(t, a)
	expressions := watchedExpressions(t)
	names := 0
	for _, expr := range expressions {
		wrong := func(format string, args ...any) { t.Errorf("%s: %s", expr, fmt.Sprintf(format, args...)) }
		find := func(name string) (f *servedFigure, histogram bool) {
			if f := served[name]; f != nil {
				return f, false
			}
			f = served[ofHistograms.ReplaceAllString(name, "")]
			return f, f != nil && f.kind == dto.MetricType_HISTOGRAM
		}
		labels := []string{"job", "instance", "le"}
		for _, name := range figureName.FindAllString(expr, -1) {
			names++
			f, histogram := find(name)
			if f == nil || f.kind == dto.MetricType_HISTOGRAM && !histogram {
				wrong("there is no %s", name)
				continue
			}
			labels = append(labels, f.labels...)
			if counts := slices.ContainsFunc(counted.FindAllStringSubmatch(expr, -1), func(m []string) bool { return m[1] == name }); counts != (histogram || f.kind == dto.MetricType_COUNTER) {
				wrong("%s is a %s", name, f.kind)
			}
		}
		for _, m := range selected.FindAllStringSubmatch(expr, -1) {
			f, _ := find(m[1])
			for _, c := range condition.FindAllStringSubmatch(m[2], -1) {
				if f == nil || c[1] == "job" || c[1] == "instance" {
					continue
				}
				if !slices.Contains(f.labels, c[1]) {
					wrong("%s has no label %s", m[1], c[1])
				}
				for state := range strings.SplitSeq(c[3], "|") {
					if c[1] == "state" && !slices.Contains(f.values["state"], state) {
						wrong("%s has no state %q but %q", m[1], state, f.values["state"])
					}
				}
			}
		}
		for _, m := range grouped.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(m[1], ", ") {
				if !slices.Contains(labels, label) {
					wrong("nothing has a label %s", label)
				}
			}
		}
	}
	if names < 60 {
		t.Errorf("only %d figures were looked for", names)
	}
}

// Prometheus' own tool has the rules go over what a live server answers: nothing
// fires over one that is well, and one that is drained is not ready.
func TestRulesOverALiveServer(t *testing.T) {
	t.Parallel()
	a := start(t, withPublicMetrics(settings(t)))
	firesOver(t, a)
	if status := do(t, "POST", a.URL()+"/rest/outrigger/1.0/nodes/n1/drain", ""); status != http.StatusNoContent {
		t.Fatal(status)
	}
	becomes(t, a, "outrigger_ready", 0)
	firesOver(t, a, `{alertname="OutriggerNotReady"}`)
}

// firesOver checks which alerts fire where the figures of a server stay as they are
// for an hour and a half.
func firesOver(t *testing.T, a *App, alerts ...string) {
	t.Helper()
	rules, err := filepath.Abs(filepath.Join("..", "..", "monitoring", "rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	type series struct{ Series, Values string }
	all := []series{{`up{job="outrigger",instance="a"}`, "1x90"}}
	for figure, value := range figures(t, a) {
		name, labels, _ := strings.Cut(strings.TrimSuffix(figure, "}"), "{")
		labels = strings.TrimPrefix(labels+`,job="outrigger",instance="a"`, ",")
		all = append(all, series{name + "{" + labels + "}", strconv.FormatFloat(value, 'f', -1, 64) + "x90"})
	}
	type sample struct {
		Labels string
		Value  int
	}
	var firing []sample
	for _, alert := range alerts {
		firing = append(firing, sample{alert, 1})
	}
	text, err := yaml.Marshal(map[string]any{
		"rule_files": []string{rules}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{"interval": "1m", "input_series": all, "promql_expr_test": []any{map[string]any{
			"expr": `count by (alertname) (ALERTS{alertstate="firing"})`, "eval_time": "80m", "exp_samples": firing,
		}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "live.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
