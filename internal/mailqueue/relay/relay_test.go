package relay

import (
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/mailqueue/relay/smtptest"
)

func TestSchema(t *testing.T) { dbtest.SameSchema(t, Migrations) }

const letter = "From: a@example.com\r\nTo: b@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <1@example.com>\r\n\r\nHello\r\n.dot\r\n"

// What comes in goes out under one line of ours, and is gone.
func TestAMessagePasses(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		c := smtptest.Hello(t, w.addr)
		c.Send("a@example.com", []string{"b@example.com", "c@example.com"}, strings.ReplaceAll(letter, "\r\n.", "\r\n.."))
		w.until("the message", func() bool { return w.host.Count() == 1 })
		m := w.host.Messages()[0]
		received, rest := cutReceived(t, string(m.Data))
		if rest != letter {
			t.Errorf("the message arrived as %q", rest)
		}
		if !strings.HasPrefix(received, "Received: from client.example ([127.0.0.1])\r\n\tby relay.example (Outrigger) with ESMTP id ") {
			t.Errorf("our line is %q", received)
		}
		if m.From != "a@example.com" || strings.Join(m.To, " ") != "b@example.com c@example.com" {
			t.Errorf("it went from %s to %v", m.From, m.To)
		}
		w.until("an empty queue", func() bool { s, _ := w.queue.Sizes(t.Context()); return s.Size == 0 })
		w.sizes(0, 0)
		w.empty()
	})
}

// cutReceived takes our line off a message.
func cutReceived(t testing.TB, data string) (received, rest string) {
	t.Helper()
	lines := strings.SplitAfterN(data, "\r\n", 4)
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "Received: ") {
		t.Fatalf("there is no Received: line in %q", data[:min(len(data), 200)])
	}
	return strings.Join(lines[:3], ""), lines[3]
}

// empty looks for anything left of messages.
func (w *world) empty() {
	w.t.Helper()
	for _, table := range []string{"relay_messages", "relay_attempts", "relay_parts"} {
		var n int
		must(w.t, w.db.Read(w.t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(w.t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n)
		}))
		if n != 0 {
			w.t.Errorf("%s has %d rows left", table, n)
		}
	}
}

// While one message is tried alone, no sender is woken for the next: it could
// not take one, and would be woken again.
func TestOneAtATime(t *testing.T) {
	d := newDispatch()
	d.begin(8, 50)
	for id := range int64(3) {
		d.push(&job{id: id})
	}
	if n := d.wakeWorkers(true); n != 1 {
		t.Errorf("%d workers for the first message", n)
	}
	first := d.take(true, anything)
	if n := d.wakeWorkers(true); first == nil || n != 0 || d.take(true, anything) != nil {
		t.Errorf("%d workers besides the one that has %v", n, first)
	}
	d.finished(first, false)
	if n := d.wakeWorkers(true); n != 1 {
		t.Errorf("%d workers for the next", n)
	}
	if n := d.wakeWorkers(false); n != 2 {
		t.Errorf("%d workers for both that are left", n)
	}
}
