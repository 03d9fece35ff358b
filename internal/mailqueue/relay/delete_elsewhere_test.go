package relay

import (
	"sync"
	"testing"

	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
)

// On another node an administrator deletes messages that this one has in memory,
// behind one that the smarthost is slow to take: they are not sent.
func TestMessagesDeletedOnAnotherNodeAreNotSent(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	first := sync.OnceFunc(func() { close(asked); <-answer })
	w := newWorld(t, postgres(t), setup{
		host: smarthost.Options{React: func(r smarthost.Request) *smarthost.Reaction {
			if r.Verb == "RCPT" {
				first()
			}
			return nil
		}},
		sender: func(o *SenderOptions) { o.Connections = 1 },
	})
	t.Cleanup(release)
	ctx := admin(t.Context())
	other := newQueue(t, w.db, w.leases, "node_2")
	w.until("the sender to have read its queue", func() bool { running, more, _ := w.inMemory(); return running && !more })
	w.add("b@example.com")
	<-asked
	deleted := []int64{w.add("c@example.com"), w.add("d@example.com")}
	w.until("two to be in memory", func() bool { _, _, ready := w.inMemory(); return ready == 2 })

	must(t, other.Delete(ctx, deleted[0]))
	if n, err := other.DeleteAll(ctx, mailqueue.MessageFilter{IDs: deleted[1:]}); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	w.until("them to be gone from memory", func() bool { _, _, ready := w.inMemory(); return ready == 0 })
	release()
	w.settled(0, 0)
	if n := w.host.Count(); n != 1 {
		t.Errorf("%d arrived, want the one that was not deleted", n)
	}
}

// inMemory reports whether messages are sent, whether the database has more of them,
// and how many are ready to go.
func (w *world) inMemory() (running, more bool, ready int) {
	w.queue.out.mu.Lock()
	defer w.queue.out.mu.Unlock()
	return w.queue.out.running, w.queue.out.more, len(w.queue.out.ready)
}
