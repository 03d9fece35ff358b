package jmx

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/endpoint"
)

// Where exporters put the figures by default, by
// metric; the first that is there counts.
//
// A JMX exporter without rules names a metric by the domain, the value of the
// MBean's first key and the attribute; the other keys are labels
// (prometheus.github.io/jmx_exporter, Default format). Which key is first is up
// to the host application: type, or category00 when they are sorted. The names
// after them are those of rules that keep the metric's own name, and of the
// exporter inside the host application (AndreyVMarkelov/jira-prometheus-exporter).
var defaults = [metrics][]string{
	size: {
		`com_atlassian_jira_metrics_Value{category00="mail",category01="queue",category02="numItems",name="value"}`,
		`com_atlassian_jira_mail_Value{category01="queue",category02="numItems",name="value"}`,
		`com_atlassian_jira_mail_queue_numItems_Value`,
		`mail_queue_numItems_Value`,
		`mail_queue_numItems`,
		`jira_mail_queue_gauge`,
	},
	errorSize: {
		`com_atlassian_jira_metrics_Value{category00="mail",category01="queue",category02="numErrors",name="value"}`,
		`com_atlassian_jira_mail_Value{category01="queue",category02="numErrors",name="value"}`,
		`com_atlassian_jira_mail_queue_numErrors_Value`,
		`mail_queue_numErrors_Value`,
		`mail_queue_numErrors`,
		`jira_mail_queue_error_gauge`,
	},
}

const (
	// maxPage is a generous page: host applications export some 20,000 series.
	maxPage = 32 << 20
	// maxLine is far above any series with its labels; help texts are longer.
	maxLine = 1 << 20
	// maxKept is far above the few series that have a wanted name.
	maxKept = 1 << 20
)

// Prometheus reads the figures from a page in Prometheus' text format.
type Prometheus struct {
	page   endpoint.Endpoint
	wanted [metrics][]series
	names  [metrics]string // as errors say it
	most   int64           // bytes of a page: maxPage, or less in a test
}

// NewPrometheus makes a source of an exporter's page.
func NewPrometheus(o Options) (*Prometheus, error) {
	p := &Prometheus{page: o.endpoint("The exporter"), most: maxPage}
	for m, name := range [metrics]string{o.Size, o.ErrorSize} {
		p.names[m] = name
		texts := []string{name}
		if name == "" {
			texts, p.names[m] = defaults[m], defaults[m][0]+" and its other spellings"
		}
		for _, text := range texts {
			s, ok := parseSeries(text)
			if !ok {
				return nil, fmt.Errorf(`%q is no metric; write it as name or name{label="value"}`, text)
			}
			p.wanted[m] = append(p.wanted[m], s)
		}
	}
	return p, nil
}

// Sizes reads the page as it is now.
func (p *Prometheus) Sizes(ctx context.Context) (mailqueue.Sizes, error) {
	// The version of the text format that every exporter supports.
	return p.page.Ask(ctx, endpoint.Request{Accept: "text/plain;version=0.0.4, text/plain;q=0.9", Max: p.most}, p.scan)
}

// scan looks for the wanted series in a page.
func (p *Prometheus) scan(page io.Reader) (mailqueue.Sizes, error) {
	candidates, err := p.candidates(page)
	if err != nil {
		return mailqueue.Sizes{}, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(candidates)
	if err != nil {
		return mailqueue.Sizes{}, fmt.Errorf("answered with what is no page of metrics: %s", reason(err.Error()))
	}
	byName := make(map[string][]*dto.Metric)
	for name, family := range families {
		byName[fold(name)] = append(byName[fold(name)], family.GetMetric()...)
	}
	var counts [metrics]int64
	for m := range metrics {
		n, err := p.choose(m, byName)
		if err != nil {
			return mailqueue.Sizes{}, err
		}
		counts[m] = n
	}
	return sizesOf(counts), nil
}

// candidates are the lines of a page that have the name of a wanted metric. The
// parser needs seventy times the memory of short lines that it reads, and a page
// has thousands of others. Without the comments every metric is untyped.
func (p *Prometheus) candidates(page io.Reader) (*bytes.Buffer, error) {
	var kept bytes.Buffer
	lines := bufio.NewScanner(page)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		if line := lines.Text(); !strings.HasPrefix(line, "#") && p.mentions(fold(line)) {
			kept.WriteString(line)
			kept.WriteByte('\n')
		}
		if kept.Len() > maxKept {
			return nil, fmt.Errorf("has more than %d MiB of series for the mail queue", maxKept>>20)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, errors.New("answered with a line that is too long for a page of metrics")
	} else if err != nil {
		return nil, err
	}
	return &kept, nil
}

// mentions reports whether a folded line has the name of a wanted metric.
func (p *Prometheus) mentions(line string) bool {
	for _, list := range p.wanted {
		for _, one := range list {
			if strings.Contains(line, one.name) {
				return true
			}
		}
	}
	return false
}

// choose returns the number of the first wanted series that is there.
func (p *Prometheus) choose(m metric, byName map[string][]*dto.Metric) (int64, error) {
	for _, wanted := range p.wanted[m] {
		var figures []float64
		for _, one := range byName[wanted.name] {
			if wanted.matches(one) {
				figures = append(figures, one.GetUntyped().GetValue())
			}
		}
		switch len(figures) {
		case 0:
			continue
		case 1:
			return countOf(m, figures[0])
		}
		return 0, fmt.Errorf("has %d series for the %s, all called %s; configure one of them with its labels", len(figures), m, wanted.name)
	}
	return 0, fmt.Errorf("has no %s: its page has no metric %s", m, p.names[m])
}
