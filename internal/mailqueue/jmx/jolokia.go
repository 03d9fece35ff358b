package jmx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/endpoint"
)

const (
	// Where the host application publishes the figures (Zabbix's template "Jira
	// Data Center by JMX", tested with 9.12 and 9.14).
	sizeBean      = "com.atlassian.jira:type=metrics,category00=mail,category01=queue,category02=numItems,name=value"
	errorSizeBean = "com.atlassian.jira:type=metrics,category00=mail,category01=queue,category02=numErrors,name=value"
	valueOf       = "Value"

	// maxAnswer leaves room for the stack traces of two errors.
	maxAnswer = 1 << 20
	// maxReason is how much of an error is told; its first words say it.
	maxReason = 300
)

// read is a request of Jolokia's protocol (jolokia.org, "Jolokia protocol",
// Reading attributes). Several in one POST are a bulk request.
type read struct {
	Type      string `json:"type"`
	MBean     string `json:"mbean"`
	Attribute string `json:"attribute"`
}

// Jolokia reads the figures as MBean attributes.
type Jolokia struct {
	agent endpoint.Endpoint
	reads [metrics]read
	body  []byte
}

// NewJolokia makes a source of a Jolokia agent.
func NewJolokia(o Options) (*Jolokia, error) {
	j := &Jolokia{agent: o.endpoint("Jolokia")}
	for m, name := range [metrics]string{o.Size, o.ErrorSize} {
		bean, attribute := [metrics]string{sizeBean, errorSizeBean}[m], valueOf
		if name != "" {
			bean, attribute = name, valueOf
			// A bean's name may have slashes too; the last one counts.
			if i := strings.LastIndexByte(name, '/'); i >= 0 {
				bean, attribute = name[:i], name[i+1:]
			}
		}
		if !strings.Contains(bean, ":") || attribute == "" {
			return nil, fmt.Errorf("%q is no attribute of an MBean; write it as domain:key=value/Attribute", name)
		}
		j.reads[m] = read{"read", bean, attribute}
	}
	body, err := json.Marshal(j.reads)
	j.body = body
	return j, err
}

// Sizes asks for both figures in one request.
func (j *Jolokia) Sizes(ctx context.Context) (mailqueue.Sizes, error) {
	return j.agent.Ask(ctx, endpoint.Request{Accept: "application/json", Body: j.body, Max: maxAnswer}, j.decode)
}

// answer is what Jolokia says to one request; the HTTP status is 200 whatever
// it is.
type answer struct {
	Status int             `json:"status"`
	Value  json.RawMessage `json:"value"`
	Error  string          `json:"error"`
}

var errNotJolokia = errors.New("answered something that is not Jolokia's")

func (j *Jolokia) decode(body io.Reader) (mailqueue.Sizes, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return mailqueue.Sizes{}, err
	}
	var answers []answer
	if json.Unmarshal(raw, &answers) != nil {
		// A request that is refused as a whole has one answer.
		var one answer
		if json.Unmarshal(raw, &one) != nil || one.Status == 0 {
			return mailqueue.Sizes{}, errNotJolokia
		}
		return mailqueue.Sizes{}, fmt.Errorf("refused with status %d: %s", one.Status, reason(one.Error))
	}
	if len(answers) != int(metrics) {
		return mailqueue.Sizes{}, errNotJolokia
	}
	var counts [metrics]int64
	for m := range metrics {
		if counts[m], err = answers[m].count(m, j.reads[m]); err != nil {
			return mailqueue.Sizes{}, err
		}
	}
	return sizesOf(counts), nil
}

func (a answer) count(m metric, asked read) (int64, error) {
	if a.Status != 200 {
		return 0, fmt.Errorf("has no %s: it answered status %d for %s of %s: %s", m, a.Status, asked.Attribute, asked.MBean, reason(a.Error))
	}
	var figure *float64
	if err := json.Unmarshal(a.Value, &figure); err != nil || figure == nil {
		return 0, fmt.Errorf("gave no number for %s of %s", asked.Attribute, asked.MBean)
	}
	return countOf(m, *figure)
}

// reason is the beginning of an error, on one line.
func reason(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	if text == "" {
		return "no reason given"
	}
	return text
}
