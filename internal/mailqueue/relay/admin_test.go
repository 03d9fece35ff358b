package relay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtptest"
	"outrigger/internal/mailqueue/store"
	"outrigger/internal/playground/smarthost"
)

// admin is who administers in these tests.
func admin(ctx context.Context) context.Context {
	return identity.WithCaller(ctx, &identity.Caller{
		Origin:    identity.Origin{Address: "192.0.2.9", RequestID: "r1"},
		Principal: &identity.Principal{Name: "ann", Source: identity.Local},
	})
}

// audited are the entries of the audit trail since the last call: who did what
// to which, and how many.
func (w *world) audited() (list []string) {
	w.t.Helper()
	must(w.t, w.db.Write(w.t.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(w.t.Context(), `SELECT who, address, area, action, object, object_id, after_json FROM audit_entries ORDER BY id`)
		if err != nil {
			return err
		}
		list = nil
		for rows.Next() {
			var who, address, area, action, object, id, after string
			if err := rows.Scan(&who, &address, &area, &action, &object, &id, &after); err != nil {
				return err
			}
			if who != "ann" || address != "192.0.2.9" || area != "mail" {
				w.t.Errorf("%s at %s did something in %s", who, address, area)
			}
			list = append(list, strings.TrimSpace(strings.Join([]string{action, object, id, strings.TrimSuffix(after, "{}")}, " ")))
		}
		if err := rows.Err(); err != nil {
			return err
		}
		_, err = tx.Exec(w.t.Context(), `DELETE FROM audit_entries`)
		return err
	}))
	return list
}

func (w *world) ids(f mailqueue.MessageFilter) (ids []int64) {
	w.t.Helper()
	if f.Limit == 0 {
		f.Limit = 1001
	}
	list, err := w.queue.Messages(w.t.Context(), f)
	must(w.t, err)
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

func (w *world) settled(size, errors int64) {
	w.t.Helper()
	want := mailqueue.Sizes{Size: size, ErrorSize: errors}
	w.until(fmt.Sprintf("%+v", want), func() bool { got, err := w.queue.Sizes(w.t.Context()); return err == nil && got == want })
	w.sizes(size, errors)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAdministration(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		ctx := admin(t.Context())
		w.host.SetFaultMode(smarthost.Refuses)
		refused := []int64{w.add("b@example.com"), w.add("c@example.com", "d@example.com"), w.add("e@example.com")}
		w.settled(0, 3)
		w.host.SetFaultMode(smarthost.Defers)
		deferred := []int64{w.add("f@example.com"), w.add("g@example.com")}
		w.until("two attempts", func() bool {
			list, err := w.queue.Messages(ctx, mailqueue.MessageFilter{State: mailqueue.Waiting, Limit: 10})
			return err == nil && len(list) == 2 && list[0].SendCount == 1 && list[1].SendCount == 1
		})
		w.sizes(2, 3)

		same(t, "the error queue", w.ids(mailqueue.MessageFilter{State: mailqueue.Failed}), refused)
		same(t, "the queue", w.ids(mailqueue.MessageFilter{State: mailqueue.Waiting, NodeID: node}), deferred)
		same(t, "both", w.ids(mailqueue.MessageFilter{}), append(refused[:3:3], deferred...))
		same(t, "a page", w.ids(mailqueue.MessageFilter{After: refused[0], Limit: 2}), refused[1:])
		same(t, "another node's", w.ids(mailqueue.MessageFilter{NodeID: "node_2"}), []int64(nil))
		for _, f := range []mailqueue.MessageFilter{{}, {State: mailqueue.Failed}, {State: mailqueue.Waiting}, {NodeID: node}, {NodeID: "node_2"},
			{Subject: "TO C@"}, {Sender: "a@example", State: mailqueue.Failed}, {Recipient: "d@"}, {Recipient: "nobody"}, {Age: time.Hour}, {Age: time.Nanosecond}} {
			if n, known, err := w.queue.Total(ctx, f, 100); n != len(w.ids(f)) || !known || err != nil {
				t.Errorf("the total of %+v is %d, known %t, %v", f, n, known, err)
			}
		}
		if n, known, err := w.queue.Total(ctx, mailqueue.MessageFilter{}, 2); n != 2 || !known || err != nil {
			t.Errorf("counted to 2: %d, %t, %v", n, known, err)
		}

		m, err := w.queue.Message(ctx, refused[1])
		must(t, err)
		attempts := m.Attempts
		if m.Subject != "to c@example.com d@example.com" || m.Sender != "a@example.com" || m.NodeID != node || m.SendCount != 1 ||
			m.LastError != "550 5.1.1 There is nobody of that name here" || !m.DueAt.IsZero() || m.QueuedAt.IsZero() || m.Bytes == 0 {
			t.Errorf("the message is %+v", m)
		}
		if len(attempts) != 1 || attempts[0].Status != 550 || attempts[0].Answer != m.LastError || len(attempts[0].Recipients) != 2 || attempts[0].NodeID != node {
			t.Errorf("the attempts are %+v", attempts)
		}
		if _, err := w.queue.Message(ctx, 99); !fault.Is(err, fault.NotFound) {
			t.Errorf("a message that is not there: %v", err)
		}

		text, err := w.queue.Look(ctx, refused[0])
		if err != nil || !strings.HasPrefix(string(text), "Received: from x ") || !strings.HasSuffix(string(text), "Subject: to b@example.com\r\n\r\nHello\r\n") {
			t.Errorf("it reads %q, %v", text, err)
		}
		if _, err := w.queue.Look(ctx, 99); !fault.Is(err, fault.NotFound) {
			t.Errorf("looking at a message that is not there: %v", err)
		}
		same(t, "audit", w.audited(), []string{fmt.Sprintf("look message %d", refused[0])})

		w.host.SetFaultMode(smarthost.Accepts)
		if err := w.queue.Resend(ctx, deferred[0]); !fault.Is(err, fault.Conflict) {
			t.Errorf("resending what did not fail: %v", err)
		}
		if err := w.queue.Resend(ctx, 99); !fault.Is(err, fault.NotFound) {
			t.Errorf("resending what is not there: %v", err)
		}
		must(t, w.queue.Resend(ctx, refused[0]))
		w.settled(2, 2)
		must(t, w.queue.Delete(ctx, refused[2]))
		if err := w.queue.Delete(ctx, refused[2]); !fault.Is(err, fault.NotFound) {
			t.Errorf("deleting twice: %v", err)
		}
		w.sizes(2, 1)
		n, err := w.queue.ResendAll(ctx, mailqueue.MessageFilter{})
		if n != 1 || err != nil {
			t.Errorf("resent %d, %v", n, err)
		}
		w.settled(2, 0)
		n, err = w.queue.Flush(ctx, mailqueue.MessageFilter{NodeID: node})
		if n != 2 || err != nil {
			t.Errorf("flushed %d, %v", n, err)
		}
		w.settled(0, 0)
		w.empty()
		same(t, "audit", w.audited(), []string{
			fmt.Sprintf("resend message %d", refused[0]), fmt.Sprintf("delete message %d", refused[2]),
			`resend mail queue  {"messages":"1"}`, `flush mail queue node_1 {"messages":"2"}`,
		})
		if got := w.host.Count(); got != 4 {
			t.Errorf("%d messages arrived", got)
		}
	})
}

// An administrator's pause holds until they end it, whatever is flushed.
func TestPause(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		ctx := admin(t.Context())
		w.add("b@example.com")
		w.settled(0, 0)
		must(t, w.queue.SetPaused(ctx, node, true))
		w.add("c@example.com")
		if n, err := w.queue.Flush(ctx, mailqueue.MessageFilter{}); n != 1 || err != nil {
			t.Errorf("flushed %d, %v", n, err)
		}
		queues, err := w.queue.Queues(ctx)
		if err != nil || len(queues) != 1 || !queues[0].Paused || queues[0].Size != 1 || queues[0].Oldest.IsZero() || queues[0].NodeID != node {
			t.Errorf("the queues are %+v, %v", queues, err)
		}
		w.sizes(1, 0)
		if w.queue.InFlight() != 0 {
			t.Error("something is in flight")
		}
		if age, err := w.queue.OldestAge(ctx); err != nil || age <= 0 || age > time.Minute {
			t.Errorf("the oldest has waited %v, %v", age, err)
		}
		must(t, w.queue.SetPaused(ctx, "", false))
		w.settled(0, 0)
		if err := w.queue.SetPaused(ctx, "node_9", true); !fault.Is(err, fault.NotFound) {
			t.Errorf("pausing no queue: %v", err)
		}
		if age, err := w.queue.OldestAge(ctx); err != nil || age != 0 {
			t.Errorf("the oldest has waited %v, %v", age, err)
		}
		same(t, "audit", w.audited(), []string{"pause mail queue node_1", `flush mail queue  {"messages":"1"}`, "resume mail queue"})
	})
}

// Flushing ends a pause after failures, on the node that sends.
func TestFlushEndsAPauseAfterFailures(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		n.add("b@example.com")
		n.after(20 * time.Minute)
		n.net.setAway(false)
		if count, err := n.queue.Flush(t.Context(), mailqueue.MessageFilter{NodeID: node}); count != 1 || err != nil {
			t.Errorf("flushed %d, %v", count, err)
		}
		n.after(0)
		n.sizes(0, 0)
	})
}

// What is deleted before its turn is not sent.
func TestDeletedBeforeItsTurn(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		id, other := n.add("b@example.com"), n.add("c@example.com")
		n.after(time.Second)
		must(t, n.queue.Delete(t.Context(), id))
		n.sizes(1, 0)
		n.net.setAway(false)
		n.after(time.Minute)
		n.sizes(0, 0)
		if m := n.host.Messages(); len(m) != 1 || m[0].To[0] != "c@example.com" {
			t.Errorf("arrived: %+v, want that of %d", m, other)
		}
	})
}

// Retention deletes messages that failed long ago and no longer wait.
func TestDeleteErrors(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{host: smarthost.Options{React: play(map[string]string{"RCPT b": "550 5.1.1 Unknown", "RCPT c": "451 4.2.1 Later"})}})
		w.add("b@example.com")
		w.add("b@example.com", "c@example.com")
		w.add("b@example.com")
		w.settled(1, 3)
		forget := func(before time.Time, limit int) (n int64) {
			must(t, d.WriteBulk(t.Context(), func(tx *db.Tx) (err error) {
				n, err = store.DeleteErrors(w.queue)(t.Context(), tx, before, limit)
				return err
			}))
			return n
		}
		now, err := d.Now(t.Context())
		must(t, err)
		if n := forget(now.Add(-time.Hour), 10); n != 0 {
			t.Errorf("forgot %d that are new", n)
		}
		if n := forget(now.Add(time.Hour), 1); n != 1 {
			t.Errorf("forgot %d, want 1", n)
		}
		w.sizes(1, 2)
		if n := forget(now.Add(time.Hour), 10); n != 1 {
			t.Errorf("forgot %d, want 1", n)
		}
		w.sizes(1, 1)
	})
}

// A large message is in rows of its own, and comes out as it went in.
func TestALargeMessage(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{})
		var b strings.Builder
		b.WriteString(head)
		for i := range 60000 {
			fmt.Fprintf(&b, "%x\r\n", uint64(i+1)*0x9e3779b97f4a7c15)
		}
		w.host.SetFaultMode(smarthost.Refuses)
		c := smtptest.Hello(t, w.addr)
		c.Send("a@example.com", []string{"b@example.com"}, b.String())
		w.settled(0, 1)
		var parts int
		must(t, d.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM relay_parts`).Scan(&parts)
		}))
		if parts < 2 {
			t.Errorf("it is in %d parts", parts)
		}
		text, err := w.queue.Look(t.Context(), 1)
		must(t, err)
		if _, rest := cutReceived(t, string(text)); rest != b.String() {
			t.Error("it reads otherwise")
		}
		w.host.SetFaultMode(smarthost.Accepts)
		must(t, w.queue.Resend(t.Context(), 1))
		w.settled(0, 0)
		if _, rest := cutReceived(t, string(w.host.Messages()[0].Data)); rest != b.String() {
			t.Error("it arrived otherwise")
		}
		w.empty()
	})
}

// A stored message that is damaged fails alone.
func TestADamagedMessage(t *testing.T) {
	atNight(t, setup{}, func(t *testing.T, n *night) {
		n.net.setAway(true)
		bad, large, good := n.add("b@example.com"), n.arrival(strings.Repeat("0123456789\r\n", 10000), "c@example.com"), n.add("d@example.com")
		must(t, n.queue.accept(t.Context(), large))
		must(t, n.db.Write(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(t.Context(), `UPDATE relay_messages SET body = $2 WHERE id = $1`, bad, []byte("x")); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `UPDATE relay_parts SET data = $2 WHERE message_id = $1`, large.id, []byte("x"))
			return err
		}))
		n.sender.Stop()
		n.sender = NewSender(n.queue, n.sender.o)
		must(t, n.sender.Start(t.Context()))
		n.net.setAway(false)
		n.after(time.Minute)
		n.sizes(0, 2)
		for _, id := range []int64{bad, large.id} {
			if m := n.message(id); !strings.HasPrefix(m.LastError, "The stored message cannot be read: ") {
				t.Errorf("message %d: %q", id, m.LastError)
			}
		}
		if m := n.host.Messages(); len(m) != 1 || m[0].To[0] != "d@example.com" {
			t.Errorf("arrived: %+v, want %d", m, good)
		}
	})
}
