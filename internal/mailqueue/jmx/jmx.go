// Package jmx reads the sizes of the host application's own mail queue, which
// it publishes through JMX as mail.queue.numItems and mail.queue.numErrors, a
// snapshot every minute ("Interpreting Jira-specific metrics for in-product
// diagnostics", confluence.atlassian.com). They are asked for where others have
// made them readable by HTTP: on the text page of a Prometheus JMX exporter or
// of an exporter inside the host application, or through Jolokia.
package jmx

import (
	"fmt"

	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/endpoint"
)

// Options say whom to ask, as whom, and for what.
type Options struct {
	Client egress.Doer
	config.MailJMX
}

func (o Options) endpoint(what string) endpoint.Endpoint {
	return endpoint.Endpoint{Client: o.Client, What: what, URL: o.URL, User: o.User, Password: o.Password}
}

// metric is one of the two figures.
type metric int

const (
	size metric = iota
	errorSize
	metrics // how many there are
)

func (m metric) String() string {
	return [metrics]string{"size of the mail queue", "size of the mail error queue"}[m]
}

// maxCount is the largest whole number up to which figures, which are floating
// point on their way, are exact.
const maxCount = 1 << 53

// countOf makes a number of messages of a figure.
func countOf(m metric, figure float64) (int64, error) {
	if !(figure >= 0 && figure <= maxCount) || figure != float64(int64(figure)) {
		return 0, fmt.Errorf("gave %v as the %s, which is no number of messages", figure, m)
	}
	return int64(figure), nil
}

func sizesOf(counts [metrics]int64) mailqueue.Sizes {
	return mailqueue.Sizes{Size: counts[size], ErrorSize: counts[errorSize]}
}
