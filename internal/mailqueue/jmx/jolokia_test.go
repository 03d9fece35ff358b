package jmx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/config"
	"outrigger/internal/mailqueue"
)

const (
	found26 = `{"request":{"mbean":"a:b=c","attribute":"Value","type":"read"},"value":26,"timestamp":1795222960,"status":200}`
	found2  = `{"request":{"mbean":"a:b=d","attribute":"Value","type":"read"},"value":2.0,"timestamp":1795222960,"status":200}`
	missing = `{"request":{"mbean":"a:b=d","type":"read"},"error_type":"javax.management.InstanceNotFoundException",
		"error":"javax.management.InstanceNotFoundException : com.atlassian.jira:type=metrics","stacktrace":"java.lang.x\n\tat y","status":404}`
)

func TestJolokia(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       mailqueue.Sizes
		failure    string
	}{
		{"both", "[" + found26 + "," + found2 + "]", mailqueue.Sizes{Size: 26, ErrorSize: 2}, ""},
		{"no such bean", "[" + found26 + "," + missing + "]", mailqueue.Sizes{}, "has no size of the mail error queue: it answered status 404 for Value of " +
			errorSizeBean + ": javax.management.InstanceNotFoundException : com.atlassian.jira:type=metrics."},
		{"refused", `{"status":403,"error":"Reading is\nforbidden."}`, mailqueue.Sizes{}, "refused with status 403: Reading is forbidden."},
		{"refused without a word", `{"status":500}`, mailqueue.Sizes{}, "refused with status 500: no reason given."},
		{"refused with many", `{"status":500,"error":"` + strings.Repeat("ä ", 5000) + `"}`, mailqueue.Sizes{}, "ä …."},
		{"no number", `[{"status":200,"value":{"Value":1}},` + found2 + "]", mailqueue.Sizes{}, "gave no number for Value of " + sizeBean + "."},
		{"null", `[{"status":200,"value":null},` + found2 + "]", mailqueue.Sizes{}, "gave no number for Value of " + sizeBean + "."},
		{"no value", `[{"status":200},` + found2 + "]", mailqueue.Sizes{}, "gave no number for Value of " + sizeBean + "."},
		{"below nothing", `[{"status":200,"value":-1},` + found2 + "]", mailqueue.Sizes{}, "gave -1 as the size of the mail queue, which is no number of messages."},
		{"one of two", "[" + found26 + "]", mailqueue.Sizes{}, "answered something that is not Jolokia's."},
		{"something else", "<html>", mailqueue.Sizes{}, "answered something that is not Jolokia's."},
		{"nothing", "", mailqueue.Sizes{}, "answered something that is not Jolokia's."},
		{"an object", `{"size":1}`, mailqueue.Sizes{}, "answered something that is not Jolokia's."},
		{"too long", "[" + strings.Repeat(" ", maxAnswer), mailqueue.Sizes{}, "answered with more than 1 MiB."},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &exporter{body: test.body}
			j, err := NewJolokia(at(t, e))
			if err != nil {
				t.Fatal(err)
			}
			judge(t, j, test.want, test.failure)
			want := `[{"type":"read","mbean":"` + sizeBean + `","attribute":"Value"},{"type":"read","mbean":"` + errorSizeBean + `","attribute":"Value"}]`
			if diff := cmp.Diff(want, e.sent); diff != "" || e.seen.Method != "POST" {
				t.Error(e.seen.Method, diff)
			}
		})
	}
}

func TestAttributes(t *testing.T) {
	j, err := NewJolokia(Options{MailJMX: config.MailJMX{Size: `a:path="/x/y"/Count`, ErrorSize: "a:b=c"}})
	if err != nil || j.reads[size] != (read{"read", `a:path="/x/y"`, "Count"}) || j.reads[errorSize] != (read{"read", "a:b=c", "Value"}) {
		t.Errorf("%+v, %v", j, err)
	}
	for _, text := range []string{"mail.queue.numItems", "a:b=c/", "/Value"} {
		if _, err := NewJolokia(Options{MailJMX: config.MailJMX{ErrorSize: text}}); err == nil {
			t.Errorf("%s is an attribute", text)
		}
	}
}

func FuzzJolokia(f *testing.F) {
	f.Add("[" + found26 + "," + missing + "]")
	f.Add(`{"status":403}`)
	j, err := NewJolokia(Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if sizes, err := j.decode(strings.NewReader(body)); sizes.Size < 0 || sizes.ErrorSize < 0 || err != nil && sizes != (mailqueue.Sizes{}) {
			t.Errorf("%+v, %v", sizes, err)
		}
	})
}
