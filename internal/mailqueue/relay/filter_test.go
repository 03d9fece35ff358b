package relay

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
)

// One filter selects what is listed, resent, flushed and deleted, down to the
// recipients of a message: emptying the error queue leaves those that wait.
func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d, setup{host: smarthost.Options{React: play(map[string]string{"RCPT b": "550 5.1.1 Unknown @new.example", "RCPT w": "451 4.7.1 Later"})}})
		ctx := admin(t.Context())
		one := w.addFrom("Jira@example.com", "b1@OLD.example", "w1@old.example", "b2@new.example")
		two := w.addFrom("wiki@example.com", "b&_%3@old.example")
		three := w.addFrom("jira@other.example", "w2@new.example")
		w.settled(2, 2)
		list := func(what string, f mailqueue.MessageFilter, want ...int64) {
			t.Helper()
			same(t, what, w.ids(f), want)
		}
		list("sender", mailqueue.MessageFilter{Sender: "JIRA@"}, one, three)
		list("recipient", mailqueue.MessageFilter{Recipient: "@old.example"}, one, two)
		list("recipient with the signs of patterns and of JSON", mailqueue.MessageFilter{Recipient: "b&_%"}, two)
		list("recipient in the error queue", mailqueue.MessageFilter{Recipient: "w1", State: mailqueue.Failed})
		list("a word of an answer", mailqueue.MessageFilter{Recipient: "Unknown"})
		list("subject", mailqueue.MessageFilter{Subject: "FROM wiki"}, two)
		list("age", mailqueue.MessageFilter{Age: time.Hour})
		list("these", mailqueue.MessageFilter{IDs: []int64{three, one, 4711}}, one, three)
		list("these of a sender", mailqueue.MessageFilter{IDs: []int64{one, two}, Subject: "wiki"}, two)
		list("none", mailqueue.MessageFilter{IDs: []int64{}})
		list("everything together", mailqueue.MessageFilter{NodeID: node, State: mailqueue.Failed, Sender: "example.com", Recipient: "old", Subject: "from", Age: time.Nanosecond}, one, two)

		old := mailqueue.MessageFilter{State: mailqueue.Failed, Recipient: "@old.example"}
		if n, err := w.queue.DeleteAll(ctx, old); n != 2 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		w.sizes(2, 1)
		m, err := w.queue.Message(ctx, one)
		must(t, err)
		states := []mailqueue.State{m.Recipients[0].State, m.Recipients[1].State, m.Recipients[2].State}
		same(t, "recipients", states, []mailqueue.State{mailqueue.Deleted, mailqueue.Waiting, mailqueue.Failed})
		if len(m.Attempts) == 0 {
			t.Error("its attempts are gone")
		}

		w.host.SetFaultMode(smarthost.Accepts)
		if n, err := w.queue.ResendAll(ctx, mailqueue.MessageFilter{Recipient: "@old.example"}); n != 0 || err != nil {
			t.Errorf("resent %d, %v", n, err)
		}
		if n, err := w.queue.DeleteAll(ctx, mailqueue.MessageFilter{State: mailqueue.Failed}); n != 1 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		w.sizes(2, 0)
		if n, err := w.queue.Flush(ctx, mailqueue.MessageFilter{Sender: "other.example"}); n != 1 || err != nil {
			t.Errorf("flushed %d, %v", n, err)
		}
		if n, err := w.queue.DeleteAll(ctx, mailqueue.MessageFilter{}); n != 2 || err != nil {
			t.Errorf("deleted %d, %v", n, err)
		}
		w.settled(0, 0)
		w.empty()
		same(t, "audit", w.audited(), []string{
			`delete mail queue  {"messages":"2","recipient":"@old.example","state":"error"}`, `resend mail queue  {"messages":"0","recipient":"@old.example"}`,
			`delete mail queue  {"messages":"1","state":"error"}`, `flush mail queue  {"messages":"1","sender":"other.example"}`, `delete mail queue  {"messages":"2"}`,
		})
	})
}
