package jmx

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"pgregory.net/rapid"

	"outrigger/internal/config"
	"outrigger/internal/mailqueue"
)

func TestPages(t *testing.T) {
	both := mailqueue.Sizes{Size: 26, ErrorSize: 2}
	for _, test := range []struct {
		name            string
		size, errorSize string
		page            string
		want            mailqueue.Sizes
		failure         string
	}{
		{name: "a JMX exporter without rules", page: file(t, "jmx-exporter.txt"), want: both},
		{name: "the same in lower case", page: lowerNames(file(t, "jmx-exporter.txt")), want: both},
		{name: "the exporter inside the host application", page: file(t, "jira-exporter.txt"), want: both},
		{name: "sorted keys", page: `com_atlassian_jira_mail_Value{category01="queue",category02="numErrors",name="value",type="metrics",} 2.0
com_atlassian_jira_mail_Value{category01="queue",category02="numItems",name="value",type="metrics",} 26.0`, want: both},
		{name: "names of its own", page: "mail_queue_numItems 26\nmail_queue_numErrors 2 1795222960000\n", want: both},
		{name: "quoted names", page: `{"mail.queue.numItems"} 26` + "\n" + `{"mail.queue.numErrors",node="a"} 2`, want: both},
		{name: "the first of two spellings", page: "jira_mail_queue_gauge 9\njira_mail_queue_error_gauge 9\nmail_queue_numItems 26\nmail_queue_numErrors 2", want: both},
		{name: "configured", size: "mail.queue.numItems", errorSize: `queue{of="errors \"all\""}`,
			page: "mail_queue_numItems 26\nqueue{of=\"mail\"} 5\nqueue{of=\"errors \\\"all\\\"\",host=\"x\"} 2\n", want: both},
		{name: "no errors", page: "jira_mail_queue_gauge 26", failure: `has no size of the mail error queue: its page has no metric ` +
			`com_atlassian_jira_metrics_Value{category00="mail",category01="queue",category02="numErrors",name="value"} and its other spellings.`},
		{name: "none configured", size: "nothing", page: "jira_mail_queue_gauge 26", failure: "has no size of the mail queue: its page has no metric nothing."},
		{name: "several", page: "jira_mail_queue_gauge{node=\"a\"} 26\njira_mail_queue_gauge{node=\"b\"} 1\njira_mail_queue_error_gauge 0",
			failure: "has 2 series for the size of the mail queue, all called jira_mail_queue_gauge; configure one of them with its labels."},
		{name: "not a number", page: "jira_mail_queue_gauge NaN\njira_mail_queue_error_gauge 0", failure: "gave NaN as the size of the mail queue, which is no number of messages."},
		{name: "endless", page: "jira_mail_queue_gauge +Inf\njira_mail_queue_error_gauge 0", failure: "gave +Inf as the size of the mail queue, which is no number of messages."},
		{name: "below nothing", page: "jira_mail_queue_gauge 0\njira_mail_queue_error_gauge -1", failure: "gave -1 as the size of the mail error queue, which is no number of messages."},
		{name: "half a message", page: "jira_mail_queue_gauge 0.5\njira_mail_queue_error_gauge 0", failure: "gave 0.5 as the size of the mail queue, which is no number of messages."},
		{name: "no value", page: "jira_mail_queue_gauge\njira_mail_queue_error_gauge 0", failure: `answered with what is no page of metrics: text format parsing error in line 1: expected float as value, got "".`},
		{name: "an HTML page", page: "<html><body>{Sign in} jira_mail_queue_gauge</body></html>", failure: "answered with what is no page of metrics: text format parsing error in line 1: invalid metric name."},
		{name: "nothing", page: "", failure: "and its other spellings."},
		{name: "an endless line", page: strings.Repeat("x", maxLine+1), failure: "answered with a line that is too long for a page of metrics."},
		{name: "a flood", page: strings.Repeat("jira_mail_queue_gauge 1\n", maxKept/24+1), failure: "has more than 1 MiB of series for the mail queue."},
		{name: "nonsense beside it", page: "?\n\n  x\njira_mail_queue_gauge 26\r\njira_mail_queue_error_gauge 2", want: both},
		{name: "a page that is cut off", page: "jira_mail_queue_gauge 26\njira_mail_queue_error_gauge{a=\"b", failure: `label value "b" contains unescaped new-line.`},
		{name: "several numbers in one", page: "# TYPE jira_mail_queue_gauge summary\njira_mail_queue_gauge_sum 1\njira_mail_queue_gauge_count 1\njira_mail_queue_error_gauge 0",
			failure: "has no size of the mail queue: its page has no metric " + defaults[size][0] + " and its other spellings."},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &exporter{body: test.page}
			o := at(t, e)
			o.Size, o.ErrorSize = test.size, test.errorSize
			p, err := NewPrometheus(o)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, p, test.want, test.failure)
			if user, _, _ := e.seen.BasicAuth(); e.seen.Method != "GET" || user != "monitor" {
				t.Errorf("asked by %s as %q", e.seen.Method, user)
			}
		})
	}
}

// lowerNames writes a page as with lowercaseOutputName.
func lowerNames(page string) string {
	var out strings.Builder
	for line := range strings.Lines(page) {
		if i := strings.IndexByte(line, '{'); i > 0 && !strings.HasPrefix(line, "#") {
			line = strings.ToLower(line[:i]) + line[i:]
		}
		out.WriteString(line)
	}
	return out.String()
}

func TestPageTooLong(t *testing.T) {
	const most = 1 << 20
	line := "x 1\n" + strings.Repeat(" ", 60<<10) + "\n"
	p, err := NewPrometheus(at(t, &exporter{body: strings.Repeat(line, most/len(line)+1)}))
	if err != nil {
		t.Fatal(err)
	}
	p.most = most // reading all of maxPage takes a slow machine longer than an answer may
	judge(t, p, mailqueue.Sizes{}, "answered with more than 1 MiB.")
}

func TestSelectorsThatAreNone(t *testing.T) {
	for _, text := range []string{`{`, `a{`, `a{b}`, `a{b="c}`, `a{b=c}`, `a b`, `a{b="c"} d`, `a{} 5`, `a 5`, "a{} 1\nb{}", `{}`} {
		if _, err := NewPrometheus(Options{MailJMX: config.MailJMX{Size: text}}); err == nil || !strings.Contains(err.Error(), "is no metric") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What Prometheus' own library writes is read, whatever the labels hold.
func TestReadsPrometheus(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.String().Draw(r, "label")
		n, m := rapid.Int64Range(0, maxCount).Draw(r, "size"), rapid.Int64Range(0, maxCount).Draw(r, "errors")
		registry := prometheus.NewRegistry()
		for name, v := range map[string]int64{"size": n, "errors": m} {
			vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "queue", Help: value, ConstLabels: prometheus.Labels{"of": name}}, []string{"a", "b"})
			registry.MustRegister(vec)
			vec.WithLabelValues(strings.ToValidUTF8(value, "?"), "}").Set(float64(v))
		}
		p := &Prometheus{page: at(t, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})).endpoint("The exporter"), most: maxPage}
		for m, of := range []string{"size", "errors"} {
			p.wanted[m] = []series{{"queue", map[string]string{"of": of, "a": strings.ToValidUTF8(value, "?")}}}
		}
		sizes, err := p.Sizes(t.Context())
		if err != nil || sizes != (mailqueue.Sizes{Size: n, ErrorSize: m}) {
			r.Fatalf("%+v, %v", sizes, err)
		}
	})
}

// Whatever a setting holds, it is one series or refused.
func FuzzSeries(f *testing.F) {
	f.Add(`com_atlassian_jira_metrics_Value{category00="mail",name="va\"lue\n",}`)
	f.Add(`{"mail.queue.numItems",a="b"}`)
	f.Add("# HELP x y")
	f.Add("a 1\nb")
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := parseSeries(text)
		if ok && (s.name == "" || s.name != fold(s.name)) {
			t.Errorf("%+v", s)
		}
	})
}
