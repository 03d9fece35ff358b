package egress

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/fault"
)

func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const goodWorkflow = "https://prod-12.westeurope.logic.azure.com:443/workflows/0a/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=abc"

func TestCheckURL(t *testing.T) {
	for _, c := range []struct {
		raw     string
		allowed string // notify.allowed_networks, by comma
		says    string // "" is taken
	}{
		{raw: goodWorkflow},
		{raw: "https://e1.07.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/ab/triggers/manual/paths/invoke?api-version=1&sig=x"},
		{raw: "https://hooks.slack.com/services/T0/B0/XX"},
		{raw: "https://chat.example.com/hooks/abc"},
		{raw: "HTTPS://Chat.Example.COM./hooks/abc"},
		{raw: "https://8.8.8.8/hooks"},
		{raw: "https://[2606:4700::1111]/hooks"},
		{raw: "https://my_chat.example/hooks"},

		{raw: "", says: "Give the webhook URL"},
		{raw: "https://chat.example.com/" + strings.Repeat("a", maxURL), says: "longer than 2,048 bytes"},
		{raw: "chat.example.com/hooks", says: "begin with https://"},
		{raw: "ftp://chat.example.com/hooks", says: "begin with https://"},
		{raw: "https:///hooks", says: "names no host"},
		{raw: "https:hooks", says: "names no host"},
		{raw: "https://chat.example.com:99999/hooks", says: "port"},
		{raw: "https://chat.example.com:0/hooks", says: "port"},
		{raw: "https://chat.example.com:x/hooks", says: "not a URL"},
		{raw: "https://host/%zz", says: "not a URL"},
		{raw: "https://me:pw@chat.example.com/hooks", says: "user or a password"},
		{raw: "https://bücher.example/hooks", says: "neither a host name"},
		{raw: "https://a..b/hooks", says: "neither a host name"},

		{raw: "http://chat.example.com/hooks", says: "begin with https://"},
		{raw: "http://8.8.8.8/hooks", says: "begin with https://"},
		{raw: "http://127.0.0.1/hooks", says: "loopback"},
		{raw: "https://127.0.0.1/hooks", says: "127.0.0.0/8 (loopback, RFC 1122)"},
		{raw: "https://localhost:8443/hooks", says: "loopback"},
		{raw: "https://chat.localhost/hooks", says: "loopback"},
		{raw: "https://10.0.0.1/hooks", says: "private network"},
		{raw: "https://169.254.169.254/latest", says: "instance metadata"},
		{raw: "https://[::1]/hooks", says: "loopback"},
		{raw: "https://[::ffff:10.0.0.1]/hooks", says: "private network"},
		{raw: "https://[64:ff9b::10.0.0.1]/hooks", says: "private network"},
		{raw: "https://[fe80::1%25eth0]/hooks", says: "link-local"},
		{raw: "https://127.1/hooks", says: "four decimal numbers"},
		{raw: "https://2130706433/hooks", says: "four decimal numbers"},
		{raw: "https://0x7f000001/hooks", says: "four decimal numbers"},
		{raw: "https://0177.0.0.1/hooks", says: "four decimal numbers"},
		{raw: "https://127.0.0.1./hooks", says: "four decimal numbers"},

		{raw: "https://hooks.slack.com:22/services/T0/B0/XX", says: "port 22"},
		{raw: "https://chat.example.com:25/hooks", says: "port 25"},
		{raw: "https://chat.example.com:444/hooks", says: "port 444"},
		{raw: "https://chat.example.com:80/hooks", says: "port 80"},
		{raw: "https://chat.example.com:1024/hooks"},
		{raw: "https://chat.example.com:8443/hooks"},
		{raw: "https://chat.example.com:443/hooks"},
		{raw: "http://chat.internal:80/hooks", allowed: "chat.internal"},
		{raw: "https://10.1.2.3:444/hooks", allowed: "10.0.0.0/8"},

		{raw: "http://127.0.0.1:9000/hooks", allowed: "127.0.0.0/8"},
		{raw: "http://localhost:9000/hooks", allowed: "127.0.0.0/8"},
		{raw: "https://10.1.2.3/hooks", allowed: "10.0.0.0/8"},
		{raw: "http://chat.internal/hooks", allowed: "10.0.0.0/8,chat.internal"},
		{raw: "http://8.8.8.8/hooks", allowed: "8.8.8.8"},
		{raw: "http://other.internal/hooks", allowed: "10.0.0.0/8,chat.internal", says: "begin with https://"},
		{raw: "https://11.0.0.1/hooks", allowed: "10.0.0.0/8"},
		{raw: "https://192.168.0.1/hooks", allowed: "10.0.0.0/8", says: "private network"},

		{raw: "https://10.1.2.3/hooks", allowed: "10.0.0.0/8:443"},
		{raw: "https://10.1.2.3:8443/hooks", allowed: "10.0.0.0/8:443", says: "unless notify.allowed_networks names it for port 8443."},
		{raw: "https://10.1.2.3:8443/hooks", allowed: "10.0.0.0/8:443,10.1.2.3:8443"},
		{raw: "http://10.1.2.3/hooks", allowed: "10.0.0.0/8:443", says: "for port 80"},
		{raw: "http://10.1.2.3/hooks", allowed: "10.1.2.3:80"},
		{raw: "https://10.1.2.3:444/hooks", allowed: "10.1.2.3:444"},
		{raw: "https://192.168.0.1/hooks", allowed: "10.0.0.0/8:443", says: "unless notify.allowed_networks names it."},
		{raw: "https://[fd12::1]:8443/hooks", allowed: "[fd00::/8]:8443"},
		{raw: "https://[fd12::1]/hooks", allowed: "[fd00::/8]:8443", says: "for port 443"},
		{raw: "https://[::ffff:10.0.0.1]:22/hooks", allowed: "10.0.0.0/8:443", says: "for port 22"},
		{raw: "http://localhost:9000/hooks", allowed: "localhost:9000"},
		{raw: "http://localhost:9001/hooks", allowed: "localhost:9000", says: "for port 9001"},
		{raw: "http://chat.internal:8065/hooks", allowed: "Chat.Internal.:8065"},
		{raw: "http://chat.internal:8066/hooks", allowed: "chat.internal:8065", says: "begin with https://"},
		{raw: "https://chat.internal:25/hooks", allowed: "chat.internal:8065", says: "port 25"},
		{raw: "http://8.8.8.8:8080/hooks", allowed: "8.8.8.8:8080"},
		{raw: "http://8.8.8.8:8081/hooks", allowed: "8.8.8.8:8080", says: "begin with https://"},

		{raw: "https://acme.webhook.office.com/webhookb2/x", says: "create a workflow"},
		{raw: "https://Acme.Webhook.Office.com./webhookb2/x", says: "create a workflow"},
		{raw: "https://outlook.office.com/webhook/x", says: "create a workflow"},
		{raw: "https://outlook.office365.com/webhook/x", says: "create a workflow"},
		{raw: "https://notwebhook.office.com/x"},
		{raw: strings.TrimSuffix(goodWorkflow, "&sig=abc"), says: "no signature"},
		{raw: strings.TrimSuffix(goodWorkflow, "abc"), says: "no signature"},
		{raw: "https://e1.environment.api.powerplatform.com/workflows/x/invoke", says: "no signature"},
		{raw: "https://hooks.slack.com/triggers/T0/1/x", says: "incoming webhook"},
		{raw: "https://hooks.slack.com/workflows/T0/A0/1/x", says: "incoming webhook"},
	} {
		o := Options{}
		if c.allowed != "" {
			o.Policy.Allowed = strings.Split(c.allowed, ",")
		}
		err := newClient(t, o).CheckURL(c.raw)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s with %q: %v", c.raw, c.allowed, err)
		case c.says != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s with %q: %v, want %q", c.raw, c.allowed, err, c.says)
		}
	}
}

// A name that leads where webhooks may not go may be saved, since it may lead
// elsewhere later, and is warned of.
func TestCautionURL(t *testing.T) {
	for _, c := range []struct{ resolves, raw, allowed, says string }{
		{"127.0.0.1", "https://chat.example.com/hooks?sig=secret", "", "chat.example.com is 127.0.0.1"},
		{"10.1.2.3", "https://chat.example.com:8443/hooks", "", "private network"},
		{"10.1.2.3", "https://chat.example.com/hooks", "10.0.0.0/8", ""},
		{"10.1.2.3", "https://chat.example.com/hooks", "chat.example.com", ""},
		{"10.1.2.3", "https://chat.example.com/hooks", "10.0.0.0/8:8443", "names it for port 443: its"},
		{"10.1.2.3", "https://chat.example.com:8443/hooks", "10.0.0.0/8:8443", ""},
		{"10.1.2.3", "https://chat.example.com:8443/hooks", "chat.example.com:443", "names it for port 8443: its"},
		{"127.0.0.1", "https://[::1]/hooks", "", ""}, // CheckURL says that
		{"8.8.8.8", "https://chat.example.com/hooks", "", ""},
		{"", "https://chat.example.com/hooks", "", ""},
		{"127.0.0.1", "::", "", ""},
	} {
		resolver := nameServer(func(int) []string {
			if c.resolves == "" {
				return nil
			}
			return []string{c.resolves}
		})
		client := newClient(t, Options{Policy: Policy{Allowed: strings.FieldsFunc(c.allowed, func(r rune) bool { return r == ',' })}, Resolver: resolver})
		got := client.CautionURL(t.Context(), c.raw)
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) || strings.Contains(got, "secret") {
			t.Errorf("%s that is %s: %q, want %q", c.raw, c.resolves, got, c.says)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	f.Add(goodWorkflow)
	f.Add("http://[::ffff:127.0.0.1%25x]:1/p?q#f")
	f.Add("https://0x7f.1/secretpath?secretquery")
	c := newClient(f, Options{})
	f.Fuzz(func(t *testing.T, raw string) {
		err := c.CheckURL(raw)
		u, parseErr := url.Parse(raw)
		if err != nil {
			if parseErr == nil && len(u.Path) > 10 && strings.Contains(err.Error(), u.Path) {
				t.Fatalf("the message shows the path: %v", err)
			}
			return
		}
		if parseErr != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || len(raw) > maxURL {
			t.Fatalf("%q was taken", raw)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
			if b, is := c.policy.refuses(addr, portOf(u)); is {
				t.Fatalf("%q of %s was taken", raw, b)
			}
		}
	})
}
