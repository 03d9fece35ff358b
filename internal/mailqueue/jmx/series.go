package jmx

import (
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// series is what settings ask for: a metric's name and labels that it must have.
// Names are folded: exporters differ in case, and in what they write for the
// characters that a name could not have.
type series struct {
	name   string
	labels map[string]string
}

// parseSeries reads name or name{label="value"}, as a page would have it. The
// name may have any characters but spaces, or be quoted inside the braces.
func parseSeries(text string) (s series, ok bool) {
	name, labels, braces := strings.Cut(strings.TrimSpace(text), "{")
	if strings.ContainsAny(name, " \t\r\n") || braces && !strings.HasSuffix(labels, "}") {
		return series{}, false
	}
	line := fold(name)
	if braces {
		line += "{" + labels
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(line + " 0\n"))
	if err != nil || len(families) != 1 {
		return series{}, false
	}
	for name, family := range families {
		if len(family.GetMetric()) != 1 {
			return series{}, false
		}
		s = series{fold(name), foldLabels(family.GetMetric()[0])}
	}
	return s, true
}

// matches reports whether a metric of a page has every label that is asked for.
func (s series) matches(m *dto.Metric) bool {
	has := foldLabels(m)
	for name, value := range s.labels {
		if got, ok := has[name]; !ok || got != value {
			return false
		}
	}
	return true
}

func foldLabels(m *dto.Metric) map[string]string {
	labels := make(map[string]string, len(m.GetLabel()))
	for _, l := range m.GetLabel() {
		labels[fold(l.GetName())] = l.GetValue()
	}
	return labels
}

// fold brings the spellings of a name together: mail.queue.numItems is
// mail_queue_numItems, and MAIL_QUEUE_NUMITEMS.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == ':':
			return r
		}
		return '_'
	}, name)
}
