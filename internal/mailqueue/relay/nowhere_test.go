package relay

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
)

// logged is a log that a test reads while it is written.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

// Without a smarthost mail waits. The log says so once, and the queue as long as it
// is so, for every node: also after its messages were handed over and it fills again.
func TestNoSmarthost(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var log logged
		var smarthost *smtpclient.Smarthost
		w := newWorld(t, d, setup{sender: func(o *SenderOptions) {
			smarthost, o.Smarthost, o.Log = o.Smarthost, nil, slog.New(slog.NewTextHandler(&log, nil))
		}})
		ctx := admin(t.Context())
		other := newQueue(t, d, w.leases, "node_2") // one that has a smarthost
		must(t, other.accept(ctx, w.arrival("Subject: x\r\n\r\n", "b@example.com")))
		nowhere := func() (list []string) {
			queues, err := w.queue.Queues(ctx)
			must(t, err)
			for _, q := range queues {
				list = append(list, fmt.Sprint(q.NodeID, " ", q.Size, " ", q.NoSmarthost))
			}
			return list
		}
		const warning = "set mail.smarthost"
		w.until("the queue to say so", func() bool { return nowhere()[0] == "node_1 0 true" })
		if log.count(warning) != 0 {
			t.Error("the log warns before any mail waits")
		}
		for i := range 10 {
			w.add(fmt.Sprintf("b%d@example.com", i))
		}
		w.until("the log to say so", func() bool { return log.count(warning) > 0 })
		same(t, "the queues", nowhere(), []string{"node_1 10 true", "node_2 1 false"})
		w.add("c@example.com")
		if n := log.count(warning); n != 1 {
			t.Errorf("the log warns %d times", n)
		}
		// Filled again at once, the queue may never have been empty when the sender looked.
		tries := 0
		w.until("the log to say it of the next mail", func() bool {
			switch tries++; tries % 8 {
			case 1:
				_, err := w.queue.DeleteAll(ctx, mailqueue.MessageFilter{NodeID: node})
				must(t, err)
				w.sizes(0, 0)
			case 4:
				w.add("d@example.com")
			}
			return tries%8 == 7 && log.count(warning) > 1
		})

		w.sender.Stop()
		_, err := w.queue.Handover(ctx, node, "node_2")
		must(t, err)
		again := NewSender(w.queue, SenderOptions{Connections: 8, Members: always})
		must(t, again.Start(ctx))
		w.until("the queue to say so again", func() bool { return nowhere()[0] == "node_1 0 true" })
		w.add("e@example.com")
		same(t, "the first queue", nowhere()[0], "node_1 1 true")
		again.Stop()
		sender := NewSender(w.queue, SenderOptions{Smarthost: smarthost, Connections: 8, Members: always})
		must(t, sender.Start(ctx))
		t.Cleanup(sender.Stop)
		w.until("all to be sent", func() bool { return nowhere()[0] == "node_1 0 false" })
	})
}
