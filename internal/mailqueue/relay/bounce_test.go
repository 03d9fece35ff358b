package relay

import (
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/playground/smarthost"
)

func withBounces(o *SenderOptions) { o.Bounces, o.GiveUpAfter = true, 24*time.Hour }

// parts reads a notification.
func parts(t *testing.T, m smarthost.Message) (head netmail.Header, kinds, bodies []string) {
	t.Helper()
	parsed, err := netmail.ReadMessage(strings.NewReader(string(m.Data)))
	must(t, err)
	kind, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	must(t, err)
	if kind != "multipart/report" || params["report-type"] != "delivery-status" {
		t.Fatalf("it is %s with %v", kind, params)
	}
	for r := multipart.NewReader(parsed.Body, params["boundary"]); ; {
		part, err := r.NextPart()
		if err == io.EOF {
			return parsed.Header, kinds, bodies
		}
		must(t, err)
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		body, err := io.ReadAll(part)
		must(t, err)
		kinds, bodies = append(kinds, kind), append(bodies, string(body))
	}
}

// With mail.bounces the sender of a message hears of each recipient that is
// given up, once, with the header and not the body.
func TestBounces(t *testing.T) {
	atNight(t, setup{sender: withBounces}, func(t *testing.T, n *night) {
		n.host.SetFaults(mailFaults{Recipients: map[string]string{
			"bad@example.com": "550 5.1.1 Unknown", "late@example.com": "451 4.7.1 Gr\u00fcylisted", "w\u00f6rse@example.com": "550 No",
		}})
		a := n.arrival("Subject: x\r\nX-Long: "+strings.Repeat("y", 2000)+"\r\nFrom: J\u00fcrgen <a@example.com>\r\n\r\nsecret body\r\n",
			"bad@example.com", "b@example.com", "late@example.com", "w\u00f6rse@example.com")
		must(t, n.queue.accept(t.Context(), a))
		n.after(time.Second)
		n.states(a.id, "e-we")
		list := n.host.Messages()
		if len(list) != 2 || list[1].From != "" || len(list[1].To) != 1 || list[1].To[0] != "a@example.com" {
			t.Fatalf("arrived: %+v", list)
		}
		head, kinds, bodies := parts(t, list[1])
		for name, want := range map[string]string{
			"From": "Mail Delivery System <MAILER-DAEMON@relay.example>", "To": "a@example.com", "Auto-Submitted": "auto-replied",
		} {
			if got := head.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if got := strings.Join(kinds, " "); got != "text/plain message/delivery-status text/rfc822-headers" {
			t.Errorf("its parts are %s", got)
		}
		want := "Reporting-MTA: dns; relay.example\r\nArrival-Date: Sat, 01 Jan 2000 00:00:00 +0000\r\n" +
			"\r\nFinal-Recipient: rfc822; bad@example.com\r\nAction: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 Unknown\r\n" +
			"\r\nFinal-Recipient: utf-8; w\\x{F6}rse@example.com\r\nAction: failed\r\nStatus: 5.0.0\r\nDiagnostic-Code: smtp; 550 No\r\n"
		if bodies[1] != want {
			t.Errorf("the status is %q", bodies[1])
		}
		if !strings.HasPrefix(bodies[2], "Subject: x\r\nX-Long: yyy") || !strings.HasSuffix(bodies[2], "From: J\u00fcrgen <a@example.com>\r\n") || strings.Contains(string(list[1].Data), "secret") {
			t.Errorf("the header is %q", bodies[2])
		}
		for line := range strings.SplitSeq(string(list[1].Data), "\r\n") {
			if len(line) > 998 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}

		n.after(24 * time.Hour) // the last one is given up for its time
		n.states(a.id, "e-ee")
		list = n.host.Messages()
		if len(list) != 3 {
			t.Fatalf("%d messages arrived", len(list))
		}
		_, _, bodies = parts(t, list[2])
		if want := "\r\n\r\nFinal-Recipient: rfc822; late@example.com\r\nAction: failed\r\nStatus: 5.4.7\r\nDiagnostic-Code: smtp; 451 4.7.1 Gr?ylisted\r\n"; !strings.HasSuffix(bodies[1], want) {
			t.Errorf("the status is %q", bodies[1])
		}
	})
}

// No notification without the setting, none to the null sender, and so none of
// a notification that cannot be delivered.
func TestNoBounces(t *testing.T) {
	for name, c := range map[string]struct {
		sender string
		o      func(*SenderOptions)
		sent   int64
		errors int64
	}{
		"not asked for":   {"a@example.com", nil, 0, 1},
		"the null sender": {"", withBounces, 0, 1},
		"one that fails":  {"bad@example.com", withBounces, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			atNight(t, setup{sender: c.o}, func(t *testing.T, n *night) {
				n.host.SetFaults(mailFaults{Recipients: map[string]string{"bad@example.com": "550 5.1.1 Unknown"}})
				n.addFrom(c.sender, "bad@example.com")
				n.after(time.Minute)
				n.sizes(0, c.errors)
				if n.host.Count() != c.sent {
					t.Errorf("%d messages arrived", n.host.Count())
				}
			})
		})
	}
}

// A notification is stored with what it is about, in one transaction, on both
// databases.
func TestABounceIsStoredWithTheFailure(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{sender: withBounces, host: smarthost.Options{React: play(map[string]string{"RCPT b": "550 5.1.1 Unknown"})}})
		w.add("b@example.com")
		w.settled(0, 1)
		w.until("the notification", func() bool { return w.host.Count() == 1 })
		if m := w.host.Messages()[0]; m.To[0] != "a@example.com" {
			t.Errorf("it went to %v", m.To)
		}
	})
}
