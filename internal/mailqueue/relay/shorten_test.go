package relay

import (
	"io"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"
	"time"
)

// Where the smarthost refuses a line for its length, a message that no signature
// covers goes again with short ones, in the same attempt; a signed one is in
// the error queue with the smarthost's words.
func TestLinesTooLongForTheSmarthost(t *testing.T) {
	long := strings.Repeat("caf\u00e9 =.", 1000) + "\r\n.\r\nend\r\n"
	for _, c := range []struct {
		name, head, says, body string
		signed                 bool
	}{
		{"500", "", "", long, false},
		{"Exim", "", "550 maximum allowed line length is 998 octets, got 12000", long, false},
		{"in its own row", "", "", strings.Repeat(long, 20), false},
		{"signed", "DKIM-Signature: v=1; b=x\r\n", "", long, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			atNight(t, setup{}, func(t *testing.T, n *night) {
				n.host.SetFaults(mailFaults{MaxLine: 998, LongLine: c.says})
				a := n.arrival(c.head+"Subject: x\r\n\r\n"+c.body, "b@example.com", "c@example.com")
				must(t, n.queue.accept(t.Context(), a))
				n.after(time.Second)
				if c.signed {
					n.sizes(0, 1)
					if m := n.message(a.id); m.LastError != "500 5.6.0 Line too long" {
						t.Errorf("the last error is %q", m.LastError)
					}
					return
				}
				n.sizes(0, 0)
				list := n.host.Messages()
				if len(list) != 1 || len(list[0].To) != 2 {
					t.Fatalf("arrived: %+v", list)
				}
				m, err := netmail.ReadMessage(strings.NewReader(string(list[0].Data)))
				must(t, err)
				got, err := io.ReadAll(quotedprintable.NewReader(m.Body))
				must(t, err)
				if string(got) != c.body || m.Header.Get("Subject") != "x" || m.Header.Get("Received") == "" {
					t.Errorf("it arrived as %q", got[:min(len(got), 200)])
				}
			})
		})
	}
}
