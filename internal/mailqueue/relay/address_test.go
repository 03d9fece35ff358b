package relay

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue/relay/smtptest"
	"outrigger/internal/playground/smarthost"
)

// What a client says in quotes, the smarthost hears in quotes.
func TestQuotedAddresses(t *testing.T) {
	w := newWorld(t, sqlite(t), setup{})
	for _, address := range []string{`"john doe"@example.com`, `"a@b"@example.com`, `"a\"b"@example.com`, `a@[IPv6:2001:db8::1]`, `"a b"@[192.0.2.1]`} {
		c := smtptest.Hello(t, w.addr)
		before := w.host.Count()
		c.Say("MAIL FROM:<" + address + ">\r\nRCPT TO:<" + address + ">\r\nDATA\r\n" + head + end)
		for _, want := range []string{"250", "250", "354", "250"} {
			c.Expect(want)
		}
		w.until("the message", func() bool { return w.host.Count() > before })
		list := w.host.Messages()
		if m := list[len(list)-1]; m.From != address || m.To[0] != address {
			t.Errorf("%s became %s and %s", address, m.From, m.To[0])
		}
	}
}

// A message in UTF-8 goes with SMTPUTF8 where it needs it, and only there.
func TestSMTPUTF8(t *testing.T) {
	for _, c := range []struct {
		name, say string
		offers    []string
		params    string // "" when it is in the error queue
	}{
		{"needed and offered", "MAIL FROM:<ü@example.com> SMTPUTF8\r\n" + rcpt + "DATA\r\n" + head + end, []string{"SMTPUTF8", "8BITMIME"}, "SMTPUTF8"},
		{"in the header", "MAIL FROM:<a@example.com> SMTPUTF8\r\n" + rcpt + "DATA\r\nSubject: ü\r\n\r\n.\r\n", []string{"SMTPUTF8", "8BITMIME"}, "BODY=8BITMIME SMTPUTF8"},
		{"needed, not offered", "MAIL FROM:<ü@example.com> SMTPUTF8\r\n" + rcpt + "DATA\r\n" + head + end, []string{"8BITMIME"}, ""},
		{"said, not needed", "MAIL FROM:<a@example.com> SMTPUTF8\r\n" + rcpt + "DATA\r\n" + head + "ü\r\n.\r\n", []string{"8BITMIME"}, "BODY=8BITMIME"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, sqlite(t), setup{host: smarthost.Options{Offers: c.offers}})
			conn := smtptest.Hello(t, w.addr)
			conn.Say(c.say)
			for _, want := range []string{"250", "250", "354", "250"} {
				conn.Expect(want)
			}
			if c.params == "" {
				w.settled(0, 1)
				return
			}
			w.settled(0, 0)
			if got := w.host.Messages()[0].Params; got != c.params {
				t.Errorf("it went with %q", got)
			}
		})
	}
}

func TestToken(t *testing.T) {
	for in, want := range map[string]string{"client.example": "client.example", "": "unknown", "[::1]": "[::1]", "a b": "a?b", "ü": "?", "x\";()": "x????"} {
		if got := token(in); got != want {
			t.Errorf("%q is written %s", in, got)
		}
	}
	if got := token(strings.Repeat("x", 5000)); len(got) != maxName {
		t.Errorf("it has %d bytes", len(got))
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	d := sqlite(t)
	leases := db.NewLeases(d, node, nil)
	q, err := New(d, Options{NodeID: node, Leases: leases, Metrics: registry})
	must(t, err)
	must(t, q.Start(t.Context()))
	w := &world{t: t, db: d, queue: q}
	w.add("b@example.com")
	found, err := registry.Gather()
	must(t, err)
	names := make(map[string]bool)
	for _, f := range found {
		names[f.GetName()] = true
		if f.GetName() == "outrigger_mail_queue_oldest_message_age_seconds" && f.Metric[0].Gauge.GetValue() <= 0 {
			t.Error("the oldest message has no age")
		}
	}
	for _, want := range []string{"outrigger_mail_queue_oldest_message_age_seconds", "outrigger_mail_queue_sent_total", "outrigger_mail_queue_failed_total", "outrigger_mail_queue_deferred_total"} {
		if !names[want] {
			t.Errorf("%s is missing", want)
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) != 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}
