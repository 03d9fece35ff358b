package jmx

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

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
)

// Prometheus reads the figures from a page in Prometheus' text format.
type Prometheus struct {
	page   endpoint.Endpoint
	wanted [metrics][]series
	names  [metrics]string // as errors say it
}

// NewPrometheus makes a source of an exporter's page.
func NewPrometheus(o Options) (*Prometheus, error) {
	p := &Prometheus{page: o.endpoint("The exporter")}
	for m, name := range [metrics]string{o.Size, o.ErrorSize} {
		p.names[m] = name
		texts := []string{name}
		if name == "" {
			texts, p.names[m] = defaults[m], defaults[m][0]+" and its other spellings"
		}
		for _, text := range texts {
			s, rest, ok := parseSeries(text)
			if !ok || rest != "" {
				return nil, fmt.Errorf(`%q is no metric; write it as name or name{label="value"}`, text)
			}
			p.wanted[m] = append(p.wanted[m], s)
		}
	}
	return p, nil
}

// Sizes reads the page as it is now.
func (p *Prometheus) Sizes(ctx context.Context) (sizes mailqueue.Sizes, err error) {
	// The version of the text format that every exporter speaks.
	ask := endpoint.Request{Accept: "text/plain;version=0.0.4, text/plain;q=0.9", Max: maxPage}
	err = p.page.Ask(ctx, ask, func(body io.Reader) error {
		sizes, err = p.scan(body)
		return err
	})
	if err != nil {
		return mailqueue.Sizes{}, err
	}
	return sizes, nil
}

// found is a series of the page that is one of the wanted.
type found struct {
	name  string
	value string
	times int
}

// scan looks for the wanted series in a page, line by line.
func (p *Prometheus) scan(page io.Reader) (mailqueue.Sizes, error) {
	var at [metrics][]found
	for m := range metrics {
		at[m] = make([]found, len(p.wanted[m]))
	}
	lines := bufio.NewScanner(page)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		s, value, ok := parseSeries(strings.TrimSpace(lines.Text()))
		if !ok || strings.HasPrefix(s.name, "#") {
			continue
		}
		for m := range metrics {
			for i := range p.wanted[m] {
				if p.wanted[m][i].matches(s) {
					f := &at[m][i]
					f.name, f.value, f.times = s.name, value, f.times+1
				}
			}
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return mailqueue.Sizes{}, errors.New("answered with a line that is too long for a page of metrics")
	} else if err != nil {
		return mailqueue.Sizes{}, err
	}
	var counts [metrics]int64
	for m := range metrics {
		n, err := p.choose(m, at[m])
		if err != nil {
			return mailqueue.Sizes{}, err
		}
		counts[m] = n
	}
	return sizesOf(counts), nil
}

// choose gives the number of the first wanted series that is there.
func (p *Prometheus) choose(m metric, at []found) (int64, error) {
	for _, f := range at {
		switch {
		case f.times == 0:
			continue
		case f.times > 1:
			return 0, fmt.Errorf("has %d series for the %s, all called %s; configure one of them with its labels", f.times, m, f.name)
		}
		// A time may stand after the value.
		text, _, _ := strings.Cut(f.value, " ")
		figure, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("gave %.40q as the %s, which is no number", text, m)
		}
		return countOf(m, figure)
	}
	return 0, fmt.Errorf("has no %s: its page has no metric %s", m, p.names[m])
}
